#include "control/loop.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "event/consistency.h"
#include "base/error.h"

namespace tandem::control {
namespace {

constexpr Seconds kSampleEvery{1.0};
constexpr Seconds kTickEvery{0.1};

}  // namespace

Entry Decider::step(Event event) {
  Entry entry{view_.events + 1, std::move(event), {}};
  view_.apply(entry.event);
  for (auto& policy : policies_)
    for (auto& body : policy->step(view_, entry.event)) {
      Decision decision{view_.next_decision, std::move(body)};
      view_.apply(decision);
      entry.decisions.push_back(std::move(decision));
    }
  return entry;
}

void Decider::fold(const Entry& entry) {
  check_consistent(view_, entry.event);
  view_.apply(entry.event);
  check_consistent(view_, entry.decisions);
  for (auto& policy : policies_) policy->fold(view_, entry.event, entry.decisions);
  for (const auto& decision : entry.decisions) view_.apply(decision);
}

namespace {

// Journals of before reasons were kept have none to compare.
void forget_reasons_where_none_is(const Entry& journalled, Entry& again) {
  for (std::size_t i = 0; i < std::min(journalled.decisions.size(), again.decisions.size()); ++i) {
    const auto* had = std::get_if<Start>(&journalled.decisions[i].body);
    auto* has = std::get_if<Start>(&again.decisions[i].body);
    if (had && has && !had->reason) has->reason.reset();
  }
}

}  // namespace

std::optional<std::vector<std::string>> Decider::saved() const {
  std::vector<std::string> out;
  for (const auto& policy : policies_) {
    auto state = policy->save(view_);
    if (!state) return std::nullopt;
    out.push_back(std::move(*state));
  }
  return out;
}

bool Decider::restore(Snapshot snapshot) {
  if (snapshot.policies.size() != policies_.size()) return false;
  for (std::size_t i = 0; i < policies_.size(); ++i)
    if (!policies_[i]->restore(snapshot.policies[i])) return false;
  view_ = std::move(snapshot.view);
  return true;
}

std::optional<std::int64_t> first_difference(std::vector<std::unique_ptr<Policy>> policies,
                                             Journal& history) {
  Decider decider(std::move(policies));
  std::optional<std::int64_t> different;
  history.replay([&](Entry&& entry) {
    if (different) return;
    check_consistent(decider.view(), entry.event);
    auto again = decider.step(entry.event);
    forget_reasons_where_none_is(entry, again);
    if (again != entry) different = entry.number;
  });
  return different;
}

// True: what is known now is the fold of the whole journal. Otherwise nothing is known.
bool Loop::fold_from(const std::string& bytes) {
  auto snapshot = snapshot_from(bytes);
  if (!snapshot) return false;
  bool first = true, good = false;
  const auto number = snapshot->last.number;
  ports_.journal.replay_from(number, [&](Entry&& entry) {
    if (std::exchange(first, false))
      good = entry == snapshot->last && decider_.restore(std::move(*snapshot));
    else if (good)
      decider_.fold(entry);
    last_ = std::move(entry);
  });
  return good;
}

std::optional<Snapshot> Loop::snapshot() {
  flush();
  auto policies = decider_.saved();
  if (!policies || last_.number != view().events) return std::nullopt;
  return Snapshot{last_, share(), std::move(*policies)};
}

void Loop::open(const std::string& snapshot) {
  if (!fold_from(snapshot))
    ports_.journal.replay([&](Entry&& entry) {
      decider_.fold(entry);
      last_ = std::move(entry);
    });
  std::vector<EventBody> joined;
  for (auto& node : ports_.world.nodes()) joined.emplace_back(std::move(node));
  take(std::move(joined));
  take(ports_.world.reconcile(view()));
}

JobId Loop::submit(const spec::Job& job, std::optional<KnowledgeArrived> known, Owner owner, std::string key) {
  const auto id = static_cast<JobId>(view().jobs.size());
  std::vector<EventBody> events;
  if (known) events.emplace_back(*std::move(known));
  events.emplace_back(JobSubmitted{id, job, std::move(owner), std::move(key)});
  take(std::move(events));
  flush();
  return id;
}

void Loop::cancel(JobId job, const std::string& reason) {
  take({EventBody(JobCancelled{job, reason})});
  flush();
}

void Loop::archive(std::vector<JobId> jobs) {
  if (jobs.empty()) return;
  flush();  // who is told of entries looks up what they speak of
  take({EventBody(JobsArchived{std::move(jobs)})});
  flush();
}

void Loop::resume_jobs(const JobResumed& with, bool finished_too) {
  std::vector<EventBody> resumed;
  const bool raised = with.limits || with.budget;
  for (const auto& job : view().jobs)
    if (job.state == JobState::stopped || job.state == JobState::failed ||
        (job.state == JobState::finished && finished_too) || (job.state == JobState::running && raised))
      resumed.push_back(JobResumed{job.id, with.limits, with.budget});
  take(std::move(resumed));
}

void Loop::run(const std::function<std::optional<std::string>()>& cancel) {
  bool cancelled = false;
  while (!over()) {
    if (auto reason = cancel ? cancel() : std::nullopt; reason && !cancelled) {
      cancelled = true;
      std::vector<EventBody> events;
      for (const auto& job : view().jobs)
        if (job.state == JobState::running) events.push_back(JobCancelled{job.id, *reason});
      take(std::move(events));
      continue;
    }
    turn();
  }
  flush();
}

void Loop::serve(const std::function<bool()>& go_on) {
  while (go_on()) turn();
  flush();
}

void Loop::turn() {
  auto events = ports_.world.wait(ports_.observer || !unwritten_.empty() ? kTickEvery : kSampleEvery);
  if (events.empty()) flush();
  take(std::move(events));
  if (ports_.sensor && ports_.world.now() - last_sample_ >= kSampleEvery) {
    ports_.sensor->sample();
    last_sample_ = ports_.world.now();
  }
  if (ports_.observer) ports_.observer->tick(view());
}

void Loop::take(std::vector<EventBody> happened) {
  std::vector<Event> events;
  for (auto& body : happened) events.push_back({ports_.world.now(), std::move(body)});
  take(std::move(events));
}

void Loop::take(std::vector<Event> events) {
  if (!decide(std::move(events))) return;
  gather();
  flush();
}

bool Loop::decide(std::vector<Event> events) {
  bool decided = false;
  for (auto& event : events) {
    measure(event);
    unwritten_.push_back(decider_.step(std::move(event)));
    decided |= !unwritten_.back().decisions.empty();
  }
  return decided;
}

// Waits a little for the other running tasks, in case they are about to speak too.
void Loop::gather() {
  const Seconds until = ports_.world.now() + 0.5 * commit_cost_;
  while (unwritten_.size() < view().holding.size()) {
    const Seconds left = until - ports_.world.now();
    if (left <= Seconds{0}) return;
    auto more = ports_.world.wait(left);
    if (more.empty()) return;
    decide(std::move(more));
  }
}

// A full disk ends programs, which may be what fills it, and not the loop.
void Loop::append() {
  try {
    ports_.journal.append(unwritten_);
  } catch (const SystemError& e) {
    if (e.error_number != ENOSPC) throw;
    ports_.world.out_of_space();
    if (!ports_.journal.use_reserve()) throw;
    ports_.journal.append(unwritten_);
  }
}

void Loop::flush() {
  if (unwritten_.empty()) return;
  const Seconds began = ports_.world.now();
  append();
  last_ = unwritten_.back();
  commit_cost_ = ports_.world.now() - began;
  for (const auto& entry : std::exchange(unwritten_, {})) {
    for (const auto& decision : entry.decisions) ports_.world.carry_out(decision, view());
    if (ports_.observer) ports_.observer->saw(view(), entry);
  }
}

// Adds to an event what the sensors know of the stretch it ends.
void Loop::measure(Event& event) {
  if (!ports_.sensor) return;
  if (auto* epoch = std::get_if<EpochEnded>(&event.body)) {
    auto reading = ports_.sensor->read(epoch->task);
    epoch->energy = std::move(reading.energy);
    // Its slices were read before.
    if (const auto& sliced = view().tasks.at(static_cast<std::size_t>(epoch->task)).sliced;
        sliced && epoch->energy)
      epoch->energy = sum_of(*sliced, *epoch->energy);
    epoch->startup_energy = reading.startup_energy;
    epoch->profile = std::move(reading.profile);
  } else if (auto* slice = std::get_if<SliceEnded>(&event.body)) {
    slice->energy = ports_.sensor->read(slice->task).energy;
  } else if (auto* ended = std::get_if<TaskEnded>(&event.body)) {
    ended->energy = ports_.sensor->read(ended->task).energy;
    ports_.sensor->detach(ended->task);
  } else if (auto* failed = std::get_if<TaskFailed>(&event.body);
             failed && failed->failure != Failure::lost) {
    failed->energy = ports_.sensor->read(failed->task).energy;
    ports_.sensor->detach(failed->task);
  }
}

bool Loop::over() const {
  const auto& jobs = view().jobs;
  return view().holding.empty() && std::none_of(jobs.begin(), jobs.end(), [](const JobView& job) {
           return job.state == JobState::running;
         });
}

}  // namespace tandem::control
