// What past runs of a program say of runs to come: seconds, a metric and joules of any setting.
//
// Each quantity is a Predictor: a regression by name (stats/regression/regression.h), the one with the
// smallest error when it has to predict settings it has not seen (cross-validation that keeps runs of one
// setting together), and the law of those errors. Seconds and joules are learnt by epoch, so that any number
// of epochs can be asked for; the metric is a learning curve where runs told it by epoch
// (advise/learning_curve.h), if that predicts better. Only runs of the same program on the same machine type
// are used; where there are none on that type, those on others are, and the answer is wide and says so.
//
// Fitting takes a while (the caller keeps `written`); asking takes microseconds. Values; deterministic; pure.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "advise/forecast.h"
#include "advise/history.h"
#include "advise/learning_curve.h"
#include "advise/predictor.h"

namespace tandem::advise {

struct ModelsOptions {
  std::vector<std::string> regressions;  // names to choose from; empty: those of default_regressions()
  std::string metric = "accuracy";
  std::uint64_t seed = 1;
  int machine_cores = 0;  // of the machine asked about: beyond them threads take turns; 0: nobody knows
};

class Models {
 public:
  // UserError where there is no usable run of the program: it names the programs there are.
  static Models fit(std::span<const PastRun>, const std::string& program, const std::string& machine,
                    const ModelsOptions& = {});

  const std::string& program() const { return program_; }
  const std::string& machine() const { return machine_; }
  const std::string& metric() const { return metric_; }
  std::size_t runs() const { return runs_; }
  // What a person should know: runs left out and why, columns left out, few runs, another machine.
  const std::vector<std::string>& notes() const { return notes_; }

  // With this load on the machine all along, this job included.
  Forecast seconds(const Setting&, const Load&) const;
  std::optional<Forecast> metric_of(const Setting&) const;            // nullopt: no run told this metric
  std::optional<Forecast> joules(const Setting&, const Load&) const;  // nullopt: nobody measured
  const std::string& joules_source() const { return joules_source_; }

  // Where a setting lies outside of what was measured: "cores 16 (measured: 1 to 8)".
  std::vector<std::string> outside(const Setting&, const Load&) const;

  // The predictors themselves, for those who want to know what was tried, how good it is and why it was
  // chosen.
  const Predictor& epoch_seconds() const { return epoch_seconds_; }
  const std::optional<LearningCurve>& curve() const { return curve_; }

  nlohmann::json written() const;
  static Models read(const nlohmann::json&);  // UserError where it is not that

 private:
  void fit_seconds(std::span<const PastRun* const>, std::size_t measured, const ModelsOptions&);
  void fit_joules(std::span<const PastRun* const>, const ModelsOptions&);
  void fit_metric(std::span<const PastRun* const>, const ModelsOptions&);
  static std::vector<std::string> chosen_regressions(const ModelsOptions&);
  Forecast scaled(const Predictor& by_epoch, const Setting&, const Load&) const;

  std::string program_, machine_, metric_, joules_source_;
  std::size_t runs_ = 0;
  std::vector<std::string> notes_;
  double startup_ = 0;
  Predictor epoch_seconds_;
  std::optional<Predictor> epoch_joules_, result_;
  std::optional<LearningCurve> curve_;
  std::int64_t result_epochs_ = 0;  // after so many the regression knows better than the curve; 0: never
  bool elsewhere_ = false;  // learnt on other machines
  bool share_ = false;      // the metric lies between 0 and 1
};

}  // namespace tandem::advise
