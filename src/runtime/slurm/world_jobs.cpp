// The Slurm world's dealings with Slurm: submitting, asking, cancelling, nodes, and what a crash left.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "runtime/common/clock.h"
#include "runtime/common/launching.h"
#include "runtime/slurm/world.h"

namespace tandem::slurm {
namespace {

using runtime::steady;

constexpr double kRestAfterQueue = 9;  // times as long as squeue took: a tenth of the time at most

// Slurm did not say no; it said nothing.
bool unsure(const CommandResult& result) {
  if (result.timed_out) return true;
  for (const char* words : {"contact slurm controller", "Socket timed out",
                            "Communication connection failure", "temporarily unable to accept job"})
    if (result.errors.find(words) != std::string::npos) return true;
  return false;
}

}  // namespace

// ---- submitting ----

void SlurmWorld::submit(Attempted& a) {
  ++a.submission;
  a.submit_unsure = a.in_pilot = a.step_sent = false;
  begin_again(a.talk, steady());
  a.followers.assign(a.nodes.size() - 1, {});
  a.drew_counted -= a.drew.value_or(0);  // the next job's figure begins at 0
  a.drew.reset();
  a.join.reset();
  a.exit.reset();
  a.let_go = false;
  a.epoch_at_submit = a.talk.counted_before;
  a.asked = asked_for(a);
  a.life.emplace(options_.life);
  try {
    std::filesystem::create_directories(task_folder(a.task));
    std::error_code none;
    const auto size = std::filesystem::file_size(output_file(a.task), none);
    if (a.submission == 1) a.output_from = none ? 0 : size;
    write_whole(job_file(mark_of(a), "ticket.json"), text(ticket_for(a)));
    if (Pilot* pilot = pilot_for(a))
      join_pilot(a, *pilot);
    else
      submit_job(a);
  } catch (const std::exception& e) {
    a.life->refused(e.what());
  }
}

void SlurmWorld::submit_job(Attempted& a) {
  const Mark mark = mark_of(a);
  try {
    commands_.run(sbatch(options_.site, submission_for(a)), kCommandLimit,
                  [this, mark](const CommandResult& result) {
                    Attempted* it = find(text(mark));
                    if (!it || !it->life) return;  // given up meanwhile; as an orphan it is cancelled
                    told(*it->life, result);
                    it->submit_unsure = unsure(result);
                  });
  } catch (const std::exception& e) {
    a.life->refused(e.what());
  }
  next_queue_ = std::min(next_queue_, steady() + options_.poll);
}

Submission SlurmWorld::submission_for(const Attempted& a) const {
  std::string names;
  for (const NodeId node : a.nodes)
    names += (names.empty() ? "" : ",") + nodes_.at(static_cast<std::size_t>(node)).name;
  return {.mark = mark_of(a),
          .node = names,
          .granted = a.asked,
          .script = options_.folder / "slurm/run-agent.sh",
          .output = output_file(a.task),
          .working_folder = std::filesystem::current_path(),
          .command = {options_.agent, job_file(mark_of(a), "ticket.json").string()},
          .nodes = a.nodes.size()};
}

Ticket SlurmWorld::blank_ticket(const Mark& mark) {
  return {.mark = text(mark),
          .token = links_->expect(text(mark)),
          .addresses = reachable_at_,
          .port = links_->port(),
          .record = job_file(mark, "exit.json"),
          .claim = job_file(mark, "claim"),
          .grace = options_.grace};
}

Ticket SlurmWorld::ticket_for(const Attempted& a) {
  Ticket ticket = blank_ticket(mark_of(a));
  const auto& program = a.job.program;
  ticket.command = runtime::command_of(program, options_.trainer);
  ticket.environment = runtime::environment_for(a.talk);
  ticket.output = output_file(a.task);
  ticket.output_limit = a.job.limits.output;
  ticket.plain = a.talk.plain;
  ticket.data_limit = a.granted().memory;
  ticket.folder = program.folder;
  ticket.environment["TANDEM_NODE"] = nodes_[static_cast<std::size_t>(a.node())].name;
  ticket.cores = a.granted().cores;
  ticket.environment.insert(options_.environment.begin(), options_.environment.end());
  make_gang_ticket(a, ticket);
  ticket.whole_node = !a.in_pilot && std::all_of(a.nodes.begin(), a.nodes.end(), [&](NodeId node) {
    return a.asked.cores == nodes_.at(static_cast<std::size_t>(node)).capacity.cores;
  });
  return ticket;
}

void SlurmWorld::told(Life& life, const CommandResult& result) {
  const auto job = parse_sbatch(result.output);
  if (result.well() && job)
    life.accepted(*job, steady());
  else if (unsure(result))
    life.unanswered("sbatch: " + result.why(), steady());
  else
    life.refused(result.well() ? "sbatch printed no job id" : result.why());
}

// ---- asking and cancelling ----

void SlurmWorld::ask_queue() {
  if (queue_asked_ || (attempts_.empty() && to_cancel_.empty() && pilots_.empty()) || steady() < next_queue_)
    return;
  queue_asked_ = true;
  const Seconds asked = steady();
  commands_.run(squeue(), kCommandLimit, [this, asked](const CommandResult& result) {
    queue_asked_ = false;
    const Seconds took = steady() - asked;
    next_queue_ = steady() + std::max(options_.poll, took * kRestAfterQueue);
    if (result.well()) heard_queue(parse_squeue(result.output), asked);  // no answer is no news
  });
}

void SlurmWorld::heard_queue(const Queue& queue, Seconds asked) {
  // By comment, never by id: a controller that lost its last seconds gives the same ids out again.
  std::map<std::string, const QueuedJob*> by_mark;
  for (const auto& job : queue.jobs) by_mark[job.comment] = &job;
  std::vector<Mark> known;
  auto tell = [&](Life& life, const Mark& mark) {
    known.push_back(mark);
    const auto found = by_mark.find(text(mark));
    life.queue_says(found == by_mark.end() ? nullptr : found->second, asked, steady());
  };
  for (auto& [task, a] : attempts_)
    if (a->life && !a->in_pilot) tell(*a->life, mark_of(*a));
  for (auto& [node, pilot] : pilots_) tell(pilot.life, mark_of_pilot(node, pilot.number));
  for (const auto& mark : done_)
    if (const auto parsed = parse_mark(mark)) known.push_back(*parsed);
  for (auto job : orphans(queue.jobs, options_.run, known)) to_cancel_.insert(job);
  std::erase_if(done_, [&](const std::string& mark) { return !by_mark.contains(mark); });
}

void SlurmWorld::cancel_jobs() {
  std::vector<SlurmJobId> jobs(to_cancel_.begin(), to_cancel_.end());
  to_cancel_.clear();  // what a cancel did not reach is seen as an orphan again
  auto due = [](const Life& life, Seconds& next) {
    if (!life.wants_cancel() || steady() < next) return false;
    next = steady() + Seconds{5};
    return true;
  };
  for (auto& [task, a] : attempts_) {
    if (!a->life || !due(*a->life, a->next_cancel)) continue;
    if (!a->in_pilot)
      jobs.push_back(*a->life->job());
    else if (const auto pilot = pilots_.find(a->node()); pilot != pilots_.end())
      links_->send(text(mark_of_pilot(a->node(), pilot->second.number)), EndStep{text(mark_of(*a))});
  }
  for (auto& [node, pilot] : pilots_)
    if (due(pilot.life, pilot.next_cancel)) jobs.push_back(*pilot.life.job());
  if (jobs.empty()) return;
  next_queue_ = std::min(next_queue_, steady() + Seconds{0.2});
  commands_.run(scancel(jobs), kCommandLimit, [](const CommandResult&) {});  // the queue says what came of it
}

void SlurmWorld::look_for_records() {
  auto look = [&](Life& life, const Mark& mark) {
    if (!life.wants_record()) return;
    if (const auto record = read_record(job_file(mark, "exit.json"), text(mark))) life.recorded(*record);
  };
  for (auto& [task, a] : attempts_)
    if (a->life && !waits_for_followers(*a)) look(*a->life, mark_of(*a));
  for (auto& [node, pilot] : pilots_) look(pilot.life, mark_of_pilot(node, pilot.number));
}

// ---- after a crash ----

std::vector<Event> SlurmWorld::reconcile(const View& view) {
  events_.remember_wakes(view);
  end_orphans();
  for (TaskId id : view.holding) {
    const auto& task = view.tasks[static_cast<std::size_t>(id)];
    if (ended_well(view, task))
      happened(TaskEnded{id, task.attempt, {}});
    else
      happened(TaskFailed{id, task.attempt, Failure::lost, "Tandem ended while it ran", "", {},
                          space_->ran(task.started_at)});
  }
  return events_.take();
}

// Until none is left: a new attempt must be alone with its files.
void SlurmWorld::end_orphans() {
  for (const Seconds until = steady() + Seconds{120};; ::usleep(300'000)) {
    const auto result = commands_.run_and_wait(squeue(), kCommandLimit);
    const auto left = result.well() ? orphans(parse_squeue(result.output).jobs, options_.run, {})
                                    : std::vector<SlurmJobId>{0};
    if (left.empty()) return;
    if (steady() >= until)
      throw SystemError(
          result.well() ? fmt::format("job {} of this run is still there after scancel; end it by hand and "
                                      "resume again",
                                      left.front())
                        : "squeue: " + result.why() + "; resume again when Slurm answers");
    if (result.well()) commands_.run_and_wait(scancel(left), kCommandLimit);
  }
}

// Its program had nothing left to do, and its record says that it ended as it should.
bool SlurmWorld::ended_well(const View& view, const TaskView& task) const {
  const auto epochs =
      task.trial ? task.trial->epochs : view.jobs[static_cast<std::size_t>(task.job)].base().epochs;
  if (task.reported() < epochs) return false;
  Mark mark{options_.run, task.id, task.attempt, 1};
  while (std::filesystem::exists(
      job_file({mark.run, mark.task, mark.attempt, mark.submission + 1}, "ticket.json")))
    ++mark.submission;
  const auto record = read_record(job_file(mark, "exit.json"), text(mark));
  return record && !record->signalled && record->status == 0 && record->could_not_start.empty();
}

// ---- files ----

std::filesystem::path SlurmWorld::task_folder(TaskId task) const {
  return options_.folder / fmt::format("task-{}", task);
}

std::filesystem::path SlurmWorld::output_file(TaskId task) const {
  return options_.folder / fmt::format("output-{}.log", task);
}

std::filesystem::path SlurmWorld::job_file(const Mark& mark, const char* what) const {
  return options_.folder / "slurm" /
         fmt::format("{}-{}-{}.{}", mark.task, mark.attempt, mark.submission, what);
}

}  // namespace tandem::slurm
