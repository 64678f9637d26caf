#include "bench/sim_validation/tensorflow_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "bench/sim_validation/calibrate.h"
#include "graph/zoo.h"

namespace tandem::bench {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool has(const std::string& text, const char* part) {
  return lower(text).find(part) != std::string::npos;
}

int gpus_a_host(const std::string& system) {
  if (has(system, "p2.16xlarge")) return 16;
  if (has(system, "p2.xlarge")) return 1;
  return kUsualGpus;
}

// A host of a kind the page describes; else the nearest one, and the assumption is noted.
Host start(const std::string& system, const std::string& gpu) {
  const bool dgx = has(system, "dgx"), k80 = has(gpu, "k80");
  Host host;
  if (k80) {
    host.cluster = ready_cluster("k80-cloud");
    host.device = "K80-die";
    host.slower_together = kBoardMates;
    if (!has(system, "gce") && !has(system, "google") && !has(system, "ec2") && !has(system, "amazon"))
      host.assumed.push_back(
          fmt::format("{}: a K80 host like Google's and Amazon's: 4 dies an uplink, 16 cores", system));
    return host;
  }
  host.cluster = ready_cluster("dgx-1");
  host.device = "P100";
  if (!has(gpu, "p100"))
    host.assumed.push_back(
        fmt::format("{}: nothing of it is known but its one-GPU times; watts are a P100's", gpu));
  if (dgx) return host;
  host.cluster.types.front().nvlink = 0;
  host.assumed.push_back(
      fmt::format("{}: a host like a DGX-1 without NVLink: 2 GPUs an uplink, 16 cores", system));
  return host;
}

}  // namespace

Host host_of(const std::string& system, const std::string& gpu, const std::string& strategy, int gpus) {
  Host host = start(system, gpu);
  const bool distributed = has(system, "distributed") || has(strategy, "distributed");
  const double cores = has(system, "dgx") ? 40 : 16;
  const int many = distributed ? gpus_a_host(system) : std::max(gpus_a_host(system), gpus);
  if (many > gpus_a_host(system))
    host.assumed.push_back(fmt::format("{}: all {} GPUs are in one host", system, many));
  spec::NodeType& type = host.cluster.types.front();
  for (auto& part : type.devices)
    if (part.device == host.device) part.count = many;
  type.feed = kFeed;
  type.storage = std::min(kSsd, cores * kDecoded * kJpeg);  // what is read is decoded, too
  host.cluster.nodes.front().count = (gpus + many - 1) / many;
  if (host.cluster.node_count() > 1 && host.cluster.network.bandwidth <= 0) {
    host.cluster.network = ready_cluster("k80-cloud").network;
    host.assumed.push_back(fmt::format("{}: hosts are connected by 10 Gb/s Ethernet", system));
  }
  calibrated_only(device_of(host.cluster, host.device));
  return host;
}

std::optional<HowTrained> how_trained(const std::string& strategy) {
  static const std::map<std::string, HowTrained> known{
      {"ps-cpu", {"parameter-server"}},
      {"ps-gpu", {"parameter-server", true}},
      {"replicated", {"replicated"}},
      {"replicated-nccl", {"all-reduce", false, kNcclLaunch}},
      {"distributed-replicated", {"distributed-replicated"}},
  };
  const auto found = known.find(lower(strategy));
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

int servers_of(const std::string& model, const HowTrained& how, int hosts, int gpus) {
  if (how.variables_on_gpu) return gpus;
  if (hosts == 8 && model == "inception3") return 6;
  if (hosts == 8 && model == "resnet152") return 4;
  return hosts;
}

std::optional<std::string> zoo_name(const std::string& model) {
  static const std::map<std::string, std::string> others{
      {"googlenet", "inception1"}, {"inceptionv1", "inception1"}, {"inceptionv3", "inception3"}};
  std::string name = lower(model);
  std::erase_if(name, [](char c) { return c == '-' || c == '_'; });
  if (const auto found = others.find(name); found != others.end()) name = found->second;
  const auto& zoo = graph::zoo();
  const bool known =
      std::any_of(zoo.begin(), zoo.end(), [&](const auto& entry) { return entry.name == name; });
  return known ? std::optional(name) : std::nullopt;
}

}  // namespace tandem::bench
