#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/sim_validation/thesis_findings.h"

namespace tandem::bench {
namespace {

constexpr double kAboutEqual = 0.05;  // times that differ by less are about equal

Finding strategies(const std::string& model, int batch, double printed_seconds, bool claim_equal) {
  Minsky minsky(model, batch, printed_seconds);
  using Where = Minsky::Where;
  const auto ms = [&](const char* strategy, Where where) {
    return 1e3 * minsky.run(strategy, 4, where).seconds / 50;  // 200 iterations by four
  };
  const double ring = ms("all-reduce", Where::own_nodes), server = ms("parameter-server", Where::own_nodes);
  const double ring_inside = ms("all-reduce", Where::one_node),
               server_inside = ms("parameter-server", Where::one_node);
  const double copy = 1e3 * minsky.parameter_bytes() / 12e9;
  const bool equal = std::abs(server / ring - 1) <= kAboutEqual;
  return {fmt::format("{} with four workers: mirrored {} a parameter server", model,
                      claim_equal ? "equals" : "beats"),
          claim_equal ? "about equal (figure 5.4)" : "mirrored is faster (figures 5.3 and 5.4)",
          fmt::format("{:.0f} ms an iteration mirrored, {:.0f} with a server on a node of its own; in one "
                      "node, where each "
                      "GPU has its way to the processor, {:.0f} and {:.0f}",
                      ring, server, ring_inside, server_inside),
          fmt::format("computing takes {:.0f} ms, a copy of the parameters {:.1f} ms; a server behind one "
                      "cable sends four of "
                      "them before anybody can begin, a ring carries 1.5 behind the backward pass",
                      1e3 * printed_seconds / 200, copy),
          claim_equal ? equal : ring < server && !equal};
}

}  // namespace

Finding alexnet_strategies() {
  return strategies("alexnet", 64, 66.80, false);
}
Finding vgg_strategies() {
  return strategies("vgg19", 8, 109.00, true);
}

Finding communication() {
  const Minsky::Where inside = Minsky::Where::one_node;
  Minsky alexnet("alexnet", 64, 66.80), vgg("vgg19", 8, 109.00);
  const double small = alexnet.run("parameter-server", 1, inside).communication;
  const double large = vgg.run("parameter-server", 1, inside).communication;
  return {"Communication with a server, one GPU, 200 iterations", "3.84 s for AlexNet, 7.82 s for VGG-19",
          fmt::format("{:.2f} and {:.2f} s", small, large),
          fmt::format("the printed times are one copy an iteration ({:.1f} and {:.1f} GB/s for our {:.0f} "
                      "and {:.0f} MB; VGG-19 "
                      "has 143.7 M parameters, not 138 M); the pull is waited for, the push goes on behind "
                      "the backward pass",
                      alexnet.parameter_bytes() * 200 / 3.84e9, vgg.parameter_bytes() * 200 / 7.82e9,
                      alexnet.parameter_bytes() / 1e6, vgg.parameter_bytes() / 1e6),
          std::abs(small / 3.84 - 1) < 0.25 && std::abs(large / 7.82 - 1) < 0.25};
}

void Speedups::add(double one, double several, int workers) {
  most = std::max(most, one / several / workers);
  ++count;
}

Finding super_linear(const Runs& runs, Speedups& speedups) {
  for (const auto* square : {&runs.server, &runs.server_plain, &runs.mirrored, &runs.mirrored_plain})
    for (const auto& row : *square)
      for (std::size_t w = 1; w < kWorkers.size(); ++w)
        speedups.add(row[0].seconds, row[w].seconds, kWorkers[w]);
  Minsky minsky("alexnet", 64, 66.80);
  std::vector<double> ours;
  const double one = minsky.run("all-reduce", 1, Minsky::Where::one_node).seconds;
  for (const int workers : {8, 16, 32}) {
    const double several = minsky.run("all-reduce", workers, Minsky::Where::one_node).seconds;
    speedups.add(one, several, workers);
    ours.push_back(one / several);
  }
  const double eight = runs.mirrored[3][0].seconds / runs.mirrored[3][3].seconds;
  return {"Super-linear speed-up",
          "A1 at batch 128, mirrored, 8 workers; AlexNet on Minsky from 16 workers (figures 5.5 and 5.6)",
          fmt::format("{:.2f} with 8 workers on KTH; {} with 8, 16, 32 on Minsky; of {} speed-ups none is "
                      "more than {:.3f} of "
                      "its number of workers",
                      eight, list(ours, 2), speedups.count, speedups.most),
          fmt::format("iterations were divided by workers and rounded down: 71 by 8 leaves 8 each, {:.3f} "
                      "times as fast before "
                      "any communication; 200 by 16 and 32 leaves 12 and 6, {:.1f} and {:.1f} times. Batch "
                      "16 has 568 = 8 x 71 "
                      "iterations, loses none, and shows none. Here every sample is computed",
                      71.0 / (71 / 8), 200.0 / (200 / 16), 200.0 / (200 / 32)),
          speedups.most > 1 + 1e-9};
}

}  // namespace tandem::bench
