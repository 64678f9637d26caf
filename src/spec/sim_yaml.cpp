// A simulation as YAML: short where a short form says exactly the same.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "spec/document.h"
#include "spec/parse_sim.h"

namespace tandem::spec {
namespace {

struct YamlUnit {
  const char* name;
  double factor;
};

// In the largest unit that is read back as the same number, else in the last one, which is 1.
template <class Parse>
std::string yaml_quantity(double value, std::initializer_list<YamlUnit> units, Parse parse) {
  for (const auto& unit : units) {
    if (value < unit.factor) continue;
    const std::string written = fmt::format("{:.6g}{}", value / unit.factor, unit.name);
    if (parse(written) == std::optional<double>(value)) return written;
  }
  return fmt::format("{}{}", value, std::prev(units.end())->name);
}

std::string bandwidth(double value) {
  return yaml_quantity(value, {{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}, {"B/s", 1}},
                       parse_bandwidth);
}

std::string frequency(double value) {
  return yaml_quantity(value, {{"GHz", 1e9}, {"MHz", 1e6}, {"kHz", 1e3}, {"Hz", 1}}, parse_frequency);
}

std::string bytes(double value) {
  return yaml_quantity(value,
                       {{"TB", 1e12},
                        {"GiB", 1024. * 1024 * 1024},
                        {"GB", 1e9},
                        {"MiB", 1024. * 1024},
                        {"MB", 1e6},
                        {"KiB", 1024},
                        {"kB", 1e3},
                        {"B", 1}},
                       [](const std::string& written) -> std::optional<double> {
                         const auto parsed = parse_bytes(written);
                         return parsed ? std::optional<double>(static_cast<double>(*parsed)) : std::nullopt;
                       });
}

std::string seconds(double value) {
  return yaml_quantity(
      value, {{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"s", 1}},
      [](const std::string& written) -> std::optional<double> {
        const auto parsed = parse_seconds(written);
        return parsed ? std::optional<double>(parsed->value) : std::nullopt;
      });
}

std::string watts(double value) {
  return fmt::format("{}W", value);
}

std::string yaml_number(double value) {
  return fmt::format("{}", value);
}

// Plain where that is read as the same word.
std::string yaml_word(const std::string& text) {
  Node plain;
  plain.kind = Node::Kind::scalar;
  plain.text = text;
  const auto means = meaning(plain).value;
  const bool null = text == "null" || text == "Null" || text == "NULL";
  const bool safe = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-');
  });
  if (safe && !null && !text.empty() && means == Value(text)) return text;
  // YAML takes JSON's quotes.
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// {a: 1, b: 2}, of the pairs that were given.
class Flow {
 public:
  Flow& add(const std::string& key, const std::string& value) {
    out_ += (out_.empty() ? "" : ", ") + key + ": " + value;
    return *this;
  }
  Flow& add_if(bool given, const std::string& key, const std::string& value) {
    return given ? add(key, value) : *this;
  }
  std::string text() const { return "{" + out_ + "}"; }

 private:
  std::string out_;
};

template <class Items, class Write>
std::string yaml_list(const Items& items, Write write) {
  std::vector<std::string> written;
  for (const auto& item : items) written.push_back(write(item));
  return "[" + join(written) + "]";
}

std::string device_yaml(const DeviceType& device) {
  const DeviceType standard;
  Flow flow;
  flow.add("kind", device.gpu ? "gpu" : "cpu").add("cores", std::to_string(device.cores));
  flow.add("clock", frequency(device.clock));
  flow.add_if(device.flops_a_cycle != standard.flops_a_cycle, "flops_a_cycle",
              yaml_number(device.flops_a_cycle));
  flow.add_if(device.efficiency != standard.efficiency, "efficiency", yaml_number(device.efficiency));
  flow.add_if(device.memory != 0, "memory", bytes(static_cast<double>(device.memory)));
  flow.add_if(device.added_core != standard.added_core, "added_core", yaml_number(device.added_core));
  flow.add_if(device.overhead != 0, "overhead", yaml_number(device.overhead) + "s");
  flow.add_if(device.memory_bandwidth != 0, "memory_bandwidth", bandwidth(device.memory_bandwidth));
  flow.add_if(device.idle_watts != 0 || device.max_watts != 0, "power",
              yaml_list(std::initializer_list<double>{device.idle_watts, device.max_watts}, watts));
  flow.add_if(!device.clocks.empty(), "clocks", yaml_list(device.clocks, frequency));
  return flow.text();
}

std::string node_type_yaml(const NodeType& type) {
  const NodeType standard;
  Flow devices, flow;
  for (const auto& part : type.devices) devices.add(yaml_word(part.device), std::to_string(part.count));
  flow.add("devices", devices.text());
  flow.add_if(type.pcie != standard.pcie, "pcie", bandwidth(type.pcie));
  flow.add_if(type.gpus_an_uplink != standard.gpus_an_uplink, "gpus_an_uplink",
              std::to_string(type.gpus_an_uplink));
  flow.add_if(type.nvlink != 0, "nvlink", bandwidth(type.nvlink));
  flow.add_if(type.storage != 0, "storage", bandwidth(type.storage));
  flow.add_if(type.feed != 0, "feed", bandwidth(type.feed));
  return flow.text();
}

std::string cable_yaml(const NetworkSpec::CableSpec& cable) {
  Flow flow;
  flow.add("from", std::to_string(cable.from)).add("to", std::to_string(cable.to));
  flow.add("bandwidth", bandwidth(cable.bandwidth));
  flow.add_if(cable.latency != 0, "latency", seconds(cable.latency));
  return flow.text();
}

std::string network_yaml(const NetworkSpec& network) {
  Flow flow;
  flow.add("kind", yaml_word(network.kind));
  flow.add_if(network.bandwidth != 0, "bandwidth", bandwidth(network.bandwidth));
  flow.add_if(network.latency != 0, "latency", seconds(network.latency));
  flow.add_if(network.idle_watts != 0 || network.max_watts != 0, "power",
              yaml_list(std::initializer_list<double>{network.idle_watts, network.max_watts}, watts));
  flow.add_if(network.nodes_a_leaf != 0, "nodes_a_leaf", std::to_string(network.nodes_a_leaf));
  flow.add_if(network.uplink != 0, "uplink", bandwidth(network.uplink));
  flow.add_if(!network.sizes.empty(), "sizes",
              yaml_list(network.sizes, [](int size) { return std::to_string(size); }));
  flow.add_if(network.switches != 0, "switches", std::to_string(network.switches));
  flow.add_if(!network.cables.empty(), "cables", yaml_list(network.cables, cable_yaml));
  return flow.text();
}

std::string cluster_yaml(const Cluster& cluster) {
  std::string out = "cluster:\n  name: " + yaml_word(cluster.name) + "\n  devices:\n";
  for (const auto& device : cluster.devices)
    out += "    " + yaml_word(device.name) + ": " + device_yaml(device) + "\n";
  out += "  node_types:\n";
  for (const auto& type : cluster.types)
    out += "    " + yaml_word(type.name) + ": " + node_type_yaml(type) + "\n";
  Flow nodes;
  for (const auto& group : cluster.nodes) nodes.add(yaml_word(group.type), std::to_string(group.count));
  out += "  nodes: " + nodes.text() + "\n";
  if (cluster.network != NetworkSpec{}) out += "  network: " + network_yaml(cluster.network) + "\n";
  if (cluster.shared_storage != 0) out += "  storage: {shared: " + bandwidth(cluster.shared_storage) + "}\n";
  if (cluster.failures)
    out += fmt::format("  failures: {{between: {}, repair: {}}}\n", seconds(cluster.failures->between.value),
                       seconds(cluster.failures->repair.value));
  return out;
}

std::string workload_yaml(const Workload& workload) {
  const Workload standard;
  Flow flow;
  flow.add("name", yaml_word(workload.name));
  flow.add_if(!workload.model.empty(), "model", yaml_word(workload.model));
  flow.add_if(!workload.model_file.empty(), "model_file", yaml_word(workload.model_file));
  flow.add("batch", std::to_string(workload.batch)).add("scaling", workload.strong ? "strong" : "weak");
  flow.add_if(workload.iterations != 0, "iterations", std::to_string(workload.iterations));
  flow.add_if(workload.epochs != 0, "epochs", yaml_number(workload.epochs));
  flow.add_if(workload.samples != 0, "samples", std::to_string(workload.samples));
  flow.add_if(workload.sample_bytes != 0, "sample_bytes", bytes(workload.sample_bytes));
  flow.add("strategy", yaml_word(workload.strategy)).add("workers", std::to_string(workload.workers));
  flow.add_if(workload.servers != standard.servers, "servers", std::to_string(workload.servers));
  flow.add_if(!workload.synchronous, "synchronous", "false");
  flow.add_if(workload.variables_on_gpu, "variables", "gpu");
  flow.add_if(!workload.overlap, "overlap", "false");
  flow.add_if(!workload.device.empty(), "device", yaml_word(workload.device));
  flow.add_if(workload.threads != 0, "threads", std::to_string(workload.threads));
  flow.add_if(workload.clock != 0, "clock", frequency(workload.clock));
  flow.add_if(workload.scheduler != standard.scheduler, "scheduler", yaml_word(workload.scheduler));
  flow.add_if(workload.micro_batches != 0, "micro_batches", std::to_string(workload.micro_batches));
  flow.add_if(workload.straggler != 0, "straggler", yaml_number(workload.straggler));
  return flow.text();
}

}  // namespace

std::string to_yaml(const SimJob& job) {
  std::string out =
      "kind: sim\nname: " + yaml_word(job.name) + "\n" + cluster_yaml(job.cluster) + "workloads:\n";
  for (const auto& workload : job.workloads) out += "  - " + workload_yaml(workload) + "\n";
  return out + "seed: " + std::to_string(job.seed) + "\n";
}

}  // namespace tandem::spec
