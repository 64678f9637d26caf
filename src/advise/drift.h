// Are the predictions still good? Signed errors of finished runs, and when to train anew.
//
// An error is log(actual / predicted), in units of what the model was off when it was trained, cut at
// ±kLargest so that one odd run is not an alarm. Two CUSUMs add up what exceeds ±kAllowance; one that passes
// kThreshold is drift: runs have become slower (or faster) than predicted. In units of the standard deviation
// 0.5 and 6 mean: a false alarm in about 1 300 runs of normal errors, a shift by two deviations found in
// about four. Retraining is also due when the machine is not the one that was learnt, and when there are
// kGrowth times as many runs as were learnt from. A fold over finished runs: a value; pure.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/units.h"

namespace tandem::advise {

struct FinishedPrediction {
  std::string run;
  Seconds predicted, actual;
};

// What identifies a machine: "cpu" -> "Xeon 2.2 GHz", "cores" -> "16", "memory", "blas", …
using Fingerprint = std::map<std::string, std::string>;

struct DriftVerdict {
  bool retrain = false;
  std::vector<std::string> reasons;  // in sentences, with numbers
};

class Drift {
 public:
  static constexpr double kAllowance = 0.5, kThreshold = 6, kLargest = 4, kGrowth = 2;

  Drift() = default;
  // `usual_error`: deviation of log errors when the model was trained; `runs` and `machine`: from which and
  // where.
  Drift(double usual_error, std::size_t runs, Fingerprint machine);

  void add(const FinishedPrediction&);  // UserError: a time that is not positive
  DriftVerdict verdict(const Fingerprint& machine_now) const;

  std::size_t count() const { return count_; }
  double mean_error() const;           // signed: +0.1 means runs take 10 % longer than predicted
  double mean_absolute_error() const;  // of |actual / predicted - 1|

  nlohmann::json written() const;
  static Drift read(const nlohmann::json&);

 private:
  double usual_error_ = 0.1, slower_ = 0, faster_ = 0, sum_ = 0, absolute_ = 0;
  std::size_t trained_on_ = 0, count_ = 0, since_slower_ = 0, since_faster_ = 0;
  Fingerprint machine_;
};

}  // namespace tandem::advise
