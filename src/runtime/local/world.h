// The world that is this machine: programs in process groups of their own, on exactly the cores, memory and
// CPU speed they were granted.
//
// One thread, no polling: it sleeps in epoll on the programs' sockets, their pidfds and the next deadline.
// What it cannot grant it refuses with a reason; it never hands out a core or a byte twice. Mechanisms, best
// first:
//   cores   sched_setaffinity over every thread, CPUs chosen by topology
//   memory  cgroup v1 or v2, else RLIMIT_DATA of each process
//   limits.processes  cgroup v1 or v2, else not limited
//   speed   cpufreq, else cgroup CPU quota, else refused
//   GPUs    CUDA_VISIBLE_DEVICES with the names of its own, or of none; power and clocks by NVML
//   (GpuSettings)
// A gang is one process a node: rank 0 speaks, and its end is not the attempt's before all others ended too.
// If one of them ends badly, the others are ended and the attempt has failed, once. Gangs are not measured: a
// sensor follows one process.
// A program that sends no report for its limits.stall, breaks the protocol or outlives its Stop by `grace` is
// ended with its whole group. Of what programs say, each is heard for one piece of kHeardATurn bytes in a turn,
// so that none keeps the others, deadlines or a server waiting. While the run's disk is full all are ended.
// The machine may be split into nodes (LocalNode), to try a cluster's policies.
//
// Lanes: for experiments that ask how jobs bear each other, the machine may be several nodes that each have
// all of its CPUs. Tasks then share cores on purpose, and each sits on the CPUs that fewest others sit on;
// memory is still handed out once.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/dispatch.h"
#include "control/ledger.h"
#include "platform/cgroup.h"
#include "platform/cpufreq.h"
#include "platform/topology.h"
#include "runtime/common/clock.h"
#include "runtime/common/event_queue.h"
#include "runtime/common/launching.h"
#include "runtime/common/output.h"
#include "runtime/common/run_folder.h"
#include "runtime/local/attempt.h"
#include "runtime/local/gpu_allocator.h"
#include "runtime/local/templates.h"

namespace tandem::local {

// A part of this machine that is a node of its own.
struct LocalNode {
  std::string name, type;
  std::vector<int> cpus;  // nodes may share some: each keeps its own books
  Bytes memory = 0;
  double speed = 1;  // of its CPUs, as a share of the machine's
  NodeTraits traits{};
  std::vector<std::size_t> gpus{};  // of LocalOptions::gpus, its own
};

struct LocalOptions {
  std::string run;                                 // its id: marks processes and cgroups
  std::filesystem::path folder;                    // the run's: output.log and task-N/ go here
  std::string trainer = "tandem-trainer";          // runs built-in models
  std::filesystem::path keeper{};                  // the program tandem-keeper; none: nothing is preloaded
  std::map<std::string, std::string> environment;  // for every program
  control::Sensor* sensor = nullptr;
  Seconds grace{5};  // between asking a program to end and making it
  Seconds dying{10};  // of those ended for a full disk: how long the kernel may take over all of them
  platform::Topology topology = platform::Topology::detect();
  platform::CgroupSupport cgroups = platform::CgroupSupport::detect();
  std::filesystem::path cpufreq = "/sys/devices/system/cpu";
  std::vector<LocalNode> nodes{};  // none: the whole machine is one
  NodeTraits traits{};             // of that one
  int lanes = 1;                   // without `nodes`: so many nodes, each of them the whole machine
  // Of this machine. One node has all of them, of lanes the first; where there are `nodes`, each its own.
  // Those that belong to none are nobody's, and seen by nobody.
  std::vector<LocalGpu> gpus{};
  // Sets a GPU's power limit and clock, 0: as they were found; what went wrong, or "". Nothing may be set
  // where there is no such function: what a task asks for is then refused.
  std::function<std::string(std::size_t gpu, Watts, double hertz)> set_gpu{};
  std::function<std::string()> check_gpus{};  // about once a second while some are set: "" or what went wrong
  runtime::SliceLengths slices{};
  runtime::Separation separation{};
  bool output_each = false;  // each task's output goes to its own folder, not to the run's
  // While the disk is full the nodes are down, and tasks wait; otherwise what is started fails for it.
  bool waits_for_space = false;
};

// Of any world on this machine; whether there are GPUs, a sensor or a watch over nodes depends on how it is
// made.
inline constexpr control::Capabilities kLocalCapabilities{.here = true,
                                                          .output = true,
                                                          .energy = true,
                                                          .load = true,
                                                          .resizes_at_work = true,
                                                          .latency = Seconds{0.02}};

class LocalWorld final : public control::Dispatching<Attempted> {
 public:
  explicit LocalWorld(LocalOptions);
  LocalWorld(const LocalWorld&) = delete;
  ~LocalWorld() override;  // ends everything it started

  control::Capabilities capabilities() const override;
  Seconds now() override;
  std::vector<NodeJoined> nodes() override;
  std::vector<Event> wait(Seconds at_most) override;
  std::vector<Event> reconcile(const View&) override;
  void out_of_space() override;

  // Makes a waiting `wait` return; safe in a signal handler and from other threads.
  void interrupt();

 private:
  struct Node {
    std::set<int> free_cpus;  // as many as the ledger says
  };

  // decisions
  Attempted* find(TaskId, Attempt) override;
  void start(DecisionId, const Start&, const View&) override;
  void resize(DecisionId, Attempted&, const Resize&, const View&) override;
  void go_on(Attempted&, const Continue&, const View&) override;
  void hold(Attempted&) override;
  void lend_cores(Attempted& a) override { hold(a); }
  void stop(Attempted&) override;
  void retune(DecisionId, Attempted&, const Retune&) override;
  Checkpoints checkpoints(Attempted& a) override {
    return {a.talk.keeps_checkpoints, a.talk.checkpoint_asked};
  }
  void wake_at(Seconds at, DecisionId id) override { events_.wake_at(at, id); }
  void refuse(DecisionId, const std::string& reason) override;
  void answer(Attempted&);

  // processes and the CPUs they run on (world_processes.cpp)
  std::string take_room(Attempted&, const Start&);  // why not
  std::vector<int> quietest_cpus(const Attempted&, const Node&, int count) const;
  std::optional<platform::Credentials> user_of(const Owner&) const;  // to become; none: it is us
  void launch(Attempted&, const spec::TrainJob&);
  void launch_rank(Attempted&, std::size_t rank, platform::Launch, const spec::TrainJob&);
  platform::Child begin_process(Attempted&, platform::Launch, const spec::Program&);
  std::string open_gates(Attempted&, const spec::TrainJob&);  // what went wrong
  void apply_limits(RankProcess&, const Resources&);
  std::vector<std::vector<int>> cpus_for(const Attempted&, int cores) const;
  void move_to(Attempted&, const std::vector<std::vector<int>>& cpus, const Resources& now);
  void restore_clock(RankProcess&);
  // GPUs (world_gpus.cpp)
  std::string take_gpus(Attempted&, const Resources&);  // why not
  void set_gpus(const Attempted&, const Resources& former,
                const Resources&);  // all of them, or SystemError and none
  void release_gpus(Attempted&);
  void look_after_gpus();
  std::map<std::string, std::string> gpu_environment(const Attempted&) const;
  void kill_group(Attempted&);
  bool rank_ended(Attempted&, std::size_t rank);  // true: that was the last of them
  void release(Attempted&);
  std::vector<pid_t> processes_of(const RankProcess&) const;
  enum class Listen { a_turn, to_the_end };
  void heard(Attempted&, Listen);
  void heard_line(Attempted&, const std::string& line);
  void tell(Attempted&, const std::string& line);
  void fail(Attempted&, Failure, const std::string& detail);
  void refuse_line(Attempted&, const std::string& why);
  void ended(TaskId, std::size_t rank);
  void check_deadlines();
  void check_space();
  void fail_for_space(Attempted&);
  int milliseconds_until_next(Seconds at_most);
  Node& node_of(const RankProcess& process) { return nodes_[static_cast<std::size_t>(process.node)]; }
  const Node& node_of(const RankProcess& process) const {
    return nodes_[static_cast<std::size_t>(process.node)];
  }
  const LocalNode& described(const RankProcess& process) const {
    return options_.nodes[static_cast<std::size_t>(process.node)];
  }
  void happened(EventBody);
  void note(const Attempted&, const std::string& line);
  std::string mark(TaskId, Attempt) const;
  std::string cgroup_name(TaskId, Attempt, std::size_t rank) const;
  std::filesystem::path task_folder(TaskId task) const;
  std::filesystem::path output_file(TaskId) const;  // below the run's folder
  std::filesystem::path former_clocks_file() const { return options_.folder / "former-clocks.json"; }
  void restore_former_clocks();
  void remember_former_clocks();

  LocalOptions options_;
  runtime::WorldClock clock_;
  platform::CpuFrequency clocks_;
  platform::Descriptor epoll_, wake_;
  control::Ledger ledger_;
  std::vector<Node> nodes_;
  GpuAllocator gpus_;
  Seconds gpus_looked_after_{};
  std::map<TaskId, std::unique_ptr<Attempted>> attempts_;  // the live ones
  std::vector<pid_t> to_reap_;
  runtime::EventQueue events_;
  runtime::Outputs outputs_;
  Templates templates_;
  std::optional<runtime::RunFolder> space_;
  bool held_ = false;  // for want of space nothing runs, and the nodes are down
};

}  // namespace tandem::local
