#include "report/knowledge_table.h"

#include <fmt/format.h>

#include "base/resources.h"

namespace tandem::report {

std::string knowledge_table(const std::vector<KnownWorkload>& workloads) {
  if (workloads.empty())
    return "nothing is known yet; tuning jobs learn as they run, and `tandem tune --warm SPEC` measures "
           "beforehand\n";
  std::string out = "   batch  reference        epochs  seconds an epoch by configuration\n";
  for (const auto& workload : workloads) {
    std::int64_t epochs = 0;
    std::string times;
    for (const auto& m : workload.measured) {
      epochs += m.epochs;
      times += fmt::format("{}{}: {:.3g}", times.empty() ? "" : ", ",
                           text(Resources{m.system.cores, 0, m.system.speed}), m.seconds);
    }
    out += fmt::format("{:>8}  {:<15}  {:>6}  {}\n", workload.batch, text(workload.reference), epochs, times);
  }
  return out;
}

}  // namespace tandem::report
