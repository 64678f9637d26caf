#include "bench/slo/answer_time.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "advise/advisor.h"
#include "base/random.h"

namespace tandem::bench {
namespace {

constexpr int kRuns = 10'000, kAsked = 21;
constexpr double kFloor = 0.050;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

advise::Setting setting(std::int64_t batch, int cores, std::int64_t epochs) {
  advise::Setting out;
  out.hyper["batch_size"] = batch;
  out.system.cores = cores;
  out.epochs = epochs;
  return out;
}

std::vector<advise::PastRun> made_up_runs(std::uint64_t seed) {
  Random random(seed, hash_name("made-up runs"));
  std::vector<advise::PastRun> out;
  for (int i = 0; i < kRuns; ++i) {
    const double batch = std::pow(2, 4 + static_cast<double>(random.below(7)));
    const int cores = 1 << random.below(5), jobs = 1 + static_cast<int>(random.below(6));
    advise::PastRun run;
    run.program = "made-up";
    run.machine = "here";
    run.setting =
        setting(static_cast<std::int64_t>(batch), cores, 5 + static_cast<std::int64_t>(random.below(10)));
    run.load = {{{0}, static_cast<double>(jobs), static_cast<double>(jobs * cores)}};
    const double epoch = 50'000 / batch * (0.01 + 0.0005 * batch / cores) * (1 + 0.2 * (jobs - 1));
    run.seconds = {epoch * static_cast<double>(run.setting.epochs) * std::exp(0.05 * random.normal())};
    for (std::int64_t e = 1; e <= run.setting.epochs; ++e)
      run.metrics.push_back(
          {e,
           {{"accuracy", 0.98 - 0.015 * std::log2(batch / 16) - 0.3 / (1.0 + static_cast<double>(e)) +
                             0.002 * random.normal()}}});
    out.push_back(std::move(run));
  }
  return out;
}

advise::Question question(const advise::Models& models) {
  advise::Question out;
  out.slo = {300};
  for (const int batch : {16, 32, 64, 128, 256, 512})
    for (const int cores : {1, 2, 4, 8, 16})
      for (const int epochs : {4, 8, 12, 14}) out.candidates.push_back(setting(batch, cores, epochs));
  for (int i = 0; i < 3; ++i)
    out.running.push_back(
        {fmt::format("job {}", i + 1), setting(64 << i, 2, 10), 0.3 * (i + 1), Seconds{200}, &models, {0}});
  return out;
}

}  // namespace

Section answer_time_section(std::uint64_t seed) {
  const auto runs = made_up_runs(seed);
  auto start = std::chrono::steady_clock::now();
  const auto models = advise::Models::fit(runs, "made-up", "here");
  const double fitting = seconds_since(start);
  const auto text = models.written().dump();
  start = std::chrono::steady_clock::now();
  const auto stored = advise::Models::read(nlohmann::json::parse(text));
  const double reading = seconds_since(start);
  const auto asked = question(stored);
  std::vector<double> answers;
  for (int i = 0; i < kAsked; ++i) {
    start = std::chrono::steady_clock::now();
    const auto advice = advise::advise(stored, asked);
    answers.push_back(seconds_since(start));
  }
  const double middle = median(answers), worst = *std::max_element(answers.begin(), answers.end());
  Section out;
  out.title = fmt::format("An answer after {} past runs", kRuns);
  out.say(fmt::format(
      "{} candidates, {} jobs running; models ({}) fitted in {:.1f} s, kept as {:.1f} MB of JSON, read back "
      "in {:.0f} ms.",
      asked.candidates.size(), asked.running.size(), models.epoch_seconds().judged().front().regression,
      fitting, static_cast<double>(text.size()) / 1e6, 1000 * reading));
  out.summary = fmt::format("{:.1f} ms, at most {:.1f} ms of {} (asked: under {:.0f} ms)", 1000 * middle,
                            1000 * worst, kAsked, 1000 * kFloor);
  out.verdict = middle < kFloor ? Verdict::held : Verdict::missed;
  return out;
}

}  // namespace tandem::bench
