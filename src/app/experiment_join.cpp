#include "app/experiment_join.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace tandem::app {
using nlohmann::json;
namespace {

namespace study = characterize;

// What the chapter compares (time for 1000 records, records inferred a second), then the others.
const std::vector<std::string> kCompared{"seconds_per_thousand", "inference_per_second", "train_seconds",
                                         "joules", "accuracy"};

void check_different(const std::vector<Workload>& all) {
  std::set<std::string> runs;
  std::set<std::pair<std::string, std::string>> kinds;
  for (const auto& one : all) {
    kinds.insert({one.method, one.dataset});
    if (!runs.insert(one.run).second) throw UserError(fmt::format("run {} is joined twice", one.run));
  }
  if (kinds.size() < 2)
    throw UserError(
        "joining needs experiments on at least two workloads (method and dataset); for one of them: --from");
}

// The rows of all workloads; factors differ from one to the next and play no part here.
study::Study pooled(const std::vector<Workload>& all) {
  study::Study out;
  std::set<std::string> seen;
  for (const auto& one : all) {
    for (const auto& response : one.found.study.responses)
      if (seen.insert(response.name).second) out.responses.push_back(response);
    for (auto run : one.found.study.runs) {
      run.method = one.method, run.dataset = one.dataset;
      out.runs.push_back(std::move(run));
    }
  }
  return out;
}

std::size_t workloads_with(const std::vector<Workload>& all, const std::string& response) {
  std::set<std::pair<std::string, std::string>> out;
  for (const auto& one : all)
    for (const auto& run : one.found.study.runs)
      if (run.responses.contains(response)) out.insert({one.method, one.dataset});
  return out.size();
}

}  // namespace

JoinOptions parse_join(const std::string& written) {
  const auto equals = written.find('=');
  JoinOptions out{written.substr(0, equals)};
  if (equals != std::string::npos) {
    const auto slash = written.find('/', equals);
    if (slash != std::string::npos) {
      out.method = written.substr(equals + 1, slash - equals - 1);
      out.dataset = written.substr(slash + 1);
    }
    if (out.method.empty() || out.dataset.empty())
      throw UserError(
          fmt::format("--join takes RUN or RUN=METHOD/DATASET, not '{}'", printable(written, 100)));
  }
  if (out.run.empty()) throw UserError("--join takes RUN or RUN=METHOD/DATASET, and a run is missing");
  return out;
}

Workload workload_of(const store::RunInfo& run, const View& view, const JoinOptions& joined) {
  if (view.jobs.empty() || !view.jobs.front().as<spec::Experiment>())
    throw UserError(fmt::format("run {} is of kind {}, and --join takes experiments", run.id, run.kind));
  const auto& program = view.jobs.front().base().program;
  Workload out{run.id, joined.method, joined.dataset, {}};
  if (out.method.empty()) {
    if (!program.built_in())
      throw UserError(fmt::format(
          "run {} is of a program of yours: say what it is, as in --join {}=METHOD/DATASET", run.id, run.id));
    out.method = program.model, out.dataset = program.dataset;
  }
  out.found = findings_of(view, view.jobs.front().id, {});
  if (out.found.study.runs.empty())
    throw UserError(
        fmt::format("no run of experiment {} has come to its end: go on with it (tandem resume {}) "
                    "or leave it out",
                    run.id, run.id));
  return out;
}

Joined join_workloads(std::vector<Workload> workloads, const std::vector<std::string>& responses) {
  check_different(workloads);
  Joined out{std::move(workloads), {}, {}};
  const auto all = pooled(out.workloads);
  for (const auto& response : responses.empty() ? kCompared : responses) {
    const auto with = workloads_with(out.workloads, response);
    if (with == 0) {
      if (!responses.empty()) study::response_named(all, response);  // throws, with what there is
      continue;
    }
    if (with < 2) {
      out.notes.push_back(fmt::format("{} was measured of one workload only", response));
      continue;
    }
    out.variability.push_back(study::variability(all, response));
    const auto& spread = out.variability.back();
    if (!spread.method.within)
      out.notes.push_back(fmt::format("{}: no method ran on two datasets", response));
    if (!spread.dataset.within)
      out.notes.push_back(fmt::format("{}: no dataset was met by two methods", response));
  }
  for (const auto& one : out.workloads)
    if (const auto& found = one.found; found.runs > found.whole_runs)
      out.notes.push_back(fmt::format("{}: {} of {} runs did not come to their end and are left out", one.run,
                                      found.runs - found.whole_runs, found.runs));
  return out;
}

namespace {

json spread_json(const characterize::Spread& spread) {
  json groups = json::object();
  for (const auto& [group, box] : spread.groups)
    groups[group] = {
        {"workloads", box.count}, {"lowest", box.lowest}, {"median", box.median}, {"highest", box.highest}};
  return {{"within", spread.within ? json(*spread.within) : json(nullptr)}, {"groups", groups}};
}

}  // namespace

std::string unit_of(const Joined& joined, const std::string& response) {
  for (const auto& one : joined.workloads)
    for (const auto& known : one.found.study.responses)
      if (known.name == response) return known.unit == "1" ? "" : known.unit;
  return "";
}

json joined_json(const Joined& joined) {
  json workloads = json::array(), variability = json::array(), impacts = json::array();
  for (const auto& one : joined.workloads) {
    workloads.push_back({{"run", one.run},
                         {"method", one.method},
                         {"dataset", one.dataset},
                         {"measured_runs", one.found.whole_runs}});
    for (const auto& impact : one.found.impacts)
      impacts.push_back({{"run", one.run},
                         {"factor", impact.factor},
                         {"response", impact.response},
                         {"variation", impact.variation ? json(*impact.variation) : json(nullptr)},
                         {"grade", impact.grade ? json(name(*impact.grade)) : json(nullptr)}});
  }
  for (const auto& one : joined.variability)
    variability.push_back({{"response", one.response},
                           {"unit", unit_of(joined, one.response)},
                           {"orders_of_magnitude", one.orders_of_magnitude},
                           {"method", spread_json(one.method)},
                           {"dataset", spread_json(one.dataset)}});
  return {
      {"workloads", workloads}, {"variability", variability}, {"impacts", impacts}, {"notes", joined.notes}};
}

}  // namespace tandem::app
