#include "runtime/local/world.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "runtime/local/watch.h"

namespace tandem::local {
namespace {

using platform::Descriptor;
using std::chrono::steady_clock;

constexpr int kSocketBuffer = 1 << 16;

Seconds since(Moment moment) {
  return {std::chrono::duration<double>(steady_clock::now() - moment).count()};
}

Bytes usable_memory(const platform::Topology& topology, const platform::CgroupSupport& cgroups) {
  Bytes limit = topology.memory;
  for (const char* name : {"memory.max", "memory.limit_in_bytes"}) {
    Bytes own = 0;
    if (std::ifstream in(cgroups.memory_parent / name); in >> own && own > 0) limit = std::min(limit, own);
  }
  return limit;
}

LocalNode whole_machine(const LocalOptions& options) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  LocalNode out{.name = host.data(),
                .memory = usable_memory(options.topology, options.cgroups),
                .traits = options.traits};
  for (const auto& cpu : options.topology.cpus) out.cpus.push_back(cpu.id);
  out.type = fmt::format("{}, {} cores", options.topology.model, out.cpus.size());
  return out;
}

// One, where nobody shall share anything.
std::vector<LocalNode> lanes_of(const LocalOptions& options) {
  std::vector<LocalNode> out{whole_machine(options)};
  for (int lane = 2; lane <= options.lanes; ++lane) {
    out.push_back(out.front());
    out.back().name += fmt::format("-lane-{}", lane);
  }
  out.front().type = type_with(out.front().type, options.gpus);
  out.front().gpus.resize(options.gpus.size());
  std::iota(out.front().gpus.begin(), out.front().gpus.end(), 0U);
  return out;
}

}  // namespace

LocalWorld::LocalWorld(LocalOptions options)
    : options_(std::move(options)), clocks_(options_.cpufreq), gpus_(options_.gpus) {
  std::filesystem::create_directories(options_.folder);
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll_ || !wake_) throw_errno("making an event queue");
  watch(epoll_.get(), wake_.get(), kWakeToken, "its own calls");
  if (!options_.nodes.empty()) options_.lanes = 1;
  if (options_.nodes.empty()) options_.nodes = lanes_of(options_);
  for (const auto& node : options_.nodes)
    nodes_.push_back({std::set<int>(node.cpus.begin(), node.cpus.end()), node.memory});
}

LocalWorld::~LocalWorld() {
  for (pid_t pid : to_reap_) ::waitpid(pid, nullptr, 0);
  for (auto& [task, attempt] : attempts_) {
    kill_group(*attempt);
    for (const Seat& seat : attempt->seats)
      if (!seat.ended) ::waitpid(seat.child.pid, nullptr, 0);
    release(*attempt);
  }
}

Seconds LocalWorld::now() {
  return {std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

std::vector<NodeJoined> LocalWorld::nodes() {
  std::vector<NodeJoined> out;
  for (const auto& node : options_.nodes) {
    auto& joined = out.emplace_back(NodeJoined{static_cast<NodeId>(out.size()),
                                               node.name,
                                               {static_cast<int>(node.cpus.size()), node.memory, 1.0},
                                               node.type,
                                               node.traits});
    std::vector<LocalGpu> own;
    for (const std::size_t gpu : node.gpus) own.push_back(gpus_.described(gpu));
    add_gpus(own, joined.capacity);
    if (!own.empty() && joined.traits.accelerator.empty()) joined.traits.accelerator = own.front().name;
  }
  return out;
}

// ---- decisions ----

struct LocalWorld::Carry {
  LocalWorld& world;
  const View& view;
  DecisionId id;

  // A command for an attempt that is over is refused, unless its end has already answered it.
  void refuse_late() const {
    if (view.open.contains(id)) world.refuse(id, "that attempt is over");
  }

  void operator()(const Start& d) const { world.start(id, d, view); }
  void operator()(const Resize& d) const {
    if (world.find(d.task, d.attempt))
      world.resize(id, d);
    else
      refuse_late();
  }
  void operator()(const Continue& d) const {
    // One that was to be resized first, and was not, waits on: the refusal is on its way.
    if (Attempted* a = world.find(d.task, d.attempt);
        a && !a->told_to_stop && d.epoch == a->last_epoch && !a->held()) {
      a->slices = view.tasks.at(static_cast<std::size_t>(d.task)).slices;
      world.answer(*a);
    }
  }
  void operator()(const Hold& d) const {
    if (Attempted* a = world.find(d.task, d.attempt)) world.hold(*a);
  }
  void operator()(const TakeCheckpoint& d) const {
    Attempted* a = world.find(d.task, d.attempt);
    if (!a)
      refuse_late();
    else if (!a->keeps_checkpoints)
      world.refuse(id, "the program keeps no checkpoints");
    else if (a->checkpoint_asked)
      world.refuse(id, "a checkpoint is being taken already");
    else
      a->checkpoint_asked = id;
  }
  void operator()(const Stop& d) const {
    if (Attempted* a = world.find(d.task, d.attempt))
      world.stop(*a);
    else
      refuse_late();
  }
  void operator()(const Wake& d) const { world.wakes_.emplace(d.at.value, id); }
  void operator()(const Request&) const {}
  void operator()(const Release&) const {}
  void operator()(const Learn&) const {}
  void operator()(const Retune& d) const {
    if (world.find(d.task, d.attempt))
      world.retune(id, d);
    else
      refuse_late();
  }
  void operator()(const FinishJob&) const {}
};

void LocalWorld::carry_out(const Decision& decision, const View& view) {
  std::visit(Carry{*this, view, decision.id}, decision.body);
}

void LocalWorld::start(DecisionId id, const Start& d, const View& view) {
  if (auto found = attempts_.find(d.task); found != attempts_.end()) {
    if (found->second->number != d.attempt) refuse(id, "an earlier attempt of the task is still there");
    return;  // the same command again
  }
  const auto& task = view.tasks.at(static_cast<std::size_t>(d.task));
  const auto job = what_runs(view, task);
  auto attempt = std::make_unique<Attempted>();
  Attempted& a = *attempt;
  a.task = d.task;
  a.number = d.attempt;
  a.granted = d.granted;
  a.drop = d.drop;
  a.counted_before = task.reported();
  a.slices = task.slices;
  if (task.trial) a.cloned_at = task.trial->clone_epoch;
  a.plain = job.program.plain;
  a.stall_after = a.plain ? Seconds{std::numeric_limits<double>::infinity()} : job.limits.stall;
  if (const std::string why = take_seats(a, d); !why.empty()) {
    refuse(id, why);
    return;
  }
  try {
    if (task.trial && task.trial->clone_from)
      copy_checkpoints(task_folder(*task.trial->clone_from), task_folder(d.task));
    launch(a, job);
  } catch (const std::exception& e) {
    kill_group(a);
    for (const Seat& seat : a.seats)
      if (seat.child.pid > 0) ::waitpid(seat.child.pid, nullptr, 0);
    release(a);
    refuse(id, e.what());
    return;
  }
  const Seat& first = a.seats.front();
  if (options_.sensor && !a.gang()) {
    options_.sensor->attach(a.task, first.child.pid);
    if (!a.gpus.empty()) options_.sensor->uses_gpus(a.task, gpus_.names(a.gpus));
  }
  happened(TaskStarted{a.task, a.number, id, first.child.pid, first.child.started, first.cpus,
                       std::vector<int>(a.gpus.begin(), a.gpus.end())});
  a.stretch_from = steady_clock::now();
  a.stall_at = after(a.stall_after);
  attempts_.emplace(a.task, std::move(attempt));
  if (const std::string why = open_gates(a, job); !why.empty()) condemn(a, Failure::could_not_start, why);
}

void LocalWorld::resize(DecisionId id, const Resize& d) {
  Attempted& a = *find(d.task, d.attempt);
  if (d.granted.gpus != a.granted.gpus || d.granted.gpu_memory != a.granted.gpu_memory) {
    refuse(id, fmt::format("{} asked for, but a program keeps the GPUs it was started with: {}",
                           text(d.granted), text(a.granted)));
    return;
  }
  const auto cpus = cpus_for(a, d.granted);
  if (!cpus) {
    const Node& node = node_of(a.seats.front());
    refuse(id, fmt::format("{} asked for, but only {} cores and {} more are free{}", text(d.granted),
                           node.free_cpus.size(), text_bytes(node.free_memory),
                           a.gang() ? " on its first node, or less on another" : ""));
    return;
  }
  try {
    set_gpus(a, a.granted, d.granted);
    try {
      reseat(a, *cpus, d.granted);
    } catch (const SystemError&) {
      set_gpus(a, d.granted, a.granted);
      throw;
    }
  } catch (const SystemError& e) {
    refuse(id, e.what());
    return;
  }
  a.granted = d.granted;
  a.news = d.granted;
  a.begin.system = d.granted;
  happened(SystemChanged{a.task, a.number, id, d.granted});
}

// Only a task that waits for an answer: one at work keeps its CPUs until it reports.
void LocalWorld::hold(Attempted& a) {
  if (!a.owes_answer || a.told_to_stop) return;
  for (Seat& seat : a.seats) {
    restore_clock(seat);
    node_of(seat).free_cpus.insert(seat.cpus.begin(), seat.cpus.end());
    seat.cpus.clear();
  }
  a.rested = true;
}

void LocalWorld::stop(Attempted& a) {
  if (a.told_to_stop) return;
  a.told_to_stop = true;
  a.kill_at = after(options_.grace);
  if (a.held()) {  // its CPUs are others' by now, and what it does to end would be in their way
    std::vector<int> all;
    for (const auto& cpu : options_.topology.cpus) all.push_back(cpu.id);
    for (const Seat& seat : a.seats) platform::step_aside(processes_of(seat), all);
  }
  if (a.owes_answer) {
    answer(a);
    return;
  }
  for (const Seat& seat : a.seats)
    if (!seat.ended) ::kill(-seat.child.pid, SIGTERM);  // an epoch can be long; its checkpoint is safe
}

void LocalWorld::answer(Attempted& a) {
  if (!a.owes_answer) return;
  a.owes_answer = false;
  if (std::exchange(a.rested, false) && options_.sensor) options_.sensor->restart_profile(a.task);
  protocol::Answer answer{.stop = a.told_to_stop,
                          .checkpoint = a.checkpoint_asked.has_value(),
                          .system = std::exchange(a.news, std::nullopt),
                          .epoch = a.last_epoch};
  const std::string line = protocol::line(protocol::FromTandem(answer));
  // A program that is gone, or does not read, is noticed by its pidfd or its stall limit.
  [[maybe_unused]] auto sent = ::send(a.socket.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  a.stretch_from = steady_clock::now();
  a.stall_at = after(a.stall_after);
  a.progress = 0;
  settle(a);
}

// ---- what programs say and do ----

std::vector<Event> LocalWorld::wait(Seconds at_most) {
  for (pid_t pid : std::exchange(to_reap_, {})) ::waitpid(pid, nullptr, 0);
  std::array<epoll_event, 64> ready;
  const int timeout = pending_.empty() ? milliseconds_until_next(at_most) : 0;
  const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), timeout);
  if (count < 0 && errno != EINTR) throw_errno("waiting for programs");
  for (int i = 0; i < count; ++i) {
    const std::uint64_t what = ready[static_cast<std::size_t>(i)].data.u64;
    if (what == kWakeToken) {
      std::uint64_t drained;
      [[maybe_unused]] auto got = ::read(wake_.get(), &drained, sizeof(drained));
      continue;
    }
    const Spoke spoke = who_spoke(what);
    auto found = attempts_.find(spoke.task);
    if (found == attempts_.end()) continue;  // its process ended earlier in this batch
    heard(*found->second);
    if (spoke.process) ended(spoke.task, spoke.rank);
  }
  check_deadlines();
  look_after_gpus();
  std::vector<Event> out(std::make_move_iterator(pending_.begin()), std::make_move_iterator(pending_.end()));
  pending_.clear();
  return out;
}

void LocalWorld::heard(Attempted& a) {
  std::array<char, kSocketBuffer> bytes;
  while (a.socket) {
    const ssize_t got = ::recv(a.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) a.socket.reset();  // it closed its end; what it does now shows in its exit
    if (got <= 0) break;
    try {
      a.lines.feed({bytes.data(), static_cast<std::size_t>(got)});
      while (auto line = a.lines.next()) heard_line(a, *line);
    } catch (const protocol::ProtocolError& e) {
      condemn(a, Failure::bad_report, e.what());
      a.socket.reset();
    }
  }
}

void LocalWorld::heard_line(Attempted& a, const std::string& line) {
  const auto message = protocol::parse_from_program(line);
  if (const auto* hello = std::get_if<protocol::Hello>(&message)) {
    a.keeps_checkpoints = hello->durable_epoch.has_value();
    a.sets_precision = std::count(hello->can.begin(), hello->can.end(), "precision") > 0;
    if (!can_do(a)) return;
    // Without a checkpoint to go on from, it starts over and its new epochs supersede the old.
    a.last_epoch = a.begin.reported = hello->durable_epoch.value_or(0) > 0 ? a.counted_before : 0;
    if (hello->durable_epoch.value_or(0) < a.cloned_at) {
      condemn(a, Failure::could_not_start,
              "it was to go on from another trial's checkpoint but has none: population-based training needs "
              "a program that keeps checkpoints (docs/protocol.md)");
      return;
    }
    const std::string reply = protocol::line(protocol::FromTandem(a.begin));
    [[maybe_unused]] auto sent =
        ::send(a.socket.get(), reply.data(), reply.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    a.stall_at = after(a.stall_after);
  } else if (const auto* report = std::get_if<protocol::Epoch>(&message)) {
    const auto [epoch, error] = number_report(a, *report);
    if (!error.empty()) throw protocol::ProtocolError(error);
    if (a.owes_answer) throw protocol::ProtocolError("it reported again without waiting for the answer");
    if (!can_do(a)) return;
    a.owes_answer = true;
    a.first_report = false;
    if (epoch > a.begin.epochs) {
      note(a, fmt::format("epoch {} was reported but not counted: the job has {} epochs", epoch,
                          a.begin.epochs));
      stop(a);
      return;
    }
    a.last_epoch = epoch;
    const Seconds seconds = since(a.stretch_from);
    happened(EpochEnded{
        a.task, a.number, epoch, report->metrics, seconds, {}, {}, std::exchange(a.startup, Seconds{})});
    if (a.told_to_stop) answer(a);
  } else if (const auto* progress = std::get_if<protocol::Progress>(&message)) {
    progressed(a, progress->share);
  } else if (std::holds_alternative<protocol::Ready>(message)) {
    if (a.first_report) is_ready(a);
  } else if (const auto* taken = std::get_if<protocol::Checkpointed>(&message)) {
    if (a.checkpoint_asked)
      happened(
          CheckpointTaken{a.task, a.number, *std::exchange(a.checkpoint_asked, std::nullopt), taken->epoch});
  }
}

// A number that was computed otherwise than the spec says would be taken for what it is not.
bool LocalWorld::can_do(Attempted& a) {
  if (a.granted.precision == Precision::own || a.sets_precision) return true;
  condemn(a, Failure::bad_report,
          fmt::format("it is to compute in {} (system.precision), and does not say that it can change that "
                      "(can: [\"precision\"] in its hello, docs/protocol.md); leave system.precision out",
                      name(a.granted.precision)));
  return false;
}

// What it does from here on is training.
void LocalWorld::is_ready(Attempted& a) {
  a.startup = since(a.stretch_from);
  if (options_.sensor) options_.sensor->started_up(a.task);
}

void LocalWorld::condemn(Attempted& a, Failure failure, const std::string& detail) {
  if (!a.verdict) a.verdict.emplace(failure, detail);
  kill_group(a);
}

// When the last of its processes is dead: end what they left behind, give everything back, and say what
// became of it.
void LocalWorld::ended(TaskId task, std::size_t rank) {
  Attempted& a = *attempts_.at(task);
  if (!seat_ended(a, rank)) return;
  const auto node = attempts_.extract(task);
  kill_marked(a);
  if (!a.verdict)
    happened(TaskEnded{a.task, a.number, {}});
  else
    happened(TaskFailed{a.task,
                        a.number,
                        a.verdict->first,
                        a.verdict->second,
                        tail_of(output_file(a.task), a.output_from),
                        {}});
  release(a);
}

// ---- deadlines ----

void LocalWorld::check_deadlines() {
  const Moment moment = steady_clock::now();
  for (auto& [task, attempt] : attempts_) {
    Attempted& a = *attempt;
    if (a.kill_at && moment >= *a.kill_at) {
      a.kill_at.reset();
      kill_group(a);
    }
    if (a.may_stall() && moment >= a.stall_at)
      condemn(a, Failure::stalled,
              fmt::format("no report for {}; raise limits.stall if its epochs are that long",
                          text(a.stall_after)));
  }
  const double wall = now().value;
  while (!wakes_.empty() && wakes_.begin()->first <= wall) {
    happened(Woke{wakes_.begin()->second});
    wakes_.erase(wakes_.begin());
  }
}

int LocalWorld::milliseconds_until_next(Seconds at_most) const {
  double wait = at_most.value;
  for (const auto& [task, a] : attempts_) {
    if (a->may_stall()) wait = std::min(wait, -since(a->stall_at).value);
    if (a->kill_at) wait = std::min(wait, -since(*a->kill_at).value);
  }
  if (!wakes_.empty()) {
    const double wall =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    wait = std::min(wait, wakes_.begin()->first - wall);
  }
  return static_cast<int>(std::ceil(std::clamp(wait, 0.0, 3600.0) * 1000));
}

// ---- after a crash ----

std::vector<Event> LocalWorld::reconcile(const View& view) {
  if (std::ifstream in(former_clocks_file()); in) {
    const auto former = nlohmann::json::parse(in, nullptr, false);
    if (former.is_object()) {
      std::map<int, std::string> clocks;
      std::vector<int> cpus;
      for (const auto& [cpu, value] : former.items()) {
        cpus.push_back(std::atoi(cpu.c_str()));
        clocks[cpus.back()] = value.get<std::string>();
      }
      clocks_.adopt(std::move(clocks));
      clocks_.restore(cpus);
      remember_former_clocks();
    }
  }
  for (const auto& [id, decision] : view.open)
    if (const auto* wake = std::get_if<Wake>(&decision.body)) wakes_.emplace(wake->at.value, id);
  for (TaskId id : view.holding) {
    const auto& task = view.tasks[static_cast<std::size_t>(id)];
    const std::string name = mark(id, task.attempt);
    for (std::size_t rank = 0; rank <= task.more.size(); ++rank)
      if (auto left = platform::Cgroup::find(options_.cgroups, cgroup_name(id, task.attempt, rank)))
        left->kill_all();
    if (task.pid > 0 && platform::start_time_of(static_cast<pid_t>(task.pid)) == task.pid_started)
      ::kill(-static_cast<pid_t>(task.pid), SIGKILL);
    // Until none is left: a new attempt must be alone with its files.
    for (auto left = platform::marked_processes(name); !left.empty();
         left = platform::marked_processes(name)) {
      for (pid_t pid : left) ::kill(pid, SIGKILL);
      ::usleep(2000);
    }
    happened(TaskFailed{id, task.attempt, Failure::lost, "Tandem ended while it ran", "", {}});
  }
  std::vector<Event> out(std::make_move_iterator(pending_.begin()), std::make_move_iterator(pending_.end()));
  pending_.clear();
  return out;
}

// ---- small things ----

std::filesystem::path LocalWorld::task_folder(TaskId task) const {
  return options_.folder / fmt::format("task-{}", task);
}

std::filesystem::path LocalWorld::output_file(TaskId task) const {
  return (options_.output_each ? task_folder(task) : options_.folder) / "output.log";
}

void LocalWorld::interrupt() {
  const std::uint64_t one = 1;
  [[maybe_unused]] auto told = ::write(wake_.get(), &one, sizeof(one));
}

Attempted* LocalWorld::find(TaskId task, Attempt attempt) {
  auto found = attempts_.find(task);
  return found != attempts_.end() && found->second->number == attempt ? found->second.get() : nullptr;
}

void LocalWorld::refuse(DecisionId id, const std::string& reason) {
  happened(DecisionRefused{id, reason});
}

void LocalWorld::happened(EventBody body) {
  pending_.push_back({now(), std::move(body)});
}

void LocalWorld::note(const Attempted& a, const std::string& line) {
  std::ofstream(output_file(a.task), std::ios::app) << "[tandem] task " << a.task << ": " << line << '\n';
}

std::string LocalWorld::mark(TaskId task, Attempt attempt) const {
  return fmt::format("{}-{}-{}", options_.run, task, attempt);
}

std::string LocalWorld::cgroup_name(TaskId task, Attempt attempt, std::size_t rank) const {
  return rank == 0 ? mark(task, attempt) : fmt::format("{}-rank-{}", mark(task, attempt), rank);
}

void LocalWorld::remember_former_clocks() {
  if (clocks_.former().empty()) {
    std::error_code ignored;
    std::filesystem::remove(former_clocks_file(), ignored);
    return;
  }
  auto former = nlohmann::json::object();
  for (const auto& [cpu, value] : clocks_.former()) former[std::to_string(cpu)] = value;
  std::ofstream(former_clocks_file()) << former.dump();
}

}  // namespace tandem::local
