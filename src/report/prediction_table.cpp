#include "report/prediction_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "advise/advice_text.h"
#include "base/text.h"
#include "report/text_table.h"

namespace tandem::report {

using namespace app;
namespace {

std::string optional_number(const std::optional<double>& value) {
  return value ? fmt::format("{:.4g}", *value) : "-";
}

std::vector<std::string> prediction_row(const PredictedRun& run) {
  return {run.job > 0 ? fmt::format("{}, job {}", run.run, run.job) : run.run,
          run.program,
          advise::text(run.setting),
          text(run.slo),
          text(run.seconds),
          run.outcome ? text(run.outcome->seconds) : "-",
          run.outcome ? fmt::format("{:+.1f} %", 100 * error_of(run)) : "-",
          optional_number(run.metric_value),
          run.outcome ? optional_number(run.outcome->metric) : "-",
          !run.outcome ? "-"
          : run.met()  ? "met"
                       : "missed"};
}

}  // namespace

std::string prediction_table(const std::vector<PredictedRun>& predictions) {
  std::vector<std::vector<std::string>> rows{
      {"RUN", "PROGRAM", "SETTING", "SLO", "PREDICTED", "TOOK", "ERROR", "METRIC", "REACHED", "SLO WAS"}};
  for (const auto& run : predictions) rows.push_back(prediction_row(run));
  std::string out = columns(rows);
  const auto summary = predictions_json(predictions)["summary"];
  if (const auto& error = summary["mean_absolute_error"]; !error.is_null())
    out += fmt::format("\n{:.0f} of {:.0f} met their SLO; times were off by {:.1f} % on average\n",
                       summary["met"].get<double>(), summary["finished"].get<double>(),
                       100 * error.get<double>());
  return out;
}

}  // namespace tandem::report
