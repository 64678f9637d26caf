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
#include "base/json.h"
#include "runtime/common/clock.h"
#include "platform/plain_file.h"
#include "runtime/common/task_files.h"
#include "runtime/local/leftovers.h"
#include "runtime/local/watch.h"

namespace tandem::local {
namespace {

using platform::Descriptor;
using runtime::steady;

constexpr std::size_t kHeardATurn = 1 << 14;   // bytes of one program: a thousand short lines at most
constexpr std::size_t kHeardAtEnd = 1 << 20;  // its last words; a process that escaped may go on

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

std::vector<int> all_cpus(const platform::Topology& topology) {
  std::vector<int> out;
  for (const auto& cpu : topology.cpus) out.push_back(cpu.id);
  return out;
}

}  // namespace

LocalWorld::LocalWorld(LocalOptions options)
    : options_(std::move(options)),
      clocks_(options_.cpufreq),
      gpus_(options_.gpus),
      templates_({options_.run, options_.folder, options_.keeper, all_cpus(options_.topology)}) {
  std::filesystem::create_directories(options_.folder);
  space_.emplace(options_.folder);
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll_ || !wake_) throw_errno("making an event queue");
  watch(epoll_.get(), wake_.get(), kWakeToken, "its own calls");
  if (!options_.nodes.empty()) options_.lanes = 1;
  if (options_.nodes.empty()) options_.nodes = lanes_of(options_);
  for (const auto& joined : nodes()) {
    const auto& cpus = options_.nodes[static_cast<std::size_t>(joined.node)].cpus;
    nodes_.push_back({std::set<int>(cpus.begin(), cpus.end())});
    ledger_.set_node(joined.node, joined.name, joined.capacity);
    if (options_.lanes > 1) ledger_.share_memory(0, joined.node);
  }
}

LocalWorld::~LocalWorld() {
  for (pid_t pid : to_reap_) ::waitpid(pid, nullptr, 0);
  for (auto& [task, attempt] : attempts_) {
    kill_group(*attempt);
    for (const RankProcess& rank : attempt->ranks)
      if (!rank.ended) platform::reap(rank.child);
    outputs_.end(task);
    release(*attempt);
  }
}

control::Capabilities LocalWorld::capabilities() const {
  control::Capabilities out = kLocalCapabilities;
  out.energy = options_.sensor != nullptr;
  out.load = false;  // it would be told by who watches nodes
  out.gpus = std::any_of(options_.nodes.begin(), options_.nodes.end(),
                         [](const LocalNode& node) { return !node.gpus.empty(); });
  out.sets_gpus = out.gpus && options_.set_gpu != nullptr;
  return out;
}

Seconds LocalWorld::now() {
  return clock_.now();
}

std::vector<NodeJoined> LocalWorld::nodes() {
  std::vector<NodeJoined> out;
  for (const auto& node : options_.nodes) {
    const int cores = held_ && options_.waits_for_space ? 0 : static_cast<int>(node.cpus.size());
    auto& joined = out.emplace_back(NodeJoined{static_cast<NodeId>(out.size()),
                                               node.name,
                                               {cores, node.memory, 1.0},
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
  a.talk = runtime::begin_conversation(options_.run, d, task, job, task_folder(d.task).string());
  a.talk.lengths = options_.slices;
  a.talk.objectives = runtime::objectives_of(view, task);
  a.as = user_of(view.jobs.at(static_cast<std::size_t>(task.job)).owner);
  a.one_of_many = view.jobs.at(static_cast<std::size_t>(task.job)).as<spec::TuneJob>() != nullptr;
  if (const std::string why = take_room(a, d); !why.empty()) return refuse(id, why);
  try {
    if (task.trial && task.trial->clone_from)
      runtime::copy_checkpoints(task_folder(*task.trial->clone_from), task_folder(d.task), a.as);
    launch(a, job);
  } catch (const std::exception& e) {
    kill_group(a);
    for (const RankProcess& rank : a.ranks)
      if (rank.child.pid > 0) platform::reap(rank.child);
    outputs_.end(a.task);
    release(a);
    refuse(id, e.what());
    return;
  }
  const RankProcess& first = a.ranks.front();
  if (options_.sensor && !a.gang()) {
    options_.sensor->attach(a.task, first.child.pid);
    if (!a.gpus.empty()) options_.sensor->uses_gpus(a.task, gpus_.names(a.gpus));
  }
  happened(TaskStarted{a.task, a.number, id, first.child.pid, first.child.started, first.cpus,
                       std::vector<int>(a.gpus.begin(), a.gpus.end()), a.preloaded});
  begun(a.talk, steady());
  attempts_.emplace(a.task, std::move(attempt));
  if (const std::string why = open_gates(a, job); !why.empty()) fail(a, Failure::could_not_start, why);
  if (held_) fail_for_space(a);  // it was decided before
}

void LocalWorld::resize(DecisionId id, Attempted& a, const Resize& d, const View&) {
  const Resources former = a.granted();
  if (d.granted.gpus != former.gpus || d.granted.gpu_memory != former.gpu_memory)
    return refuse(id, fmt::format("{} asked for, but a program keeps the GPUs it was started with: {}",
                                  text(d.granted), text(former)));
  const control::Holding held = a.holds;
  if (const std::string why = ledger_.resize(a.holds, d.granted); !why.empty()) return refuse(id, why);
  try {
    set_gpus(a, former, d.granted);
    try {
      move_to(a, cpus_for(a, d.granted.cores), d.granted);
    } catch (const SystemError&) {
      set_gpus(a, d.granted, former);
      throw;
    }
  } catch (const SystemError& e) {
    ledger_.undo(a.holds, held);
    return refuse(id, e.what());
  }
  resized(a.talk, d.granted);
  happened(SystemChanged{a.task, a.number, id, d.granted});
}

void LocalWorld::go_on(Attempted& a, const Continue& d, const View& view) {
  // One that was to be resized first, and was not, waits on: the refusal is on its way.
  if (a.told_to_stop || d.epoch != a.talk.last_epoch || a.holds.lent) return;
  a.talk.slices = view.tasks.at(static_cast<std::size_t>(d.task)).slices;
  answer(a);
}

// Only a task that waits for an answer: one at work keeps its CPUs until it reports.
void LocalWorld::hold(Attempted& a) {
  if (!a.talk.owes_answer || a.told_to_stop) return;
  for (RankProcess& rank : a.ranks) {
    restore_clock(rank);
    node_of(rank).free_cpus.insert(rank.cpus.begin(), rank.cpus.end());
    rank.cpus.clear();
  }
  ledger_.lend_cores(a.holds);
  a.rested = true;
}

void LocalWorld::stop(Attempted& a) {
  if (a.told_to_stop || a.verdict) return;
  a.told_to_stop = true;
  a.kill_at = steady() + (a.talk.complete() ? std::max(a.talk.stall_after, options_.grace) : options_.grace);
  if (a.holds.lent) {  // its CPUs are others' by now, and what it does to end would be in their way
    const auto all = all_cpus(options_.topology);
    for (const RankProcess& rank : a.ranks) platform::step_aside(processes_of(rank), all);
  }
  if (a.talk.owes_answer) return answer(a);
  a.interrupted = true;
  for (const RankProcess& rank : a.ranks)
    if (!rank.ended) ::kill(-rank.child.pid, SIGTERM);  // an epoch can be long; its checkpoint is safe
}

void LocalWorld::answer(Attempted& a) {
  if (!a.talk.owes_answer) return;
  if (std::exchange(a.rested, false) && options_.sensor) options_.sensor->restart_profile(a.task);
  tell(a, runtime::answer(a.talk, a.told_to_stop, steady()));
}

// A program that is gone, or does not read, is noticed by its pidfd or its stall limit.
void LocalWorld::tell(Attempted& a, const std::string& line) {
  [[maybe_unused]] auto sent = ::send(a.socket.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// ---- what programs say and do ----

std::vector<Event> LocalWorld::wait(Seconds at_most) {
  for (pid_t pid : std::exchange(to_reap_, {})) ::waitpid(pid, nullptr, 0);
  std::array<epoll_event, 64> ready;
  const int timeout = events_.empty() ? milliseconds_until_next(at_most) : 0;
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
    heard(*found->second, spoke.process ? Listen::to_the_end : Listen::a_turn);
    if (spoke.process) ended(spoke.task, spoke.rank);
  }
  check_deadlines();
  check_space();
  look_after_gpus();
  return events_.take();
}

// What is left waits in the socket, and its program with it.
void LocalWorld::heard(Attempted& a, Listen how) {
  std::array<char, kHeardATurn> bytes;
  for (std::size_t left = how == Listen::a_turn ? kHeardATurn : kHeardAtEnd; a.socket && left > 0;) {
    const ssize_t got = ::recv(a.socket.get(), bytes.data(), std::min(left, bytes.size()), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) a.socket.reset();  // it closed its end; what it does now shows in its exit
    if (got <= 0) break;
    left -= static_cast<std::size_t>(got);
    try {
      a.lines.feed({bytes.data(), static_cast<std::size_t>(got)});
      while (auto line = a.lines.next()) heard_line(a, *line);
    } catch (const protocol::ProtocolError& e) {
      refuse_line(a, e.what());
    }
  }
  // Once for all that came together: it reads counters, and the last of several is what counts.
  if (std::exchange(a.said_ready, false) && options_.sensor) options_.sensor->started_up(a.task);
}

void LocalWorld::heard_line(Attempted& a, const std::string& line) {
  if (a.verdict) return;
  runtime::Heard heard = hear(a.talk, line, steady());
  if (heard.fails) fail(a, heard.fails->first, heard.fails->second);
  if (heard.wants_begin) tell(a, begin_line(a.talk, steady()));
  a.said_ready |= heard.ready;
  if (heard.slice) happened(std::move(*heard.slice));
  if (heard.checkpoint) happened(*heard.checkpoint);
  if (!heard.warning.empty()) note(a, heard.warning);
  if (!heard.loaded.empty() && !a.kind.empty()) templates_.learned(a.kind, heard.loaded);
  if (heard.epoch) {
    happened(std::move(*heard.epoch));
    if (a.told_to_stop) answer(a);
  }
  if (heard.past_the_end.empty()) return;
  note(a, heard.past_the_end);
  a.talk.plain ? answer(a) : stop(a);
}

// It hears why before it is ended, so that its own log says it too.
void LocalWorld::refuse_line(Attempted& a, const std::string& why) {
  if (!a.verdict) a.verdict.emplace(Failure::bad_report, why);
  tell(a, runtime::refusal(why));
  a.socket.reset();
  a.kill_at = steady() + runtime::kLastWords;
}

void LocalWorld::fail(Attempted& a, Failure failure, const std::string& detail) {
  if (!a.verdict) a.verdict.emplace(failure, detail);
  kill_group(a);
}

// When the last of its processes is dead: end what they left behind, give everything back, and say what
// became of it.
void LocalWorld::ended(TaskId task, std::size_t rank) {
  Attempted& a = *attempts_.at(task);
  if (!rank_ended(a, rank)) return;
  const auto node = attempts_.extract(task);
  const std::string last_output = outputs_.end(task);
  if (!a.verdict)
    happened(a.after ? TaskEnded{a.task, a.number, {}, a.after->first, a.after->second, last_output}
                     : TaskEnded{a.task, a.number, {}});
  else
    happened(TaskFailed{a.task,
                        a.number,
                        a.verdict->first,
                        a.verdict->second,
                        last_output,
                        {}});
  release(a);
}

// ---- deadlines ----

void LocalWorld::check_deadlines() {
  const Seconds moment = steady();
  for (auto& [task, attempt] : attempts_) {
    Attempted& a = *attempt;
    if (a.kill_at && moment >= *a.kill_at) {
      a.kill_at.reset();
      if (a.talk.complete() && !a.interrupted && !a.verdict)
        a.after.emplace(Failure::stalled, "it was still at work " + text(a.talk.stall_after) +
                                              " after its last report, and was ended (limits.stall)");
      a.interrupted = true;
      kill_group(a);
    }
    if (a.may_stall() && moment >= *a.talk.stall_at) fail(a, Failure::stalled, stalled(a.talk));
  }
  events_.wake(now());
}

// Programs may be what fills it, and none of them can go on without it. Nodes that are down start nothing.
void LocalWorld::check_space() {
  if (space_->full(steady()) == held_) return;
  held_ = !held_;
  if (held_)
    for (auto& [task, attempt] : attempts_) fail_for_space(*attempt);
  if (options_.waits_for_space)
    for (auto& node : nodes()) happened(std::move(node));
}

void LocalWorld::fail_for_space(Attempted& a) {
  fail(a, Failure::no_space, space_->why());
}

void LocalWorld::out_of_space() {
  space_->is_full(steady());
  check_space();
  for (const auto& [task, attempt] : attempts_) fail_for_space(*attempt);
  // None of them writes any more when this returns, but for one that the kernel does not let die: a server that
  // waited for it would be gone as well.
  const Seconds until = steady() + options_.dying;
  for (const auto& [task, attempt] : attempts_)
    for (const RankProcess& rank : attempt->ranks) {
      if (!rank.child.pidfd || platform::ends_within(rank.child, until - steady())) continue;
      const auto why = fmt::format(
          "{}; process {} was killed for it and did not end within {}: it hangs in the kernel, on a disk or "
          "a device, and may still write",
          space_->why(), rank.child.pid, text(options_.dying));
      attempt->verdict.emplace(Failure::no_space, why);
      note(*attempt, why);
    }
}

int LocalWorld::milliseconds_until_next(Seconds at_most) {
  const Seconds moment = steady();
  Seconds wait = at_most;
  for (const auto& [task, a] : attempts_) {
    if (a->may_stall()) wait = std::min(wait, *a->talk.stall_at - moment);
    if (a->kill_at) wait = std::min(wait, *a->kill_at - moment);
  }
  if (const auto wake = events_.next_wake()) wait = std::min(wait, *wake - now());
  return static_cast<int>(std::ceil(std::clamp(wait.value, 0.0, 3600.0) * 1000));
}

// ---- after a crash ----

void LocalWorld::restore_former_clocks() {
  const auto text = platform::read_plain(former_clocks_file(), 1 << 20);
  if (!text) return;
  const auto former = parse_json(*text);
  if (!former.is_object()) return;
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

std::vector<Event> LocalWorld::reconcile(const View& view) {
  restore_former_clocks();
  events_.remember_wakes(view);
  check_space();
  // A new attempt must be alone with its files.
  if (const auto reaped = reap_leftovers(options_.folder); !reaped.alive.empty())
    throw SystemError(fmt::format("{} processes of before cannot be ended: {}", reaped.alive.size(),
                                  fmt::join(reaped.alive, " ")));
  for (TaskId id : view.holding) {
    const auto& task = view.tasks[static_cast<std::size_t>(id)];
    happened(TaskFailed{id, task.attempt, Failure::lost, "Tandem ended while it ran", "", {},
                        space_->ran(task.started_at)});
  }
  return events_.take();
}

// ---- small things ----

std::filesystem::path LocalWorld::task_folder(TaskId task) const {
  return options_.folder / fmt::format("task-{}", task);
}

std::filesystem::path LocalWorld::output_file(TaskId task) const {
  return options_.output_each ? fmt::format("task-{}/output.log", task) : "output.log";
}

std::optional<platform::Credentials> LocalWorld::user_of(const Owner& owner) const {
  const bool other = owner.user >= 0 && owner.user != static_cast<std::int64_t>(::geteuid());
  if (!options_.separation.as_owners || !other) return std::nullopt;
  return platform::Credentials::of(static_cast<uid_t>(owner.user));
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
  events_.happened(now(), std::move(body));
}

void LocalWorld::note(const Attempted& a, const std::string& line) {
  outputs_.note(a.task, line);
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
