#include "characterize/analysis.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace tandem::characterize {
namespace {

struct Rows {
  std::vector<double> response;
  std::vector<stats::Variable> levels, numbers;  // the same columns, as sets of levels and as numbers
};

Rows rows_of(const Study& study, const std::string& response) {
  const auto all = settings(study, response);
  if (all.empty())
    throw UserError(fmt::format("no run of the study has the response '{}'", printable(response, 60)));
  Rows out;
  for (const auto& setting : all)
    out.response.insert(out.response.end(), setting.observations.begin(), setting.observations.end());
  for (const auto& factor : study.factors) {
    std::vector<double> numbers;
    std::vector<std::string> words;
    for (const auto& setting : all)
      for (std::size_t i = 0; i < setting.observations.size(); ++i) {
        words.push_back(text(setting.at.at(factor.name)));
        if (const auto number = as_number(setting.at.at(factor.name))) numbers.push_back(*number);
      }
    const bool is_number = numbers.size() == words.size();
    const auto as_levels =
        is_number ? stats::factor(factor.name, numbers) : stats::factor(factor.name, words);
    const auto as_numbers = is_number ? stats::numeric(factor.name, numbers) : as_levels;
    out.numbers.push_back(as_numbers);
    out.levels.push_back(as_levels.levels.size() > kMostLevels ? as_numbers : as_levels);
  }
  return out;
}

// The highest order up to the one asked for that leaves degrees of freedom.
stats::AnovaTable table_of(const Rows& rows, stats::AnovaOptions options, std::size_t& order) {
  const std::size_t asked = options.order =
      std::min(options.order, std::max<std::size_t>(1, rows.levels.size()));
  auto table = stats::anova(rows.levels, rows.response, options);
  while (table.residual_df == 0 && options.order > 1) {
    --options.order;
    table = stats::anova(rows.levels, rows.response, options);
  }
  order = options.order;
  if (order < asked)
    table.notes.push_back(
        fmt::format("interactions of order {} would leave nothing to judge by: order {} instead; "
                    "more replications allow them",
                    asked, order));
  return table;
}

}  // namespace

Analysis analyse(const Study& study, const std::string& response, const stats::AnovaOptions& options) {
  check(study);
  response_named(study, response);
  const auto rows = rows_of(study, response);
  Analysis out{.response = response, .observations = rows.response.size()};
  out.table = table_of(rows, options, out.order);
  out.model = stats::fit_linear(rows.numbers, rows.response, {.order = out.order});
  return out;
}

}  // namespace tandem::characterize
