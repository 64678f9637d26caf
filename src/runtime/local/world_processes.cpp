// The local world's processes: the CPUs they run on, how they are started, moved and ended.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "platform/process_tree.h"
#include "runtime/common/launching.h"
#include "runtime/common/task_files.h"
#include "runtime/local/leftovers.h"
#include "runtime/local/watch.h"
#include "runtime/local/world.h"

namespace tandem::local {
namespace {

using platform::Descriptor;

constexpr const char* kHere = "127.0.0.1";
// OpenMP threads spin while they wait for each other. With CPUs to themselves that is fastest; beside other
// work two of them were 8 times slower than threads that sleep (LeNet5, one compiler on two cores). libgomp's
// spin but shortly in any case (GOMP_SPINCOUNT, which wins over this): a run's speed should not depend on
// what the last ten seconds were like. This is for other OpenMP libraries.
constexpr double kPressed = 15;

// Share of the last ten seconds in which something waited for a CPU, in percent; 0 where the kernel does not
// say.
double cpu_pressure() {
  double percent = 0;
  if (std::FILE* file = std::fopen("/proc/pressure/cpu", "re")) {
    if (std::fscanf(file, "some avg10=%lf", &percent) != 1) percent = 0;
    std::fclose(file);
  }
  return percent;
}

}  // namespace

// ---- starting ----

std::string LocalWorld::take_room(Attempted& a, const Start& d) {
  std::vector<NodeId> all{d.node};
  all.insert(all.end(), d.more.begin(), d.more.end());
  if (all.size() > kMostRanks) return fmt::format("a gang has {} nodes at most", kMostRanks);
  if (std::string why = ledger_.start(a.holds, all, d.granted); !why.empty()) return why;
  for (const NodeId id : all) {
    RankProcess& rank = a.ranks.emplace_back();
    rank.node = id;
    Node& node = node_of(rank);
    rank.cpus = options_.lanes > 1 ? quietest_cpus(a, node, d.granted.cores)
                                   : choose_cpus(options_.topology, node.free_cpus, d.granted.cores);
    for (const int cpu : rank.cpus) node.free_cpus.erase(cpu);
  }
  std::string why = take_gpus(a, d.granted);
  if (!why.empty()) release(a);
  return why;
}

// Of the lane's CPUs those that fewest tasks of all lanes sit on; among equals those that lie close together.
std::vector<int> LocalWorld::quietest_cpus(const Attempted& a, const Node& lane, int count) const {
  std::map<int, int> taken;
  const auto count_cpus = [&](const Attempted& other) {
    for (const RankProcess& rank : other.ranks)
      for (const int cpu : rank.cpus) ++taken[cpu];
  };
  for (const auto& [task, other] : attempts_) count_cpus(*other);
  count_cpus(a);  // its ranks so far
  std::map<int, std::set<int>> by_tasks;
  for (const int cpu : lane.free_cpus) by_tasks[taken[cpu]].insert(cpu);
  std::vector<int> chosen;
  for (const auto& [tasks, cpus] : by_tasks) {
    const int left = count - static_cast<int>(chosen.size());
    const auto more = choose_cpus(options_.topology, cpus, std::min(left, static_cast<int>(cpus.size())));
    chosen.insert(chosen.end(), more.begin(), more.end());
  }
  std::sort(chosen.begin(), chosen.end());
  return static_cast<int>(chosen.size()) == count ? chosen : std::vector<int>();
}

void LocalWorld::launch(Attempted& a, const spec::TrainJob& job) {
  runtime::make_task_folder(task_folder(a.task), a.as);
  Descriptor theirs;
  if (!a.talk.plain) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_errno("making a socket");
    a.socket.reset(ends[0]);
    theirs.reset(ends[1]);
    ::fcntl(a.socket.get(), F_SETFL, O_NONBLOCK);
  }
  const Descriptor output =
      outputs_.begin(a.task, options_.folder, output_file(a.task), job.limits.output, a.as);
  // A program may open its /dev/stdout anew, and the pipe is ours.
  if (a.as && ::fchown(output.get(), a.as->user, a.as->group) != 0) throw_errno("giving a pipe to " + a.as->name);

  set_gpus(a, Resources{}, a.granted());
  platform::Launch launch;
  launch.arguments = runtime::command_of(job.program, options_.trainer);
  launch.as = a.as;
  launch.umask = options_.separation.umask;
  launch.base = runtime::base_environment(options_.separation, a.as);
  if (const auto& separation = options_.separation; !separation.sandbox.empty()) {
    std::vector<std::filesystem::path> kept{job.program.folder, separation.programs};
    for (const char* name : {"TANDEM_DATA", "TANDEM_CACHE"})
      if (const char* folder = ::getenv(name)) kept.emplace_back(folder);
    launch.sandbox.emplace(separation.sandbox, task_folder(a.task), std::move(kept));
  }
  launch.environment = runtime::environment_for(a.talk, launch.base);
  launch.environment.merge(gpu_environment(a));
  auto& all_cpus = launch.environment["TANDEM_CPUS"];
  for (const auto& cpu : options_.topology.cpus)
    all_cpus += (all_cpus.empty() ? "" : ",") + std::to_string(cpu.id);
  if (!runtime::is_set(launch.base, "OMP_WAIT_POLICY") && cpu_pressure() > kPressed)
    launch.environment["OMP_WAIT_POLICY"] = "passive";
  launch.mark = mark(a.task, a.number);
  launch.output = output.get();
  launch.folder = job.program.folder;
  // The server's own folder may be one that is kept from them.
  if (launch.folder.empty() && (launch.as || launch.sandbox)) launch.folder = task_folder(a.task).string();
  launch.data_limit = options_.cgroups.memory() ? 0 : a.granted().memory;
  const int port = a.gang() ? runtime::free_port(kHere) : 0;
  for (std::size_t rank = 0; rank < a.ranks.size(); ++rank) {
    platform::Launch own = launch;
    if (a.gang()) own.environment.merge(runtime::gang_environment(rank, a.ranks.size(), kHere, port));
    if (rank == 0 && theirs) {
      own.environment["TANDEM_SOCKET"] = std::to_string(theirs.get());
      own.inherited = theirs.get();
    }
    launch_rank(a, rank, std::move(own), job);
  }
  if (a.socket) watch(epoll_.get(), a.socket.get(), token({a.task, 0, false}), "a program's socket");
}

void LocalWorld::launch_rank(Attempted& a, std::size_t rank, platform::Launch launch, const spec::TrainJob& job) {
  RankProcess& process = a.ranks[rank];
  const auto name = cgroup_name(a.task, a.number, rank);
  const auto cgroups = options_.cgroups.folders_of(name);
  launch.tag = platform::new_tag();
  remember_process(options_.folder, name, launch.mark, launch.tag, cgroups, process.child);
  if (options_.cgroups.any()) process.cgroup.emplace(options_.cgroups, name);
  launch.environment["TANDEM_NODE"] = described(process).name;
  for (const auto& [variable, value] : options_.environment)
    if (!a.as || variable != "PATH") launch.environment.emplace(variable, value);  // a user's PATH is its own
  launch.cpus = process.cpus;
  launch.kept = true;
  const std::string mark = launch.mark;
  const auto tag = launch.tag;
  process.child = begin_process(a, std::move(launch), job.program);
  remember_process(options_.folder, name, mark, tag, cgroups, process.child);
  if (process.cgroup) {
    process.cgroup->set_processes(job.limits.processes);
    process.cgroup->add(process.child.pid);
  }
  apply_limits(process, a.granted());
  watch(epoll_.get(), process.child.pidfd.get(), token({a.task, rank, true}), "a program");
}

// By the template of its kind, where that has one, else by itself. What a template imports must not have seen GPUs. Jobs
// that start one program would begin a template for nothing, and those that measure shall measure the same each time.
platform::Child LocalWorld::begin_process(Attempted& a, platform::Launch launch, const spec::Program& program) {
  if (a.one_of_many && !a.gang() && options_.gpus.empty()) a.kind = templates_.kind_of(launch, program);
  if (a.kind.empty()) return platform::launch(launch);
  if (auto forked = templates_.fork(a.kind, launch)) {
    a.preloaded = true;
    return std::move(*forked);
  }
  if (const auto why = templates_.news_of(a.kind); !why.empty()) note(a, "not preloaded: " + why);
  if (templates_.wants_to_learn(a.kind)) launch.environment["TANDEM_PRELOAD"] = "learn";
  return platform::launch(launch);
}

std::string LocalWorld::open_gates(Attempted& a, const spec::TrainJob& job) {
  for (RankProcess& rank : a.ranks)
    if (const int error = platform::open_gate(rank.child)) {
      const std::string why = std::strerror(error), user = a.as ? a.as->name : "";
      const std::string who = a.as ? " as user " + user : "";
      switch (rank.child.failed) {
        case platform::Child::Step::user: return fmt::format("it cannot run as user {}: {}", user, why);
        case platform::Child::Step::sandbox:
          return fmt::format("its sandbox cannot be made: {}; see `tandem doctor`", why);
        case platform::Child::Step::folder:
          return fmt::format("the folder {} cannot be entered{}: {}", job.program.folder, who, why);
        case platform::Child::Step::program: break;
      }
      return fmt::format("{}: {}; is it installed, executable{} and in PATH?",
                         job.program.built_in() ? options_.trainer : job.program.command.front(), why, who);
    }
  return "";
}

// ---- limits ----

// Memory and speed; the cores are the caller's, because they must be taken from the free ones.
void LocalWorld::apply_limits(RankProcess& process, const Resources& granted) {
  if (options_.cgroups.memory())
    process.cgroup->set_memory(granted.memory);
  else
    platform::set_data_limit(platform::group_members(process.child.pid), granted.memory);

  if (process.clock_limited) {
    clocks_.restore(process.cpus);
    process.clock_limited = false;
  }
  const double speed = granted.speed * described(process).speed;
  if (speed >= 1) {
    if (process.cgroup) process.cgroup->set_cpu(0);
  } else if (std::string why; clocks_.usable(process.cpus, &why)) {
    clocks_.limit(process.cpus, speed);
    process.clock_limited = true;
    remember_former_clocks();
  } else if (options_.cgroups.cpu()) {
    process.cgroup->set_cpu(speed * granted.cores);
  } else {
    throw SystemError(
        fmt::format("a speed of {:.0f} % cannot be set here: {}; {}. Leave system.speed out, or see "
                    "`tandem doctor`",
                    speed * 100, why, options_.cgroups.why_cpu));
  }
}

// For each of its processes, once the ledger has granted so many.
std::vector<std::vector<int>> LocalWorld::cpus_for(const Attempted& a, int cores) const {
  std::vector<std::vector<int>> out;
  for (const RankProcess& rank : a.ranks) {
    const std::set<int> own(rank.cpus.begin(), rank.cpus.end());
    std::set<int> available = node_of(rank).free_cpus;
    available.insert(own.begin(), own.end());
    const auto now = static_cast<int>(rank.cpus.size());
    // A task that shrinks keeps some of its own CPUs, one that grows keeps them all where it can.
    out.push_back(cores == now ? rank.cpus
                               : choose_cpus(options_.topology, cores < now ? own : available, cores));
  }
  return out;
}

// On all its nodes, or, with a SystemError, on none.
void LocalWorld::move_to(Attempted& a, const std::vector<std::vector<int>>& cpus, const Resources& now) {
  const Resources before = a.talk.begin.system;
  std::vector<std::vector<int>> former;
  for (const RankProcess& rank : a.ranks) former.push_back(rank.cpus);
  const auto use = [&](const std::vector<std::vector<int>>& on, const Resources& with) {
    for (std::size_t i = 0; i < a.ranks.size(); ++i) {
      RankProcess& rank = a.ranks[i];
      if (rank.clock_limited) clocks_.restore(rank.cpus);
      rank.clock_limited = false;
      rank.cpus = on[i];
      apply_limits(rank, with);
    }
  };
  try {
    use(cpus, now);
  } catch (const SystemError&) {
    use(former, before);
    throw;
  }
  for (std::size_t i = 0; i < a.ranks.size(); ++i) {
    RankProcess& rank = a.ranks[i];
    platform::set_affinity(processes_of(rank), rank.cpus);
    Node& node = node_of(rank);
    node.free_cpus.insert(former[i].begin(), former[i].end());
    for (int cpu : rank.cpus) node.free_cpus.erase(cpu);
  }
}

void LocalWorld::restore_clock(RankProcess& process) {
  if (!std::exchange(process.clock_limited, false)) return;
  clocks_.restore(process.cpus);
  remember_former_clocks();
}

std::vector<pid_t> LocalWorld::processes_of(const RankProcess& process) const {
  return process.cgroup ? process.cgroup->processes() : platform::group_members(process.child.pid);
}

// ---- ending ----

void LocalWorld::kill_group(Attempted& a) {
  for (RankProcess& rank : a.ranks) {
    if (rank.child.pid > 0 && !rank.ended) {
      ::kill(-rank.child.pid, SIGKILL);
      ::kill(rank.child.pid, SIGKILL);  // it may have left its group
      if (rank.child.keeper > 0) platform::end_descendants(rank.child.keeper);
    }
    if (rank.cgroup) rank.cgroup->kill_all();
  }
}

// A gang's first process that ends badly decides what became of all of it.
bool LocalWorld::rank_ended(Attempted& a, std::size_t rank) {
  RankProcess& process = a.ranks[rank];
  // Not reaped before the next wait: until then a sensor can still read its last numbers from /proc.
  const auto ending = process.ended ? std::nullopt : platform::look_at_end(process.child);
  if (!ending) return false;
  if (process.cgroup) process.cgroup->kill_all();
  process.ended = true;
  process.child.pidfd.reset();
  to_reap_.push_back(process.child.pid);
  const bool afterwards = a.told_to_stop && a.talk.complete() && !a.interrupted && rank == 0;
  if (!a.verdict && (!a.told_to_stop || afterwards)) {
    const runtime::Exit exit{ending->signalled, ending->status,
                             process.cgroup ? process.cgroup->oom_kills() : 0, a.granted().memory};
    const auto judgement = rank == 0 ? judge(exit, a.talk) : judge(exit);
    const std::string who = a.gang() ? fmt::format("rank {} on {}: ", rank, described(process).name) : "";
    if (!judgement.well && afterwards)
      a.after.emplace(judgement.failure, who + judgement.detail);
    else if (!judgement.well)
      fail(a, judgement.failure, who + judgement.detail);
  }
  return std::all_of(a.ranks.begin(), a.ranks.end(), [](const RankProcess& one) { return one.ended; });
}

void LocalWorld::release(Attempted& a) {
  release_gpus(a);
  for (RankProcess& rank : a.ranks) {
    restore_clock(rank);
    node_of(rank).free_cpus.insert(rank.cpus.begin(), rank.cpus.end());
    rank.cpus.clear();
    rank.cgroup.reset();
  }
  for (std::size_t rank = 0; rank < a.ranks.size(); ++rank)
    forget_process(options_.folder, cgroup_name(a.task, a.number, rank));
  ledger_.end(a.holds);
}

}  // namespace tandem::local
