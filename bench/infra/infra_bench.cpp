// Infrastructure-aware placement beside oblivious placement and an unloaded cluster, in the simulator, in the
// scenarios of Infrastructure-Aware TensorFlow (figures 3.3 to 3.9).
//
//   infra_bench [makespan|loads|busy|bandwidth|latency|gpu|failing|monitor]...
//
// Exit code: 0 all floors held; 1 one was missed.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/infra/sections.h"
#include "bench/infra/testbed.h"

using namespace tandem::bench;

namespace {

struct Part {
  std::string name;
  Section (*make)();
};

const std::vector<Part> kParts{{"makespan", makespan_section}, {"loads", loads_section},
                               {"busy", busy_section},         {"bandwidth", bandwidth_section},
                               {"latency", latency_section},   {"gpu", gpu_section},
                               {"failing", failing_section},   {"monitor", monitor_section}};

}  // namespace

int main(int argc, char** argv) {
  std::vector<Part> wanted;
  for (int i = 1; i < argc; ++i) {
    const auto part =
        std::find_if(kParts.begin(), kParts.end(), [&](const Part& p) { return p.name == argv[i]; });
    if (part == kParts.end()) {
      fmt::print(stderr,
                 "there is no part '{}': makespan, loads, busy, bandwidth, latency, gpu, failing, monitor\n",
                 argv[i]);
      return 2;
    }
    wanted.push_back(*part);
  }
  Section assumed{"what is assumed"};
  for (const std::string& assumption : assumptions()) assumed.say("- " + assumption);
  assumed.summary = "no load or constant was fitted to the paper's percentages";
  fmt::print("{}", as_text(assumed));

  std::vector<Section> sections;
  for (const Part& part : wanted.empty() ? kParts : wanted) {
    sections.push_back(part.make());
    fmt::print("{}", as_text(sections.back()));
  }
  bool missed = false;
  for (const Section& section : sections) {
    fmt::print("{}\n", summary_line(section));
    missed = missed || section.verdict == Verdict::missed;
  }
  return missed ? 1 : 0;
}
