#include "characterize/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "stats/numeric/distributions.h"

namespace tandem::characterize {
namespace {

constexpr double kLargestWhole = 9007199254740992;  // 2^53

void check_run(const Study& study, const Run& run, std::size_t number) {
  for (const auto& factor : study.factors)
    if (!run.at.contains(factor.name))
      throw UserError(
          fmt::format("run {} of the study does not say what '{}' was", number, printable(factor.name, 60)));
  for (const auto& [name, value] : run.at)
    if (const auto as = as_number(value); as && !std::isfinite(*as))
      throw UserError(fmt::format("'{}' of run {} is not finite", printable(name, 60), number));
  for (const auto& [name, value] : run.responses)
    if (!std::isfinite(value))
      throw UserError(fmt::format("'{}' of run {} is not finite: leave the response out of that run",
                                  printable(name, 60), number));
}

Value canonical(const Value& value) {
  const auto* real = std::get_if<double>(&value);
  const bool whole = real != nullptr && std::trunc(*real) == *real && std::abs(*real) <= kLargestWhole;
  return whole ? Value(static_cast<std::int64_t>(*real)) : value;
}

}  // namespace

void check(const Study& study) {
  if (study.runs.empty()) throw UserError("there are no runs to characterize");
  std::set<std::string> names;
  const auto add = [&](const std::string& name) {
    if (!names.insert(name).second)
      throw UserError(fmt::format("the study has two columns '{}'", printable(name, 60)));
  };
  for (const auto& factor : study.factors) add(factor.name);
  for (const auto& response : study.responses) add(response.name);
  for (std::size_t i = 0; i < study.runs.size(); ++i) check_run(study, study.runs[i], i + 1);
}

Mean mean_of(std::span<const double> values) {
  Mean out{0, values.size()};
  const auto n = static_cast<double>(values.size());
  for (const double value : values) out.value += value / n;
  if (values.size() < 2) return out;
  double squares = 0;
  for (const double value : values) squares += (value - out.value) * (value - out.value);
  out.reach = stats::t_quantile(0.975, n - 1) * std::sqrt(squares / (n - 1) / n);
  return out;
}

std::vector<Setting> settings(const Study& study, const std::string& response) {
  struct Sum {
    double sum = 0, count = 0;
  };
  std::map<Values, std::map<std::size_t, Sum>> found;
  for (const auto& run : study.runs) {
    const auto value = run.responses.find(response);
    if (value == run.responses.end()) continue;
    Values at;  // of the factors only
    for (const auto& factor : study.factors) at[factor.name] = canonical(run.at.at(factor.name));
    auto& sum = found[at][run.replication];
    sum.sum += value->second, ++sum.count;
  }
  std::vector<Setting> out;
  for (const auto& [at, replications] : found) {
    Setting setting{at, {}};
    for (const auto& [replication, sum] : replications) setting.observations.push_back(sum.sum / sum.count);
    out.push_back(std::move(setting));
  }
  return out;
}

bool before(const Value& a, const Value& b) {
  const auto left = as_number(a), right = as_number(b);
  return left && right ? *left < *right : a < b;
}

bool same(const Value& a, const Value& b) {
  return a == b || (as_number(a) && as_number(b) && *as_number(a) == *as_number(b));
}

const Response& response_named(const Study& study, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& response : study.responses) {
    if (response.name == name) return response;
    names.push_back(response.name);
  }
  throw UserError(fmt::format("the study has no response '{}'{}; there are: {}", printable(name, 60),
                              did_you_mean(name, names), join(names)));
}

}  // namespace tandem::characterize
