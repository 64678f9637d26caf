// Batch size and power limit for a job that comes again and again, so that all its runs together cost least.
//
//     Recurring chooser(job);
//     for (const auto& line : what_was_kept) chooser.learn(line);   // slices and ends, in order
//     const auto plan = chooser.propose();                          // a batch size, or why there is none
//     ... run slices under chooser.limit(plan.batch), learn() each; stop once the attempt has cost
//         chooser.stop_cost(plan.batch); learn() how it ended ...
//
// What a run costs is a product: epochs to the target, which depend on the batch size and on luck, times the
// cost of an epoch, which depends on batch size and limit and is nearly the same each time. They are learned
// apart: the first as a curve over batch sizes with lognormal luck (batch_curve.h), the second by slices of
// epochs (epoch_costs.h), and where a batch size never ran, by a curve over those that did. So most batch
// sizes are ruled out without being run.
//
// Which to run is a trade: what it is expected to cost more than the best known now, against how much less
// it may turn out to cost in each run to come (the knowledge gradient). Running the best known teaches too:
// of two that are close, the one that is less well known is run. How many are to come: as the job says, else
// as many as there were, and at least 50. Only neighbours of what ran are candidates: they cost less to try
// than a leap, and say whether to go on.
//
// An attempt is stopped when what it is still expected to take is more than running the best known instead;
// every law of epochs here leaves room for runs that never arrive. One that is stopped teaches "at least so
// many epochs". A batch size that failed twice and never reached the target is not proposed again.
//
// All state is a fold over slices and ends: the same ones in the same order give the same chooser. There is
// no chance in it. Several attempts may run at once. Older outcomes count less, and those before
// a clear change not at all, so that a job that changes is followed. Pure; one owner.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tune/batch_curve.h"
#include "tune/epoch_costs.h"
#include "tune/recurring_job.h"

namespace tandem::tune {

struct RecurringPlan {
  std::int64_t batch = 0;
  double limit = 0;        // to begin with; ask limit() after each slice
  double stop_cost = 0;    // infinite while nothing better is known
  bool exploring = false;  // not the cheapest known: it may turn out to be
  std::string why;
  // Limits that are worth a look in this run. One: the cheapest, where those beside it were measured and are
  // dearer. Where one of them was not: the cheapest and those beside it. Of a batch size that never ran: what
  // was the cheapest for its nearest neighbour, and those beside that. Else all.
  std::vector<double> among{};
};

// One that was measured, for tables: what a run is expected to take.
struct RecurringCell {
  std::int64_t batch = 0;
  double limit = 0;
  double epochs = 0, seconds = 0, joules = 0, cost = 0;
  int rank = 0;  // 0: no other cell takes both less time and less energy (search/pareto.h)
};

class Recurring {
 public:
  explicit Recurring(RecurringJob);  // UserError: the job makes no sense

  // UserError: a batch size or limit that is not the job's, numbers that cannot be.
  void learn(const EpochSlice&);
  void learn(const AttemptEnded&);

  // What to run next, or why nothing can be: no batch size reaches the target. `running`: batch sizes of
  // attempts that have not ended; what they are about to show is not tried a second time meanwhile.
  std::variant<RecurringPlan, std::string> propose(const std::vector<std::int64_t>& running = {}) const;
  // Of the next slice (an epoch divided by the number of limits is enough for one), and whether that is a
  // probe: if not, it is the best known, and stays so for the rest of the run.
  struct Limit {
    double watts = 0;
    bool probe = false;
  };
  Limit limit(std::int64_t batch) const;
  double stop_cost(std::int64_t batch) const;  // of an attempt; better known after its first slices

  std::vector<RecurringCell> cells() const;  // of batch sizes that reached the target; cheapest first
  const RecurringJob& job() const { return job_; }

 private:
  struct Past {
    double epochs = 0;
    std::int64_t when = 0;  // which attempt
    double log() const { return std::log(epochs); }
  };
  struct Arm {
    std::vector<Past> arrived, cut_short;  // at the target; before it
    std::int64_t reached = 0, failed = 0;
    bool ran() const { return !arrived.empty() || !cut_short.empty(); }
    bool given_up() const { return reached == 0 && failed >= 2; }
  };
  struct Outlook {  // for one batch size
    Belief epochs, epoch_cost;
    double luck = 0;          // variance of a run's log epochs around the curve
    double broken = 0;        // share of runs that never arrive
    double mean() const;      // cost until the target is reached
    double an_epoch() const;  // cost of one
  };
  struct Trial {
    double stop_epochs = 0, cost = 0;  // the cost of running it now, and the best known where it is stopped
  };

  std::size_t index(std::int64_t batch) const;
  bool any_success() const;
  double luck(std::int64_t before) const;  // variance of log epochs among attempts before that one
  std::optional<std::int64_t> changed_since(const Arm&) const;
  void forget_before(std::int64_t attempt);
  std::vector<Sighting> sightings(double luck) const;
  std::vector<Outlook> outlooks() const;
  std::size_t best(const std::vector<Outlook>&) const;
  double arrived_by(const Outlook&, double epochs) const;
  Trial trial(const Outlook&, double alternative) const;
  double gain(const Outlook&, double other) const;
  bool near(std::size_t at) const;
  double runs_to_come() const;
  std::variant<RecurringPlan, std::string> before_any_success() const;
  std::vector<double> beside(double limit) const;  // with it
  std::optional<double> settled(std::int64_t batch) const;
  std::vector<double> worth_a_look(std::int64_t batch) const;

  RecurringJob job_;
  EpochCosts costs_;
  std::vector<Arm> arms_;  // one a batch size
  std::int64_t attempts_ = 0;
};

}  // namespace tandem::tune
