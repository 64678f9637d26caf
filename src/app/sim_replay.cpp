#include "app/sim_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/runs.h"
#include "app/tune_results.h"
#include "base/error.h"
#include "control/loop.h"
#include "sim/world/world_play.h"
#include "stats/numeric/median.h"

namespace tandem::app {
using nlohmann::json;
namespace {

// The one job of a run, at once.
class OneJob final : public sim::Arrivals {
 public:
  explicit OneJob(JobSubmitted job) : job_(std::move(job)) {}
  std::optional<Seconds> next() const override { return taken_ ? std::nullopt : std::optional(Seconds{0}); }
  JobSubmitted take() override {
    taken_ = true;
    return job_;
  }

 private:
  JobSubmitted job_;
  bool taken_ = false;
};

std::int64_t epochs_in(const View& view) {
  std::int64_t sum = 0;
  for (const auto& task : view.tasks) sum += static_cast<std::int64_t>(task.epochs.size());
  return sum;
}

void play_again(const View& run, sim::RecordedPrograms& programs, Replayed& out) {
  const JobView& job = run.jobs.front();
  OneJob submitted({0, job.spec});
  sim::World world({.nodes = sim::nodes_of(run), .arrivals = &submitted}, programs);
  control::Decider decider(policies_for(job.spec));
  if (row_of(job.spec).uses_knowledge)
    decider.step({world.now(), KnowledgeArrived{"the run", run.known.values()}});
  sim::play(world, decider);
  const JobView& again = decider.view().jobs.front();
  out.played = again.active;
  out.played_out = again.state == JobState::finished;
  out.epochs_played = epochs_in(decider.view());
}

std::optional<double> median_error(const std::vector<sim::PredictedEpoch>& epochs) {
  std::vector<double> errors;
  for (const auto& epoch : epochs)
    if (epoch.predicted) errors.push_back(std::abs(*epoch.predicted / epoch.measured - 1));
  if (errors.empty()) return std::nullopt;
  return stats::median(std::move(errors));
}

}  // namespace

Replayed replay_of(const View& run) {
  if (run.jobs.empty()) throw UserError("the run ended before its job began; there is nothing to replay");
  sim::RecordedPrograms programs(run);
  Replayed out;
  out.epochs = programs.predictions();
  out.tasks = sim::errors_by_task(out.epochs);
  out.median = median_error(out.epochs);
  out.measured = run.jobs.front().active;
  out.epochs_measured = epochs_in(run);
  out.finished = run.jobs.front().state == JobState::finished;
  play_again(run, programs, out);
  out.guesses = programs.guesses();
  return out;
}

json replay_json(const store::RunInfo& run, const View& view, const Replayed& replayed) {
  json epochs = json::array(), tasks = json::array();
  for (const auto& epoch : replayed.epochs)
    epochs.push_back({{"trial", epoch.task},
                      {"epoch", epoch.epoch},
                      {"measured", epoch.measured.value},
                      {"predicted", epoch.predicted ? json(epoch.predicted->value) : json(nullptr)}});
  for (const auto& task : replayed.tasks)
    tasks.push_back({{"trial", task.task},
                     {"epochs", task.epochs},
                     {"unpredicted", task.unpredicted},
                     {"measured", task.measured.value},
                     {"predicted", task.predicted.value},
                     {"median_error", task.epochs > task.unpredicted ? json(task.median) : json(nullptr)}});
  const auto& guesses = replayed.guesses;
  return {{"run", run.id},
          {"kind", spec::kind_of(view.jobs.front().spec)},
          {"median_error", replayed.median ? json(*replayed.median) : json(nullptr)},
          {"trials", tasks},
          {"epochs", epochs},
          {"replay",
           {{"seconds", replayed.played.value},
            {"measured", replayed.measured.value},
            {"error", replayed.error()},
            {"epochs", replayed.epochs_played},
            {"epochs_measured", replayed.epochs_measured},
            {"run_finished", replayed.finished},
            {"finished", replayed.played_out},
            {"guesses",
             {{"epochs", guesses.epochs},
              {"beyond", guesses.beyond},
              {"points", guesses.points},
              {"configurations", guesses.configurations}}}}}};
}

}  // namespace tandem::app
