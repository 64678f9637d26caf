// The one loop: events in, decisions out, both durable before anything is done about them.
//
// For each batch of events the world reports: apply them to the view, ask the policies in order (each sees
// what the ones before it decided), journal all of it in one transaction, only then carry the decisions out.
// A crash before the commit leaves no trace; a crash after it is repaired by World::reconcile on resume.
// Events that led to no decision wait for the next commit, a tenth of a second at most: nothing was promised
// on their account. While several tasks run, a commit waits up to half its usual cost for company, so that
// short tasks share one flush of the disk.
//
// The loop owns the view. One thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "control/ports.h"
#include "control/snapshot.h"
#include "event/policy.h"

namespace tandem::control {

// Turns events into entries: the deciding half of the loop, without a world. Also what a replay runs.
class Decider {
 public:
  explicit Decider(std::vector<std::unique_ptr<Policy>> policies) : policies_(std::move(policies)) {}

  Entry step(Event event);  // decides
  void fold(const Entry&);  // takes history as it was, deciding nothing
  const View& view() const { return view_; }
  View share() { return view_.share(); }
  // What each policy keeps; none: one of them cannot say now.
  std::optional<std::vector<std::string>> saved() const;
  bool restore(Snapshot);  // false, and as before: it cannot be used

 private:
  std::vector<std::unique_ptr<Policy>> policies_;
  View view_;
};

// Ran the events of `history` through fresh policies: the number of the first entry whose decisions differ,
// if any.
std::optional<std::int64_t> first_difference(std::vector<std::unique_ptr<Policy>> policies, Journal& history);

struct Ports {
  World& world;
  Journal& journal;
  Sensor* sensor = nullptr;
  Observer* observer = nullptr;
};

class Loop {
 public:
  Loop(Ports ports, std::vector<std::unique_ptr<Policy>> policies)
      : ports_(ports), decider_(std::move(policies)) {}

  // Folds what is journalled (all of it, or what came after the snapshot where that can be trusted), lets the
  // nodes join and reconciles what a crash left behind.
  void open(const std::string& snapshot = {});
  // What is known now, to be kept for the next `open`; none: some policy cannot say, so ask again later.
  std::optional<Snapshot> snapshot();
  // Durable when it returns. Before it comes what earlier jobs learned, where that is given. A SystemError, as
  // of all that is durable when it returns: it is decided and not yet in the journal. It is written with what
  // comes next, unless this process ends before.
  JobId submit(const spec::Job&, std::optional<KnowledgeArrived> = std::nullopt, Owner = {},
               std::string key = {});
  void flush();  // everything so far is durable when it returns
  // One that runs; of others nothing is left to cancel.
  void cancel(JobId, const std::string& reason);
  // Jobs that ended, with nothing running, are forgotten. Durable when it returns.
  void archive(std::vector<JobId>);
  // Those that were stopped or failed, or also those that were finished; with raised limits where given.
  void resume_jobs(const JobResumed& with = {}, bool finished_too = false);
  // Until every job is over. `cancel` is asked before each wait; a reason cancels all jobs.
  void run(const std::function<std::optional<std::string>()>& cancel = {});
  // For a server, whose jobs come and go: while `go_on` says so. It is asked after each wait, on this thread,
  // and may submit and cancel; whoever makes it wanted interrupts the world's wait.
  void serve(const std::function<bool()>& go_on);

  const View& view() const { return decider_.view(); }
  View share() { return decider_.share(); }  // as it is now, for other threads

 private:
  void take(std::vector<EventBody> happened);
  void take(std::vector<Event> events);
  bool decide(std::vector<Event> events);  // true: there is something to act on
  void gather();
  void measure(Event&);
  void append();
  bool over() const;
  void turn();

  Ports ports_;
  Decider decider_;
  bool fold_from(const std::string& snapshot);

  std::vector<Entry> unwritten_;
  Entry last_;  // that is journalled
  Seconds last_sample_, commit_cost_;
};

}  // namespace tandem::control
