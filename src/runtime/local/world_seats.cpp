// The local world's processes: what they sit on, how they are started, moved and ended.
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

std::string LocalWorld::take_seats(Attempted& a, const Start& d) {
  std::vector<NodeId> all{d.node};
  all.insert(all.end(), d.more.begin(), d.more.end());
  if (all.size() > kMostRanks) return fmt::format("a gang has {} nodes at most", kMostRanks);
  for (const NodeId id : all) {
    if (id < 0 || static_cast<std::size_t>(id) >= nodes_.size())
      return fmt::format("there is no node {} here", id);
    if (std::count(all.begin(), all.end(), id) > 1)
      return fmt::format("node {} is named twice: a gang has one process a node", id);
    const Node& node = nodes_[static_cast<std::size_t>(id)];
    Seat& seat = a.seats.emplace_back();
    seat.node = id;
    seat.cpus = options_.lanes > 1 ? quietest_cpus(a, node, d.granted.cores)
                                   : choose_cpus(options_.topology, node.free_cpus, d.granted.cores);
    const Bytes before = options_.lanes > 1 ? d.granted.memory * static_cast<Bytes>(a.seats.size() - 1) : 0;
    const Bytes free_memory = free_memory_for(seat) - before;
    if (seat.cpus.empty() || d.granted.memory > free_memory)
      return fmt::format("{} asked for, but only {} cores and {} are free", text(d.granted),
                         node.free_cpus.size(), text_bytes(free_memory));
  }
  if (const std::string why = take_gpus(a, d.granted); !why.empty()) return why;
  for (const Seat& seat : a.seats) {
    for (int cpu : seat.cpus) node_of(seat).free_cpus.erase(cpu);
    free_memory_for(seat) -= d.granted.memory;
  }
  a.counted = true;
  return "";
}

// Of the lane's CPUs those that fewest tasks of all lanes sit on; among equals those that lie close together.
std::vector<int> LocalWorld::quietest_cpus(const Attempted& a, const Node& lane, int count) const {
  std::map<int, int> taken;
  const auto count_seats = [&](const Attempted& other) {
    for (const Seat& seat : other.seats)
      for (const int cpu : seat.cpus) ++taken[cpu];
  };
  for (const auto& [task, other] : attempts_) count_seats(*other);
  count_seats(a);  // its ranks so far
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
  const auto folder = task_folder(a.task);
  std::filesystem::create_directories(folder);
  a.begin = {.task = fmt::format("run {}, task {}", options_.run, a.task),
             .attempt = a.number,
             .epochs = job.epochs,
             .seed = job.seed,
             .folder = folder.string(),
             .keep_checkpoints = job.keep_checkpoints,
             .hyper = job.hyper,
             .system = a.granted,
             .drop = a.drop,
             .cloned = a.cloned_at > 0};

  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_errno("making a socket");
  a.socket.reset(ends[0]);
  Descriptor theirs(ends[1]);
  ::fcntl(a.socket.get(), F_SETFL, O_NONBLOCK);
  const auto file = output_file(a.task);
  Descriptor output(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!output) throw_errno("opening " + file.string());
  a.output_from = ::lseek(output.get(), 0, SEEK_END);

  set_gpus(a, Resources{}, a.granted);
  platform::Launch launch;
  launch.arguments = job.program.built_in()
                         ? std::vector<std::string>{options_.trainer,  "train",     "--model",
                                                    job.program.model, "--dataset", job.program.dataset}
                         : job.program.command;
  launch.environment = environment_for(a);
  launch.environment.merge(gpu_environment(a));
  auto& all_cpus = launch.environment["TANDEM_CPUS"];
  for (const auto& cpu : options_.topology.cpus)
    all_cpus += (all_cpus.empty() ? "" : ",") + std::to_string(cpu.id);
  if (!::getenv("OMP_WAIT_POLICY") && cpu_pressure() > kPressed)
    launch.environment["OMP_WAIT_POLICY"] = "passive";
  launch.mark = mark(a.task, a.number);
  launch.output = output.get();
  launch.folder = job.program.folder;
  launch.data_limit = options_.cgroups.memory() ? 0 : a.granted.memory;
  const int port = a.gang() ? free_port(kHere) : 0;
  for (std::size_t rank = 0; rank < a.seats.size(); ++rank) {
    platform::Launch own = launch;
    if (a.gang()) own.environment.merge(gang_environment(rank, a.seats.size(), kHere, port));
    if (rank == 0 && !a.plain) own.environment["TANDEM_SOCKET"] = std::to_string(theirs.get());
    if (rank == 0) own.inherited = theirs.get();
    launch_rank(a, rank, std::move(own));
  }
  watch(epoll_.get(), a.socket.get(), token({a.task, 0, false}), "a program's socket");
}

void LocalWorld::launch_rank(Attempted& a, std::size_t rank, platform::Launch launch) {
  Seat& seat = a.seats[rank];
  if (options_.cgroups.any()) seat.cgroup.emplace(options_.cgroups, cgroup_name(a.task, a.number, rank));
  launch.environment["TANDEM_NODE"] = described(seat).name;
  launch.environment.insert(options_.environment.begin(), options_.environment.end());
  launch.cpus = seat.cpus;
  seat.child = platform::launch(launch);
  if (seat.cgroup) seat.cgroup->add(seat.child.pid);
  apply_limits(seat, a.granted);
  watch(epoll_.get(), seat.child.pidfd.get(), token({a.task, rank, true}), "a program");
}

std::string LocalWorld::open_gates(Attempted& a, const spec::TrainJob& job) {
  for (Seat& seat : a.seats)
    if (const int error = platform::open_gate(seat.child)) {
      const auto& program = job.program.built_in() ? options_.trainer : job.program.command.front();
      const auto& folder = job.program.folder;
      return fmt::format("{}: {}; is it installed, executable and in PATH{}?", program, std::strerror(error),
                         folder.empty() ? "" : ", and is the folder " + folder + " there");
    }
  return "";
}

// ---- limits ----

// Memory and speed; the cores are the caller's, because they must be taken from the free ones.
void LocalWorld::apply_limits(Seat& seat, const Resources& granted) {
  if (options_.cgroups.memory())
    seat.cgroup->set_memory(granted.memory);
  else
    platform::set_data_limit(platform::group_members(seat.child.pid), granted.memory);

  if (seat.clock_limited) {
    clocks_.restore(seat.cpus);
    seat.clock_limited = false;
  }
  const double speed = granted.speed * described(seat).speed;
  if (speed >= 1) {
    if (seat.cgroup) seat.cgroup->set_cpu(0);
  } else if (std::string why; clocks_.usable(seat.cpus, &why)) {
    clocks_.limit(seat.cpus, speed);
    seat.clock_limited = true;
    remember_former_clocks();
  } else if (options_.cgroups.cpu()) {
    seat.cgroup->set_cpu(speed * granted.cores);
  } else {
    throw SystemError(
        fmt::format("a speed of {:.0f} % cannot be set here: {}; {}. Leave system.speed out, or see "
                    "`tandem doctor`",
                    speed * 100, why, options_.cgroups.why_cpu));
  }
}

// For each of its processes; none where one of them cannot have so much.
std::optional<std::vector<std::vector<int>>> LocalWorld::cpus_for(const Attempted& a,
                                                                  const Resources& granted) {
  std::vector<std::vector<int>> out;
  for (const Seat& seat : a.seats) {
    const Node& node = node_of(seat);
    const std::set<int> own(seat.cpus.begin(), seat.cpus.end());
    std::set<int> available = node.free_cpus;
    available.insert(own.begin(), own.end());
    const auto now = static_cast<int>(seat.cpus.size());
    // A task that shrinks keeps some of its own CPUs, one that grows keeps them all where it can.
    out.push_back(granted.cores == now
                      ? seat.cpus
                      : choose_cpus(options_.topology, granted.cores < now ? own : available, granted.cores));
    if (out.back().empty() || granted.memory - a.granted.memory > free_memory_for(seat)) return std::nullopt;
  }
  return out;
}

// On all its nodes, or, with a SystemError, on none.
void LocalWorld::reseat(Attempted& a, const std::vector<std::vector<int>>& cpus, const Resources& granted) {
  std::vector<std::vector<int>> former;
  for (const Seat& seat : a.seats) former.push_back(seat.cpus);
  const auto sit = [&](const std::vector<std::vector<int>>& on, const Resources& with) {
    for (std::size_t rank = 0; rank < a.seats.size(); ++rank) {
      Seat& seat = a.seats[rank];
      if (seat.clock_limited) clocks_.restore(seat.cpus);
      seat.clock_limited = false;
      seat.cpus = on[rank];
      apply_limits(seat, with);
    }
  };
  try {
    sit(cpus, granted);
  } catch (const SystemError&) {
    sit(former, a.granted);
    throw;
  }
  for (std::size_t rank = 0; rank < a.seats.size(); ++rank) {
    Seat& seat = a.seats[rank];
    platform::set_affinity(processes_of(seat), seat.cpus);
    Node& node = node_of(seat);
    node.free_cpus.insert(former[rank].begin(), former[rank].end());
    for (int cpu : seat.cpus) node.free_cpus.erase(cpu);
    free_memory_for(seat) -= granted.memory - a.granted.memory;
  }
}

void LocalWorld::restore_clock(Seat& seat) {
  if (!std::exchange(seat.clock_limited, false)) return;
  clocks_.restore(seat.cpus);
  remember_former_clocks();
}

std::vector<pid_t> LocalWorld::processes_of(const Seat& seat) const {
  return seat.cgroup ? seat.cgroup->processes() : platform::group_members(seat.child.pid);
}

// ---- ending ----

void LocalWorld::kill_group(Attempted& a) {
  for (Seat& seat : a.seats) {
    if (seat.child.pid > 0 && !seat.ended) ::kill(-seat.child.pid, SIGKILL);
    if (seat.cgroup) seat.cgroup->kill_all();
  }
}

// Children that left the group carry the mark; where there are cgroups, those have ended them.
void LocalWorld::kill_marked(const Attempted& a) {
  if (a.seats.front().cgroup) return;
  for (pid_t pid : platform::marked_processes(mark(a.task, a.number))) ::kill(pid, SIGKILL);
}

// A gang's first process that ends badly decides what became of all of it.
bool LocalWorld::seat_ended(Attempted& a, std::size_t rank) {
  Seat& seat = a.seats[rank];
  siginfo_t info{};
  // Not reaped before the next wait: until then a sensor can still read its last numbers from /proc.
  constexpr int kLook = WEXITED | WNOHANG | WNOWAIT;
  if (seat.ended || ::waitid(P_PIDFD, static_cast<id_t>(seat.child.pidfd.get()), &info, kLook) != 0 ||
      info.si_pid == 0)
    return false;
  ::kill(-seat.child.pid, SIGKILL);  // what it left behind
  if (seat.cgroup) seat.cgroup->kill_all();
  seat.ended = true;
  seat.child.pidfd.reset();
  to_reap_.push_back(seat.child.pid);
  const bool follower_done = rank > 0 && info.si_code == CLD_EXITED && info.si_status == 0;
  if (!a.verdict && !follower_done) {
    const Ending ending = judge(a, info.si_code, info.si_status, seat.cgroup ? seat.cgroup->oom_kills() : 0);
    const std::string who = a.gang() ? fmt::format("rank {} on {}: ", rank, described(seat).name) : "";
    if (!ending.well) condemn(a, ending.failure, who + ending.detail);
  }
  return std::all_of(a.seats.begin(), a.seats.end(), [](const Seat& one) { return one.ended; });
}

void LocalWorld::release(Attempted& a) {
  release_gpus(a);
  for (Seat& seat : a.seats) {
    restore_clock(seat);
    if (a.counted) {
      node_of(seat).free_cpus.insert(seat.cpus.begin(), seat.cpus.end());
      free_memory_for(seat) += a.granted.memory;
    }
    seat.cgroup.reset();
  }
  a.counted = false;
}

}  // namespace tandem::local
