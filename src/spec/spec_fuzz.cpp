// Any bytes give either a job that survives its journal form, or issues that say where; as a training spec,
// as a tuning spec and as a constraint. The same as a simulation or a cluster, which survive as YAML.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "spec/parse.h"
#include "spec/parse_sim.h"
#include "spec/sample_catalogue.h"

namespace {

using namespace tandem;

void require(bool holds) {
  if (!holds) std::abort();
}

bool one_line(const std::string& text) {
  return !text.empty() && text.find('\n') == std::string::npos;
}

void check(const std::vector<spec::Issue>& issues) {
  for (const auto& issue : issues)
    require(issue.line >= 1 && issue.column >= 1 && !issue.message.empty() && one_line(spec::text(issue)));
}

template <class Result, class FromJson>
void check(const Result& result, FromJson from_json) {
  require(result.job.has_value() == result.issues.empty());
  check(result.issues);
  if (!result.job) return;
  const auto journalled = nlohmann::json::to_cbor(to_json(*result.job));
  require(from_json(nlohmann::json::from_cbor(journalled)) == *result.job);
  require(from_json(nlohmann::json::parse(to_json(*result.job).dump())) == *result.job);
}

// What varies is not fixed too, and conditions look back.
void check_space(const spec::TuneJob& job) {
  Values so_far;
  for (const auto& parameter : job.hyper.parameters) {
    require(!job.base.hyper.contains(parameter.name) && !so_far.contains(parameter.name));
    require(!parameter.when || so_far.contains(parameter.when->parameter));
    so_far.emplace(parameter.name, true);
  }
}

void check_simulation(std::string_view text, const Catalogue& catalogue) {
  const auto result = spec::parse_sim(text, "fuzz.yaml", catalogue);
  require(result.job.has_value() == result.issues.empty());
  check(result.issues);
  if (result.job) {
    spec::check(*result.job);
    require(spec::parse_sim(spec::to_yaml(*result.job), "again.yaml", catalogue).job == result.job);
  }
  const auto cluster = spec::parse_cluster(text, "fuzz.yaml");
  require(cluster.cluster.has_value() == cluster.issues.empty());
  check(cluster.issues);
}

void check_expression(std::string_view text) {
  const auto parsed = spec::Expression::parse(text);
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    require(one_line(*problem));
    return;
  }
  const auto& expression = std::get<spec::Expression>(parsed);
  require(expression.text() == text);
  Values values;
  for (const auto& name : expression.names()) {
    require(expression.holds(values));  // one is missing still
    values.emplace(name, static_cast<std::int64_t>(values.size()));
  }
  const bool holds = expression.holds(values);
  require(std::get<spec::Expression>(spec::Expression::parse(expression.text())).holds(values) == holds);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  static const Catalogue catalogue = spec::sample_catalogue();
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  check(spec::parse_train(text, "fuzz.yaml", catalogue), spec::train_job_from_json);
  const auto tuning = spec::parse_tune(text, "fuzz.yaml", catalogue);
  check(tuning, spec::tune_job_from_json);
  if (tuning.job) check_space(*tuning.job);
  check_simulation(text, catalogue);
  check_expression(text);
  return 0;
}
