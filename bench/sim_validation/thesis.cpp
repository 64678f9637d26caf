// "TensorFlow in OpenDC": its tables and findings beside the simulator. The floor: n workers are never more
// than n times as fast as one.
#include <fmt/format.h>

#include <algorithm>

#include "bench/sim_validation/sections.h"
#include "bench/sim_validation/thesis_findings.h"

namespace tandem::bench {
namespace {

void tell(Section& section, const Finding& finding) {
  section.say(fmt::format("**{}: {}.** Printed: {}. Ours: {}. Why: {}.", finding.claim,
                          finding.reproduced ? "reproduced" : "refuted", finding.printed, finding.ours,
                          finding.why));
}

void add_rows(Table& table, const char* strategy, const Printed::Square& printed, const Runs::Square& ours,
              const Runs::Square& plain_ones) {
  for (std::size_t b = 0; b < kBatches.size(); ++b)
    for (std::size_t w = 0; w < kWorkers.size(); ++w) {
      const Outcome& run = ours[b][w];
      table.rows.push_back({strategy, std::to_string(kBatches[b]), std::to_string(kWorkers[w]),
                            plain(printed[b][w], 3), plain(run.usage, 3), plain(plain_ones[b][w].usage, 3),
                            plain(run.seconds, 1), plain(ours[b][0].seconds / run.seconds, 2),
                            plain(Printed{}.kilowatt_hours[b][w], 1), plain(run.watt_hours, 2)});
    }
}

}  // namespace

Section thesis_section() {
  Section section{"The thesis"};
  section.say(
      "\"TensorFlow in OpenDC\" (Lai 2020), simulated operation by operation on the ready clusters kth and "
      "minsky. Each batch "
      "is calibrated on its printed one-GPU time; iterations are divided among the workers.");
  Kth kth;
  const Runs runs = run_all(kth);
  Table table{"Tables 5.7 and 5.8: AlexNet on KTH",
              {"strategy", "batch", "workers", "usage printed", "ours", "not overlapped", "seconds",
               "speed-up", "kWh printed", "Wh ours"}};
  add_rows(table, "parameter server", Printed{}.server_usage, runs.server, runs.server_plain);
  add_rows(table, "mirrored", Printed{}.mirrored_usage, runs.mirrored, runs.mirrored_plain);
  section.show(std::move(table));
  Speedups speedups;
  std::vector<Finding> findings{batch_and_time(kth), server_usage(kth, runs),      mirrored_alone(kth, runs),
                                mirrored_flat(runs), alexnet_strategies(),         vgg_strategies(),
                                communication(),     super_linear(runs, speedups), energy(kth, runs)};
  for (const Finding& finding : findings) tell(section, finding);
  const auto reproduced =
      std::count_if(findings.begin(), findings.end(), [](const auto& f) { return f.reproduced; });
  section.verdict = speedups.most <= 1 + 1e-9 ? Verdict::held : Verdict::missed;
  section.summary = fmt::format(
      "{} findings: {} reproduced, {} refuted, each with its reason; of {} speed-ups the largest is {:.3f} "
      "of its workers "
      "(asked: at most 1)",
      findings.size(), reproduced, static_cast<long>(findings.size()) - reproduced, speedups.count,
      speedups.most);
  return section;
}

}  // namespace tandem::bench
