#include "tune/experiment_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace tandem::tune {
namespace {

constexpr const char* kCores = "cores";
constexpr const char* kMemory = "memory";
constexpr const char* kSpeed = "speed";
constexpr const char* kEpochs = "epochs";

stats::DesignFactor factor_of(const spec::Parameter& parameter) {
  using Kind = spec::Domain::Kind;
  const auto& domain = parameter.domain;
  stats::DesignFactor out{.name = parameter.name, .levels = domain.choices};
  if (domain.kind == Kind::choice) return out;
  if (domain.step > 0) {
    const auto values = *count(domain);
    if (values > static_cast<std::int64_t>(spec::kMostChoices))
      throw UserError(fmt::format("hyper.{} has {} steps, and a factor has at most {} levels: widen the step",
                                  parameter.name, values, spec::kMostChoices));
    for (std::int64_t i = 0; i < values; ++i) out.levels.push_back(value_of(domain, i));
    return out;
  }
  out.low = domain.low;
  out.high = domain.high;
  out.whole = domain.kind == Kind::whole || domain.kind == Kind::log_whole;
  out.logarithmic = domain.kind == Kind::log_real || domain.kind == Kind::log_whole;
  return out;
}

bool has_level(const stats::DesignFactor& factor, const Value& value) {
  return std::find(factor.levels.begin(), factor.levels.end(), value) != factor.levels.end();
}

template <class Number>
stats::DesignFactor system_factor(const char* name, const std::vector<Number>& sizes, Value usual,
                                  bool most) {
  stats::DesignFactor out{.name = name};
  for (const Number size : sizes) {
    if constexpr (std::is_floating_point_v<Number>)
      out.levels.emplace_back(static_cast<double>(size));
    else
      out.levels.emplace_back(static_cast<std::int64_t>(size));
  }
  out.usual = has_level(out, usual) ? usual : most ? out.levels.back() : out.levels.front();
  return out;
}

// Outside of the point a training spec's defaults hold.
PlannedRun planned(const spec::Experiment& job, stats::DesignRun run) {
  PlannedRun out{.design = std::move(run), .hyper = job.base.hyper, .epochs = job.base.epochs, .wanted = {}};
  for (const auto& [name, value] : out.design.at) {
    if (name == kCores)
      out.wanted.cores = static_cast<int>(std::get<std::int64_t>(value));
    else if (name == kMemory)
      out.wanted.memory = std::get<std::int64_t>(value);
    else if (name == kSpeed)
      out.wanted.speed = std::get<double>(value);
    else if (name == kEpochs)
      out.epochs = std::get<std::int64_t>(value);
    else if (name == spec::kJobs)
      out.jobs = static_cast<int>(std::get<std::int64_t>(value));
    else if (name == spec::kNodes)
      out.nodes = static_cast<int>(std::get<std::int64_t>(value));
    else
      out.hyper[name] = value;
  }
  return out;
}

}  // namespace

bool is_system_factor(const std::string& name) {
  return name == kCores || name == kMemory || name == kSpeed;
}

bool is_load_factor(const std::string& name) {
  return name == spec::kJobs || name == spec::kNodes;
}

std::vector<stats::DesignFactor> factors_of(const spec::Experiment& job) {
  std::vector<stats::DesignFactor> out;
  for (const auto& parameter : job.factors.parameters) {
    out.push_back(factor_of(parameter));
    auto& factor = out.back();
    if (const auto usual = job.base.hyper.find(factor.name); usual != job.base.hyper.end())
      factor.usual = usual->second;
    if (factor.name == kEpochs && has_level(factor, job.base.epochs)) factor.usual = job.base.epochs;
    if (is_load_factor(factor.name))
      factor.usual = has_level(factor, std::int64_t{1}) ? Value(std::int64_t{1}) : factor.levels.front();
  }
  const auto& system = job.system;
  if (!system.cores.empty()) out.push_back(system_factor(kCores, system.cores, std::int64_t{1}, false));
  if (!system.memory.empty()) out.push_back(system_factor(kMemory, system.memory, std::int64_t{0}, true));
  if (!system.speed.empty()) out.push_back(system_factor(kSpeed, system.speed, 1.0, true));
  return out;
}

Plan plan_of(const spec::Experiment& job) {
  const bool by_number = job.design == "space-filling";
  if (by_number && !job.points)
    throw UserError(
        "a space-filling design has as many points as it is asked for: write experiment.points, or "
        "give --points N");
  if (!by_number && job.points)
    throw UserError(
        fmt::format("experiment.points goes with the design space-filling; a {} design has the "
                    "points that its levels make",
                    job.design));
  stats::DesignOptions options{.kind = job.design,
                               .points = static_cast<std::size_t>(job.points.value_or(0)),
                               .replications = static_cast<std::size_t>(job.replications),
                               .seed = static_cast<std::uint64_t>(job.seed)};
  if (!job.factors.constraints.empty())
    options.allowed = [&](const Values& at) {
      Values all = job.base.hyper;
      for (const auto& [name, value] : at) all[name] = value;
      return spec::allowed(job.factors, all);
    };
  Plan plan{.factors = factors_of(job)};
  auto design = stats::make_design(plan.factors, options);
  plan.counted = design.counted;
  for (auto& run : design.runs) plan.runs.push_back(planned(job, std::move(run)));
  return plan;
}

// Each process on the first node that still has room; ranks of a task on nodes of their own.
std::string why_never(const PlannedRun& run, const IdTable<NodeView>& nodes) {
  std::vector<Resources> left;
  for (const auto& node : nodes) left.push_back(node.largest);
  for (int job = 0; job < run.jobs; ++job) {
    std::vector<bool> used(left.size(), false);
    for (int rank = 0; rank < run.nodes; ++rank) {
      std::size_t at = 0;
      while (at < left.size() &&
             (used[at] || left[at].cores < run.wanted.cores || left[at].memory < run.wanted.memory))
        ++at;
      if (at == left.size())
        return fmt::format(
            "a point asks for {} at once, each with {}, and there is no room for all of them; "
            "fewer experiment.jobs or experiment.nodes, or smaller ones, would fit. Jobs share "
            "cores only on this machine (--world local)",
            run.nodes == 1 ? fmt::format("{} jobs", run.jobs)
                           : fmt::format("{} jobs on {} nodes each", run.jobs, run.nodes),
            text(run.wanted));
      used[at] = true;
      left[at].cores -= run.wanted.cores;
      left[at].memory -= run.wanted.memory;
    }
  }
  return "";
}

}  // namespace tandem::tune
