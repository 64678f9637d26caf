// What nodes of a trace draw, by the models of their GPUs.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "sim/trace/replay_trace.h"

namespace tandem::sim {
namespace {

struct GpuWatts {
  const char* model;
  double idle, most;
};
// Most: the board power of NVIDIA's data sheets. Idle: about a tenth. Alibaba does not name G2 and G3; they
// are taken for cards of the A10's and the A100's class.
constexpr GpuWatts kGpus[] = {{"T4", 10, 70},       {"P100", 25, 250}, {"V100M16", 30, 300},
                              {"V100M32", 30, 300}, {"V100", 30, 300}, {"A10", 15, 150},
                              {"A100", 50, 400},    {"G2", 15, 150},   {"G3", 50, 400},
                              {"K80", 25, 300},     {"H100", 70, 700}};
// Of a core (hardware thread): a Xeon of 32 threads, 120 W at most, 15 W idle.
constexpr double kCoreIdle = 15.0 / 32, kCoreMost = 120.0 / 32;

const GpuWatts* find_watts(const std::string& model) {
  const auto found = std::find_if(std::begin(kGpus), std::end(kGpus),
                                  [&](const GpuWatts& gpu) { return gpu.model == model; });
  return found == std::end(kGpus) ? nullptr : &*found;
}

}  // namespace

std::string assume_power(std::vector<ReplayPool>& pools) {
  std::vector<std::string> said;
  for (const auto& pool : pools) {
    if (pool.node.gpus == 0) continue;
    const GpuWatts* gpu = find_watts(pool.gpu_type);
    if (!gpu) return "";
    const auto text = fmt::format("{} {:g} to {:g}", gpu->model, gpu->idle, gpu->most);
    if (std::find(said.begin(), said.end(), text) == said.end()) said.push_back(text);
  }
  for (auto& pool : pools) {
    const double cores = static_cast<double>(pool.node.milli_cores) / 1000;
    NodeDraw draw{cores * kCoreIdle, cores * (kCoreMost - kCoreIdle), 0};
    if (pool.node.gpus > 0) {
      const GpuWatts* gpu = find_watts(pool.gpu_type);
      draw.idle += gpu->idle * pool.node.gpus, draw.a_gpu = gpu->most - gpu->idle;
    }
    pool.draw = draw;
  }
  return fmt::format(
      "energy is assumed, not in the trace: watts of a core {:.2g} to {:.2g}, of a GPU {} (data sheets; G2 "
      "and G3 "
      "are not named and taken for the A10's and the A100's class)",
      kCoreIdle, kCoreMost, said.empty() ? "none" : join(said));
}

}  // namespace tandem::sim
