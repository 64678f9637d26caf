#include "app/ask_tell.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <istream>
#include <limits>
#include <ostream>

#include "app/catalogue.h"
#include "app/experiment_world.h"
#include "app/kinds.h"
#include "app/results.h"
#include "app/runs.h"
#include "base/error.h"
#include "base/json.h"
#include "event/codec.h"
#include "spec/parse.h"

namespace tandem::app {
namespace {

using nlohmann::json;

bool measured_by_tandem(const spec::Objective& objective, const std::string& metric) {
  return metric == "train_time" || metric == "energy" || (metric == spec::kCost && objective.cost);
}

// Of a line that tells metrics: null is a number that was none.
EpochEnded metrics_from(const json& told, const spec::Objective& objective) {
  if (!told.is_object() || told.empty())
    throw UserError("metrics are an object of names and numbers, such as {\"accuracy\": 0.9}");
  EpochEnded out;
  for (const auto& [name, value] : told.items()) {
    if (value.is_number())
      out.metrics[name] = value.get<double>();
    else if (value.is_null())
      out.not_finite.push_back(name);
    else
      throw UserError(fmt::format("metric '{}' must be a number, not {}", name, value.dump()));
  }
  for (const auto& goal : objective.goals)
    if (!measured_by_tandem(objective, goal.metric) && !told.contains(goal.metric))
      throw UserError(fmt::format("'{}' is a goal of this study, and was not told", goal.metric));
  return out;
}

std::string goal_without_value(const EpochEnded& epoch, const spec::Objective& objective) {
  for (const auto& goal : objective.goals)
    if (std::count(epoch.not_finite.begin(), epoch.not_finite.end(), goal.metric) > 0) return goal.metric;
  return "";
}

Seconds wall() {
  return {std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

}  // namespace

spec::TuneJob as_asked(spec::TuneJob job) {
  if (job.search.algorithm == "pbt")
    throw UserError("search.algorithm: pbt copies checkpoints between trials, and only `tandem tune` has these");
  for (const auto& goal : job.objective.goals)
    if (goal.metric != "train_time" && measured_by_tandem(job.objective, goal.metric))
      throw UserError(
          fmt::format("objective: {} is measured by Tandem, which does not run these trials", goal.metric));
  job.mode = spec::Mode::hyper;
  job.hyper_cores = 1;
  job.system = {};
  job.base.limits.retries = 0;  // whoever asks is told of a failure by itself
  job.base.limits.lost = 0;
  return job;
}

AskTell::AskTell(const spec::TuneJob& job, control::Journal& journal, TaskFolders folders, Seconds now)
    : decider_(policies_for(job)), journal_(journal), folders_(std::move(folders)) {
  journal_.replay([&](control::Entry&& entry) { decider_.fold(entry); });
  for (const auto& [id, decision] : view().open)
    if (const auto* wake = std::get_if<Wake>(&decision.body)) wakes_.emplace_back(wake->at, id);
  if (view().jobs.empty()) {
    places_ = 1;  // a job is not submitted where nothing could run it
    happens({node(), JobSubmitted{0, job}}, now);
    return;
  }
  std::deque<EventBody> back{node()};  // no places: what comes back waits until it is asked for
  for (const TaskId id : view().holding)
    back.push_back(TaskFailed{.task = id,
                              .attempt = task_at(view(), id).attempt,
                              .failure = Failure::lost,
                              .detail = "it was asked for, and never told"});
  const auto state = this->job().state;
  if (state == JobState::stopped || state == JobState::failed) back.push_back(JobResumed{0});
  happens(std::move(back), now);
}

NodeJoined AskTell::node() const {
  return {0, kAskedWorld, {places_, 0, 1.0}, "whoever asks", {}};
}

void AskTell::happens(std::deque<EventBody> events, Seconds now) {
  now = std::max(now, view().now);  // the clock may have been put back
  std::vector<control::Entry> entries;
  for (; !events.empty(); events.pop_front()) {
    entries.push_back(decider_.step({now, std::move(events.front())}));
    for (const auto& decision : entries.back().decisions) carry_out(decision, events, now);
  }
  journal_.append(entries);
}

void AskTell::carry_out(const Decision& decision, std::deque<EventBody>& next, Seconds now) {
  if (const auto* start = std::get_if<Start>(&decision.body)) {
    next.push_back(TaskStarted{.task = start->task, .attempt = start->attempt, .decision = decision.id});
    out_[start->task] = {.attempt = start->attempt, .since = now};
  } else if (const auto* go_on = std::get_if<Continue>(&decision.body)) {
    out_[go_on->task].go_on = true;
  } else if (const auto* stop = std::get_if<Stop>(&decision.body)) {
    out_.erase(stop->task);
    places_ = static_cast<int>(out_.size());
    next.push_back(node());
    next.push_back(TaskEnded{stop->task, stop->attempt, {}});
  } else if (const auto* resize = std::get_if<Resize>(&decision.body)) {
    next.push_back(SystemChanged{resize->task, resize->attempt, decision.id, resize->granted});
  } else if (std::holds_alternative<TakeCheckpoint>(decision.body)) {
    next.push_back(DecisionRefused{decision.id, "whoever asks keeps no checkpoints"});
  } else if (const auto* wake = std::get_if<Wake>(&decision.body)) {
    wakes_.emplace_back(wake->at, decision.id);
  }
}

json AskTell::answer(const json& line, Seconds now) {
  try {
    std::deque<EventBody> due;
    for (const auto& [at, id] : wakes_)
      if (at <= now) due.push_back(Woke{id});
    std::erase_if(wakes_, [&](const auto& wake) { return wake.first <= now; });
    if (!due.empty()) happens(std::move(due), now);
    if (!line.is_object()) throw UserError("a line is an object, such as {\"ask\": true}");
    if (line.contains("ask")) return ask(now);
    for (const bool ends : {false, true})
      if (const auto task = line.find(ends ? "tell" : "report"); task != line.end()) {
        if (!task->is_number_integer()) throw UserError("a trial is named by its number");
        const auto number = task->get<std::int64_t>();
        if (number < 0 || number > std::numeric_limits<TaskId>::max())
          throw UserError(fmt::format("there is no trial {}", number));
        return ends ? tell(task->get<TaskId>(), line, now) : report(task->get<TaskId>(), line, now);
      }
    throw UserError("a line asks for something: ask, report, tell or result");
  } catch (const UserError& e) {
    return {{"error", e.what()}};
  } catch (const json::exception&) {  // an attempt that is a word, say
    return {{"error", "a value in the line is of the wrong kind: a number where a word stands, or the reverse"}};
  }
}

json AskTell::ask(Seconds now) {
  const auto waiting = [&] {
    return std::find_if(out_.begin(), out_.end(), [](const auto& entry) { return !entry.second.given; });
  };
  if (job().state == JobState::running && waiting() == out_.end()) {
    places_ = static_cast<int>(out_.size()) + 1;
    happens({node()}, now);
    // While others are out, a job looks for more to start when something of its own happens, or when it is woken.
    if (job().state == JobState::running && waiting() == out_.end()) happens({Woke{}}, now);
  }
  const auto next = waiting();
  if (next == out_.end()) {
    if (job().state != JobState::running)
      return {{"over", job().reason.empty() ? "all trials were told" : job().reason}};
    places_ = static_cast<int>(out_.size());
    happens({node()}, now);
    throw UserError("there is no trial to try before others are told: the search waits for them");
  }
  const auto& task = task_at(view(), next->first);
  next->second.given = true;
  next->second.since = now;
  return {{"trial", next->first},
          {"attempt", next->second.attempt},
          {"hyper", tandem::to_json(task.trial->hyper)},
          {"epochs", task.trial->epochs},
          {"seed", job().base().seed},
          {"folder", folders_.of(next->first).string()}};
}

AskTell::Out* AskTell::find(TaskId id, const json& line) {
  if (id < 0 || static_cast<std::size_t>(id) >= view().tasks.size())
    throw UserError(fmt::format("there is no trial {}", id));
  const auto found = out_.find(id);
  if (found == out_.end() || !found->second.given || line.value("attempt", Attempt{1}) != found->second.attempt)
    return nullptr;
  return &found->second;
}

void AskTell::epoch_ended(TaskId id, const json& metrics, Seconds now) {
  auto& out = out_.at(id);
  const auto& objective = job().as<spec::TuneJob>()->objective;
  auto epoch = metrics_from(metrics, objective);
  if (const auto missing = goal_without_value(epoch, objective); !missing.empty())
    return ends(id,
                TaskFailed{.task = id,
                           .attempt = out.attempt,
                           .failure = Failure::bad_report,
                           .detail = fmt::format("metric '{}', which is an objective, is NaN", missing)},
                now);
  epoch.task = id;
  epoch.attempt = out.attempt;
  epoch.epoch = ++out.epoch;
  epoch.seconds = std::max(now - out.since, Seconds{});
  out.since = now;
  out.go_on.reset();
  happens({std::move(epoch)}, now);
}

void AskTell::ends(TaskId id, EventBody how, Seconds now) {
  out_.erase(id);
  places_ = static_cast<int>(out_.size());
  happens({node(), std::move(how)}, now);
}

json AskTell::report(TaskId id, const json& line, Seconds now) {
  if (find(id, line) == nullptr) return {{"stop", true}};
  epoch_ended(id, line.value("metrics", json()), now);
  const auto* out = find(id, line);
  if (out != nullptr && !out->go_on)
    throw UserError(
        fmt::format("trial {} was counted, and shall wait until others have reported: ask for them, or choose "
                    "an algorithm whose trials do not wait (tpe, random; with pruning)",
                    id));
  return {{"stop", out == nullptr}};
}

json AskTell::tell(TaskId id, const json& line, Seconds now) {
  auto* out = find(id, line);
  if (out == nullptr) return {{"told", false}};
  if (line.contains("failed")) {
    const auto& why = line["failed"];
    ends(id,
         TaskFailed{.task = id,
                    .attempt = out->attempt,
                    .failure = Failure::crashed,
                    .detail = why.is_string() ? why.get<std::string>() : why.dump()},
         now);
    return {{"told", true}};
  }
  if (line.contains("metrics")) epoch_ended(id, line["metrics"], now);
  out = find(id, line);
  if (out != nullptr && out->epoch == 0)
    ends(id,
         TaskFailed{.task = id, .attempt = out->attempt, .failure = Failure::silent, .detail = "it was told nothing"},
         now);
  else if (out != nullptr)
    ends(id, TaskEnded{id, out->attempt, {}}, now);
  return {{"told", true}};
}

void AskTell::close(Seconds now) {
  if (job().state == JobState::running) happens({JobCancelled{0, "nobody asks any more"}}, now);
}

void serve_questions(store::Store& store, const std::string& spec, const std::string& resumed,
                     std::istream& questions, std::ostream& answers) {
  const auto say = [&](const json& line) {
    answers << line.dump(-1, ' ', false, json::error_handler_t::replace) << "\n" << std::flush;
  };
  store::RunInfo run;
  if (resumed.empty()) {
    const spec::Job job = as_asked(spec::load_tune(spec, catalogue()));
    auto kept = spec::to_json(job);
    kept["world"] = json_of(RunWorld{.world = kAskedWorld});
    run = store.create_run(spec::kind_of(job), spec::base_of(job).name, kept.dump(), wall());
  } else {
    run = find_own_run(store, resumed);
    if (!is_asked(run))
      throw UserError(fmt::format("run {} was not asked for trial by trial: go on with `tandem resume {}`", run.id,
                                  run.id));
  }
  const auto folder = store.run_folder(run.id);
  const auto lock = store::RunLock::take(folder);
  if (!lock) throw UserError("run " + run.id + " is being worked on by another process");
  const auto job = std::get<spec::TuneJob>(job_of(run));
  const auto journal = store.journal(run.id);
  AskTell study(job, *journal, TaskFolders(folder), wall());
  say({{"run", run.id}, {"folder", folder.string()}, {"goal", job.objective.goals.front().metric}});
  for (std::string line; std::getline(questions, line);) {
    const auto asked = parse_json(line);
    if (asked.is_object() && asked.contains("result"))
      say(result_json(with_real_state(store, store.find(run.id)), study.view(), TaskFolders(folder)));
    else
      say(study.answer(asked, wall()));
  }
  study.close(wall());
}

}  // namespace tandem::app
