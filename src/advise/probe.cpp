#include "advise/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace tandem::advise {
namespace {

double batch_of(const Setting& setting) {
  const auto found = setting.hyper.find("batch_size");
  const auto batch = found == setting.hyper.end() ? std::nullopt : as_number(found->second);
  if (!batch || !(*batch >= 1))
    throw UserError(fmt::format("a probe needs a batch size of at least 1, and {} has none", text(setting)));
  return *batch;
}

// Squared relative errors of the step model's parts, all of `used`; the others are 0.
struct Parts {
  std::array<double, 3> of{};
  double error = std::numeric_limits<double>::infinity();
};

// Least squares over the used parts by elimination; nullopt where the settings do not tell them apart.
std::optional<Parts> fit_parts(std::span<const ProbeTime> times, const std::vector<int>& used) {
  const std::size_t n = used.size();
  std::vector<double> m(n * (n + 1), 0.0);
  const auto feature = [](const ProbeTime& time, int part) {
    const double batch = batch_of(time.setting);
    const double of = part == 0 ? 1 : part == 1 ? batch : batch / time.setting.system.cores;
    return of / time.step_seconds;  // relative: short steps count as much as long ones
  };
  for (const auto& time : times)
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t c = 0; c < n; ++c)
        m[r * (n + 1) + c] += feature(time, used[r]) * feature(time, used[c]);
      m[r * (n + 1) + n] += feature(time, used[r]);
    }
  for (std::size_t k = 0; k < n; ++k) {
    const double before = m[k * (n + 1) + k];
    for (std::size_t j = 0; j < k; ++j) {
      const double by = m[k * (n + 1) + j] / m[j * (n + 1) + j];
      for (std::size_t c = j; c <= n; ++c) m[k * (n + 1) + c] -= by * m[j * (n + 1) + c];
    }
    if (!(m[k * (n + 1) + k] > 1e-9 * before)) return std::nullopt;
  }
  Parts out;
  for (std::size_t k = n; k-- > 0;) {
    double value = m[k * (n + 1) + n];
    for (std::size_t c = k + 1; c < n; ++c)
      value -= m[k * (n + 1) + c] * out.of[static_cast<std::size_t>(used[c])];
    out.of[static_cast<std::size_t>(used[k])] = value / m[k * (n + 1) + k];
  }
  out.error = 0;
  for (const auto& time : times) {
    double off = -1;
    for (const int part : used) off += feature(time, part) * out.of[static_cast<std::size_t>(part)];
    out.error += off * off;
  }
  return out;
}

}  // namespace

std::vector<ProbeSetting> probes_for(std::span<const Setting> candidates) {
  if (candidates.empty()) throw UserError("there is nothing to probe: no candidates");
  const auto better = [&](auto value) {
    return std::max_element(candidates.begin(), candidates.end(),
                            [&](const Setting& a, const Setting& b) { return value(a) < value(b); });
  };
  using Pair = std::pair<double, double>;
  const std::array picks = {
      better([](const Setting& s) { return Pair(batch_of(s), s.system.cores); }),
      better([](const Setting& s) { return Pair(batch_of(s), -s.system.cores); }),
      better([](const Setting& s) { return Pair(-batch_of(s), s.system.cores); }),
  };
  std::vector<ProbeSetting> out;
  for (const auto pick : picks) {
    const auto same = [&](const ProbeSetting& other) {
      return batch_of(other.setting) == batch_of(*pick) && other.setting.system.cores == pick->system.cores;
    };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back({*pick});
  }
  return out;
}

StepModel fit_step_model(std::span<const ProbeTime> times) {
  if (times.empty()) throw UserError("a probe measured nothing: there is no time to go by");
  for (const auto& time : times)
    if (!(time.step_seconds > 0) || !std::isfinite(time.step_seconds) || time.setting.system.cores < 1)
      throw UserError(fmt::format("a probe of {} took {} s a step: that cannot be", text(time.setting),
                                  time.step_seconds));
  // With so few parts, least squares without negative ones is: try each subset. More parts win only if
  // better.
  static const std::vector<std::vector<int>> subsets = {{2}, {1}, {0}, {0, 2}, {1, 2}, {0, 1}, {0, 1, 2}};
  Parts best;
  for (const auto& used : subsets) {
    const auto parts = fit_parts(times, used);
    if (!parts || std::any_of(parts->of.begin(), parts->of.end(), [](double part) { return part < 0; }))
      continue;
    if (parts->error < best.error - 1e-12) best = *parts;
  }
  return {best.of[0], best.of[1], best.of[2]};
}

std::vector<PastRun> seeded_history(const ProbedProgram& program, std::span<const ProbeTime> times,
                                    std::span<const Setting> candidates, std::span<const int> jobs) {
  if (program.records < 1)
    throw UserError(fmt::format("{} has {} records an epoch: a probe needs to know how many there are",
                                program.program, program.records));
  const auto step = fit_step_model(times);
  std::vector<PastRun> out;
  for (const auto& candidate : candidates)
    for (const int count : jobs) {
      const double batch = batch_of(candidate), cores = candidate.system.cores;
      const double shared = std::max(1.0, cores * count / std::max(1, program.machine_cores));
      const double steps = std::ceil(static_cast<double>(program.records) / batch);
      PastRun run;
      run.id = fmt::format("probe, {} jobs", count);
      run.program = program.program;
      run.machine = program.machine;
      run.setting = candidate;
      run.load = {{{0}, static_cast<double>(count), cores * count}};
      run.seconds = {static_cast<double>(candidate.epochs) * steps * step.seconds(batch, cores) * shared};
      run.from_probe = true;
      out.push_back(std::move(run));
    }
  return out;
}

}  // namespace tandem::advise
