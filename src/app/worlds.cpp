#include "app/worlds.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/installation.h"
#include "app/node_watch.h"
#include "base/error.h"
#include "base/text.h"
#include "measure/task_sensor.h"
#include "runtime/slurm/world.h"
#include "sim/world/programs_declared.h"
#include "spec/parse_sim.h"

namespace tandem::app {
namespace {

// A simulated world beside the real clock: a second here is `time_factor` seconds there. Jobs can be
// submitted at any time, as to a real one.
class PacedWorld final : public control::World {
 public:
  PacedWorld(std::vector<sim::NodeGroup> nodes, double time_factor)
      : programs_(paces_of(nodes)),
        world_(sim::WorldOptions{.nodes = std::move(nodes), .start = wall(), .open_ended = true}, programs_),
        time_factor_(time_factor),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        looked_(std::chrono::steady_clock::now()) {}

  control::Capabilities capabilities() const override { return world_.capabilities(); }
  Seconds now() override { return world_.now(); }
  std::vector<NodeJoined> nodes() override { return world_.nodes(); }
  void carry_out(const Decision& decision, const View& view) override { world_.carry_out(decision, view); }
  std::vector<Event> reconcile(const View& view) override { return world_.reconcile(view); }

  std::vector<Event> wait(Seconds at_most) override {
    for (const auto until = std::chrono::steady_clock::now() + span(at_most.value);;) {
      auto events = world_.wait(behind());
      if (!events.empty() || std::chrono::steady_clock::now() >= until) return events;
      pollfd waiting{wake_.get(), POLLIN, 0};
      if (::poll(&waiting, 1, kStep) > 0) {
        std::uint64_t drained;
        [[maybe_unused]] auto got = ::read(wake_.get(), &drained, sizeof(drained));
        return world_.wait(behind());
      }
    }
  }
  void interrupt() {
    const std::uint64_t one = 1;
    [[maybe_unused]] auto told = ::write(wake_.get(), &one, sizeof(one));
  }

 private:
  static constexpr int kStep = 10;  // ms

  static std::chrono::steady_clock::duration span(double seconds) {
    return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(seconds));
  }
  static Seconds wall() {
    return {std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()};
  }
  static std::map<std::string, double> paces_of(const std::vector<sim::NodeGroup>& nodes) {
    std::map<std::string, double> out;
    for (const auto& group : nodes) out[group.type] = group.traits.speed_factor;
    return out;
  }
  // How far the simulated clock is behind the real one, which moves on while events are carried out.
  Seconds behind() {
    const auto moment = std::chrono::steady_clock::now();
    due_ += std::chrono::duration<double>(moment - looked_).count() * time_factor_;
    looked_ = moment;
    if (begin_.value == 0) begin_ = world_.now();
    return {std::max(0.0, (begin_ + Seconds{due_} - world_.now()).value)};
  }

  sim::DeclaredPrograms programs_;
  sim::World world_;
  double time_factor_, due_ = 0;
  Seconds begin_{};
  platform::Descriptor wake_;
  std::chrono::steady_clock::time_point looked_;
};

// The cores and memory of a node are its processors'; the first GPU type is its accelerator.
struct NodeSize {
  Resources capacity{0, 0, 1.0};
  NodeTraits traits{};
  double a_core = 0;  // arithmetic a second
};

NodeSize size_of(const spec::Cluster& cluster, const spec::NodeType& type) {
  NodeSize out;
  double idle = 0, busy = 0;
  for (const auto& part : type.devices) {
    const auto* device = cluster.device(part.device);
    idle += device->idle_watts * part.count;
    busy += device->max_watts * part.count;
    if (device->gpu) {
      out.capacity.gpus += part.count;
      if (out.traits.accelerator.empty()) out.traits.accelerator = device->name;
      continue;
    }
    out.capacity.cores += device->cores * part.count;
    out.capacity.memory += device->memory * part.count;
    out.traits.architecture = device->name;
    out.a_core = std::max(out.a_core, device->clock * device->flops_a_cycle * device->efficiency);
  }
  if (out.capacity.cores == 0)
    throw UserError(fmt::format("nodes of type {} have no processor: jobs need cores", type.name));
  if (busy > 0) out.traits.idle = Watts{idle}, out.traits.busy = Watts{busy};
  return out;
}

struct SizedGroup {
  std::string type;
  int count = 1;
  NodeSize size{};
};

// Speed factor 1 is the fastest core of the cluster.
std::vector<SizedGroup> sized(const spec::Cluster& cluster) {
  std::vector<SizedGroup> out;
  double fastest = 0;
  for (const auto& group : cluster.nodes)
    for (const auto& type : cluster.types)
      if (type.name == group.type) {
        out.push_back({type.name, group.count, size_of(cluster, type)});
        fastest = std::max(fastest, out.back().size.a_core);
      }
  for (auto& group : out) {
    group.size.traits.speed_factor = fastest > 0 ? group.size.a_core / fastest : 1;
    group.size.traits.bandwidth = cluster.network.bandwidth;
  }
  return out;
}

// One of its type is called like it, several are numbered.
std::string node_name(const std::string& type, int count, int index) {
  return count == 1 ? type : fmt::format("{}-{}", type, index + 1);
}

WatchedNode whole(const platform::Topology& topology) {
  WatchedNode out{.memory = topology.memory};
  for (const auto& cpu : topology.cpus) out.cpus.push_back(cpu.id);
  return out;
}

std::unique_ptr<measure::TaskSensor> sensor_for(const spec::EnergySpec& energy) {
  measure::SensorOptions sensing{.energy = energy};
  sensing.around.cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return std::make_unique<measure::TaskSensor>(sensing);
}

void offer_gpus(const WorldSetup& setup, HostedWorld& hosted, local::LocalOptions& options,
                std::shared_ptr<platform::Nvml> opened) {
  if (!setup.here.gpus) return;
  hosted.gpus = local::MachineGpus::open({.guardian = setup.guardian,
                                          .log = setup.folder / "guardian.log",
                                          .opened = std::move(opened)});
  if (!hosted.gpus) return;
  if (setup.here.asked)
    hosted.gpus->offer(options, *setup.here.asked);
  else
    hosted.gpus->offer_to_all(options);
}

HostedWorld local_world(const WorldSetup& setup) {
  local::LocalOptions options{.run = setup.run, .folder = setup.folder};
  if (!setup.trainer.empty()) options.trainer = setup.trainer;
  // Of a run of its own: a server would have templates of all it ever ran.
  const auto keeper = keeper_program();
  if (setup.here.asked && setup.here.lanes == 1 && keeper.is_absolute()) options.keeper = keeper;
  options.output_each = setup.here.output_each;
  options.waits_for_space = setup.here.waits_for_space;
  options.lanes = setup.here.lanes;
  options.separation = setup.here.separation;
  options.separation.programs = setup.programs;
  if (!setup.programs.empty()) {  // so that scripts find `tandem tell`
    const char* path = ::getenv("PATH");
    options.environment["PATH"] = (path && *path ? std::string(path) + ":" : "") + setup.programs.string();
  }
  HostedWorld out;
  std::shared_ptr<platform::Nvml> nvml;
  if (setup.here.sensor) {
    auto sensor = sensor_for(setup.here.energy);
    if (setup.here.asked) options.traits.busy = sensor->most_power(setup.here.asked->gpus);
    options.sensor = sensor.get();
    nvml = sensor->nvml();
    out.sensor = std::move(sensor);
  }
  offer_gpus(setup, out, options, std::move(nvml));
  if (!setup.nodes.empty())
    options.nodes = local_nodes(spec::load_cluster(setup.nodes), options.topology, options.topology.memory,
                                options.gpus.size());
  std::vector<WatchedNode> watched;
  for (const auto& node : options.nodes) watched.push_back({node.cpus, node.memory});
  if (watched.empty()) watched.push_back(whole(options.topology));
  auto world = std::make_unique<local::LocalWorld>(std::move(options));
  out.interrupt = [world = world.get()] { world->interrupt(); };
  out.world = std::move(world);
  if (setup.here.watched)
    out.world = std::make_unique<WatchedWorld>(std::move(out.world), NodeWatch(std::move(watched)));
  return out;
}

// A world whose nodes are known by name elsewhere: what is stated of them there is added when they join.
class DescribedWorld final : public control::World {
 public:
  struct Stated {
    std::string type;
    NodeTraits traits;
  };
  DescribedWorld(std::unique_ptr<control::World> world, std::map<std::string, Stated> stated)
      : world_(std::move(world)), stated_(std::move(stated)) {}

  control::Capabilities capabilities() const override { return world_->capabilities(); }
  Seconds now() override { return world_->now(); }
  void carry_out(const Decision& decision, const View& view) override { world_->carry_out(decision, view); }
  std::vector<NodeJoined> nodes() override {
    auto out = world_->nodes();
    for (auto& node : out) describe(node);
    return out;
  }
  std::vector<Event> wait(Seconds at_most) override { return described(world_->wait(at_most)); }
  std::vector<Event> reconcile(const View& view) override { return described(world_->reconcile(view)); }
  void out_of_space() override { world_->out_of_space(); }

 private:
  void describe(NodeJoined& node) const {
    const auto found = stated_.find(node.name);
    if (found != stated_.end()) node.type = found->second.type, node.traits = found->second.traits;
  }
  std::vector<Event> described(std::vector<Event> events) const {
    for (auto& event : events)
      if (auto* node = std::get_if<NodeJoined>(&event.body)) describe(*node);
    return events;
  }

  std::unique_ptr<control::World> world_;
  std::map<std::string, Stated> stated_;
};

HostedWorld slurm_world(const WorldSetup& setup) {
  slurm::SlurmOptions options{.run = setup.run, .folder = setup.folder, .trainer = setup.trainer};
  options.agent = (setup.programs / "tandem-slurm-agent").string();
  options.site = {.partition = setup.slurm.partition,
                  .account = setup.slurm.account,
                  .qos = setup.slurm.qos,
                  .constraint = setup.slurm.constraint};
  options.site.time = setup.slurm.time;
  auto world = std::make_unique<slurm::SlurmWorld>(std::move(options));
  HostedWorld out;
  out.interrupt = [world = world.get()] { world->interrupt(); };
  out.world = std::move(world);
  if (setup.nodes.empty()) return out;
  std::map<std::string, DescribedWorld::Stated> stated;
  for (const auto& group : simulated_nodes(spec::load_cluster(setup.nodes)))
    stated[group.name] = {group.type, group.traits};
  out.world = std::make_unique<DescribedWorld>(std::move(out.world), std::move(stated));
  return out;
}

HostedWorld simulated_world(const WorldSetup& setup) {
  const auto cluster = spec::load_cluster(setup.nodes.empty() ? "heats" : setup.nodes);
  auto nodes = simulated_nodes(cluster);
  for (auto& group : nodes)  // nobody else is there
    group.background.push_back({Seconds{0}, {0.0, 0.0, 0.0, 0.0, 0.0, Seconds{0}}});
  auto world = std::make_unique<PacedWorld>(std::move(nodes), setup.time_factor);
  HostedWorld out;
  out.interrupt = [world = world.get()] { world->interrupt(); };
  out.world = std::move(world);
  return out;
}

}  // namespace

std::vector<local::LocalNode> local_nodes(const spec::Cluster& cluster, const platform::Topology& topology,
                                          Bytes memory, std::size_t gpus) {
  std::vector<local::LocalNode> out;
  std::size_t next = 0, next_gpu = 0;
  Bytes used = 0;
  for (const auto& [type, count, size] : sized(cluster)) {
    if (static_cast<std::size_t>(size.capacity.cores) > topology.cpus.size())
      throw UserError(fmt::format(
          "a node of type {} has {} cores, but this machine has {}: describe smaller nodes for it", type,
          size.capacity.cores, topology.cpus.size()));
    for (int i = 0; i < count; ++i) {
      local::LocalNode node{.name = node_name(type, count, i),
                            .type = type,
                            .memory = size.capacity.memory,
                            .speed = size.traits.speed_factor,
                            .traits = size.traits};
      for (int core = 0; core < size.capacity.cores; ++core)
        node.cpus.push_back(topology.cpus[next++ % topology.cpus.size()].id);
      for (int gpu = 0; gpu < size.capacity.gpus; ++gpu) node.gpus.push_back(next_gpu++);
      used += node.memory;
      out.push_back(std::move(node));
    }
  }
  if (used > memory)
    throw UserError(fmt::format("the nodes have {} of memory together, this machine {}: give them less",
                                text_bytes(used), text_bytes(memory)));
  if (next_gpu > gpus)
    throw UserError(
        fmt::format("the nodes have {} GPUs together, this machine {}: give them fewer "
                    "(`tandem doctor` shows those that can be used)",
                    next_gpu, gpus));
  return out;
}

std::vector<sim::NodeGroup> simulated_nodes(const spec::Cluster& cluster) {
  std::vector<sim::NodeGroup> out;
  for (const auto& [type, count, size] : sized(cluster))
    for (int i = 0; i < count; ++i) {
      sim::NodeGroup group{
          .name = node_name(type, count, i), .type = type, .capacity = size.capacity, .traits = size.traits};
      if (size.traits.idle) group.power = sim::PowerModel{*size.traits.idle, *size.traits.busy};
      out.push_back(std::move(group));
    }
  return out;
}

namespace {

struct WorldKind {
  ChoiceEntry entry;
  control::Capabilities can;
  HostedWorld (*make)(const WorldSetup&);
};

const std::vector<WorldKind>& world_kinds() {
  static const std::vector<WorldKind> table = {
      {{"local", "this machine, whole or split into --nodes"}, local::kLocalCapabilities, &local_world},
      {{"slurm",
        "a Slurm cluster, as its user; --nodes may state the power and speed factor of nodes by name"},
       slurm::kSlurmCapabilities,
       &slurm_world},
      {{"sim", "a simulated cluster (--nodes) whose clock follows the real one (--time-factor)"},
       sim::kSimulatedCapabilities,
       &simulated_world},
  };
  return table;
}

const WorldKind& kind_called(const std::string& world) {
  for (const auto& kind : world_kinds())
    if (kind.entry.name == world) return kind;
  std::vector<std::string> names;
  for (const auto& kind : world_kinds()) names.push_back(kind.entry.name);
  throw UserError(fmt::format("there is no world '{}'{}; there are: {}", printable(world, 60),
                              did_you_mean(world, names), join(names)));
}

}  // namespace

const std::vector<ChoiceEntry>& worlds() {
  static const auto table = [] {
    std::vector<ChoiceEntry> out;
    for (const auto& kind : world_kinds()) out.push_back(kind.entry);
    return out;
  }();
  return table;
}

control::Capabilities capabilities_of(const std::string& world) {
  return kind_called(world).can;
}

HostedWorld make_world(const WorldSetup& setup) {
  return kind_called(setup.world).make(setup);
}

HostedWorld make_scratch_world(const std::filesystem::path& folder,
                               const std::optional<spec::EnergySpec>& energy) {
  WorldSetup setup{.run = folder.filename(), .folder = folder};
  setup.here = {.sensor = energy.has_value(),
                .energy = energy.value_or(spec::EnergySpec{}),
                .gpus = false,
                .output_each = false,
                .watched = false,
                .waits_for_space = false};
  return make_world(setup);
}

}  // namespace tandem::app
