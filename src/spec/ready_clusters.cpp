#include "spec/ready_clusters.h"

namespace tandem::spec {
namespace {

constexpr double kGB = 1e9, kMHz = 1e6, kMicrosecond = 1e-6;  // GB: a second
constexpr Bytes kGigabyte = 1'000'000'000;

// "TensorFlow in OpenDC" (Lai 2020), tables 5.3 and 5.4. Efficiency: table 5.5, batch 64, without its memory
// time: 3 passes x 1.43 GFLOP x 9088 images in 47.8 s are 9.9 % of 8.23 TFLOP/s. The CPU's operations a cycle
// are those of two AVX2 units; its efficiency, the latency and what Lustre delivers are not printed: assumed.
Cluster kth() {
  return {.name = "kth",
          .devices = {{.name = "E5-2690v3",
                       .cores = 24,
                       .clock = 3498 * kMHz,
                       .flops_a_cycle = 32,
                       .efficiency = 0.5,
                       .memory = 512 * kGigabyte,
                       .memory_bandwidth = 68 * kGB,
                       .idle_watts = 84,
                       .max_watts = 135},
                      {.name = "K80",
                       .gpu = true,
                       .cores = 4992,
                       .clock = 824 * kMHz,
                       .efficiency = 0.1,
                       .memory = 24 * kGigabyte,
                       .memory_bandwidth = 480 * kGB,
                       .idle_watts = 90,
                       .max_watts = 334}},
          .types = {{.name = "thin", .devices = {{"E5-2690v3", 1}, {"K80", 1}}, .pcie = 12 * kGB}},
          .nodes = {{"thin", 9}},
          .network = {.kind = "star", .bandwidth = 12 * kGB, .latency = 1 * kMicrosecond},
          .shared_storage = 2 * kGB};
}

// The same thesis; data is in memory. Efficiencies: table 5.6, AlexNet: 54.8 TFLOP in 66.8 s on the P100
// (9.6 %; VGG-19 reaches 20 %), in 190.6 s on ten POWER8 cores with two 4-wide units (49 %; VGG-19 44 %). The
// thesis counts 12 GB/s to the GPUs, too; the machine itself has NVLink there, at 40 GB/s.
Cluster minsky() {
  return {.name = "minsky",
          .devices = {{.name = "POWER8",
                       .cores = 10,
                       .clock = 3690 * kMHz,
                       .flops_a_cycle = 16,
                       .efficiency = 0.46,
                       .memory = 160 * kGigabyte,
                       .memory_bandwidth = 115 * kGB,
                       .idle_watts = 130,
                       .max_watts = 190},
                      {.name = "P100",
                       .gpu = true,
                       .cores = 3584,
                       .clock = 1190 * kMHz,
                       .efficiency = 0.1,
                       .memory = 16 * kGigabyte,
                       .memory_bandwidth = 720 * kGB,
                       .idle_watts = 125,
                       .max_watts = 250}},
          .types = {{.name = "minsky", .devices = {{"POWER8", 2}, {"P100", 4}}, .pcie = 12 * kGB}},
          .nodes = {{"minsky", 12}},
          .network = {.kind = "star", .bandwidth = 12 * kGB, .latency = 1 * kMicrosecond}};
}

// TensorFlow's benchmarks page of May 2017; links, host feed and SSD as docs/validation-study.md A.3 states
// them. The P100 is the SXM2 one of the data sheet (10.6 TFLOP/s, 300 W); idle powers are assumed.
// Efficiency: inception3's 142 images a second are 46 %, resnet50's 219 are 51 %.
Cluster dgx1() {
  return {.name = "dgx-1",
          .devices = {{.name = "E5-2698v4",
                       .cores = 20,
                       .clock = 2200 * kMHz,
                       .flops_a_cycle = 32,
                       .efficiency = 0.5,
                       .memory = 256 * kGigabyte,
                       .memory_bandwidth = 76.8 * kGB,
                       .idle_watts = 40,
                       .max_watts = 135},
                      {.name = "P100",
                       .gpu = true,
                       .cores = 3584,
                       .clock = 1480 * kMHz,
                       .efficiency = 0.48,
                       .memory = 16 * kGigabyte,
                       .memory_bandwidth = 732 * kGB,
                       .idle_watts = 30,
                       .max_watts = 300}},
          .types = {{.name = "dgx-1",
                     .devices = {{"E5-2698v4", 2}, {"P100", 8}},
                     .pcie = 11.8 * kGB,
                     .gpus_an_uplink = 2,
                     .nvlink = 20 * kGB,
                     .storage = 2 * kGB,
                     .feed = 14 * kGB}},
          .nodes = {{"dgx-1", 1}},
          .network = {}};
}

// The same page: eight p2.8xlarge of EC2, eight K80 dies each (half a board: cores, memory and watts of Lai's
// table halved), four behind one uplink, 10 Gb/s Ethernet that delivers 1.15 GB/s (docs/validation-study.md
// A.3). Efficiency: inception3's 29.7 images a second are 25 %, resnet50's 52.4 are 31 %. The host's power
// and the latency are assumed.
Cluster k80_cloud() {
  return {.name = "k80-cloud",
          .devices = {{.name = "E5-2686v4",
                       .cores = 16,
                       .clock = 2300 * kMHz,
                       .flops_a_cycle = 32,
                       .efficiency = 0.5,
                       .memory = 488 * kGiB,
                       .memory_bandwidth = 76.8 * kGB,
                       .idle_watts = 45,
                       .max_watts = 145},
                      {.name = "K80-die",
                       .gpu = true,
                       .cores = 2496,
                       .clock = 824 * kMHz,
                       .efficiency = 0.28,
                       .memory = 12 * kGigabyte,
                       .memory_bandwidth = 240 * kGB,
                       .idle_watts = 45,
                       .max_watts = 167}},
          .types = {{.name = "p2.8xlarge",
                     .devices = {{"E5-2686v4", 1}, {"K80-die", 8}},
                     .pcie = 11.8 * kGB,
                     .gpus_an_uplink = 4}},
          .nodes = {{"p2.8xlarge", 8}},
          .network = {.kind = "star", .bandwidth = 1.15 * kGB, .latency = 50 * kMicrosecond}};
}

// HEATS (Rocha 2019), table 3.2: cores, clocks, TDP and memory; eight workers, one AMD, three Intel and four
// ARM. The text does not say which Intel machines: two E3 and one E5 here. Where its cores are threads,
// operations a cycle are half a core's. Memory bandwidths are the vendors'; a third of the TDP when idle,
// efficiency and 1 Gb/s (a Raspberry Pi 3B+ has 0.3, not modelled) are assumed.
Cluster heats() {
  return {.name = "heats",
          .devices = {{.name = "Cortex-A53",
                       .cores = 4,
                       .clock = 1400 * kMHz,
                       .flops_a_cycle = 8,
                       .efficiency = 0.3,
                       .memory = 1 * kGiB,
                       .memory_bandwidth = 2.5 * kGB,
                       .idle_watts = 2,
                       .max_watts = 5},
                      {.name = "Epyc-7281",
                       .cores = 32,
                       .clock = 2100 * kMHz,
                       .flops_a_cycle = 8,
                       .efficiency = 0.5,
                       .memory = 64 * kGiB,
                       .memory_bandwidth = 170 * kGB,
                       .idle_watts = 52,
                       .max_watts = 155},
                      {.name = "E3-1270v6",
                       .cores = 4,
                       .clock = 3800 * kMHz,
                       .flops_a_cycle = 32,
                       .efficiency = 0.5,
                       .memory = 64 * kGiB,
                       .memory_bandwidth = 38.4 * kGB,
                       .idle_watts = 24,
                       .max_watts = 72},
                      {.name = "E5-2683v4",
                       .cores = 32,
                       .clock = 2100 * kMHz,
                       .flops_a_cycle = 16,
                       .efficiency = 0.5,
                       .memory = 128 * kGiB,
                       .memory_bandwidth = 76.8 * kGB,
                       .idle_watts = 40,
                       .max_watts = 120}},
          .types = {{.name = "arm", .devices = {{"Cortex-A53", 1}}},
                    {.name = "amd", .devices = {{"Epyc-7281", 1}}},
                    {.name = "small-intel", .devices = {{"E3-1270v6", 1}}},
                    {.name = "large-intel", .devices = {{"E5-2683v4", 1}}}},
          .nodes = {{"arm", 4}, {"amd", 1}, {"small-intel", 2}, {"large-intel", 1}},
          .network = {.kind = "star", .bandwidth = 1.25e8, .latency = 100 * kMicrosecond}};
}

}  // namespace

const std::vector<ReadyCluster>& ready_clusters() {
  static const std::vector<ReadyCluster> table{
      {"kth", "9 nodes with one K80 each on EDR InfiniBand, Lustre (OpenDC thesis)", kth()},
      {"minsky", "12 IBM Minsky nodes with four P100 each, data in memory (OpenDC thesis)", minsky()},
      {"dgx-1", "one NVIDIA DGX-1: 8 P100 with NVLink and a local SSD (TensorFlow 2017)", dgx1()},
      {"k80-cloud", "8 EC2 p2.8xlarge: 64 K80 dies on 10 Gb/s Ethernet (TensorFlow 2017)", k80_cloud()},
      {"heats", "8 nodes of four kinds, from Raspberry Pi to Xeon (HEATS, table 3.2)", heats()},
  };
  return table;
}

}  // namespace tandem::spec
