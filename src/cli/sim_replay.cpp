#include "cli/sim_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/html.h"
#include "cli/session.h"
#include "cli/sim_table.h"
#include "cli/tune_result.h"
#include "control/loop.h"
#include "sim/world_play.h"
#include "stats/median.h"

namespace tandem::cli {
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

std::int64_t epochs_of(const View& view) {
  std::int64_t sum = 0;
  for (const auto& task : view.tasks) sum += static_cast<std::int64_t>(task.epochs.size());
  return sum;
}

void play_again(const View& run, sim::RecordedPrograms& programs, Replayed& out) {
  const JobView& job = run.jobs.front();
  OneJob submitted({0, job.spec, job.tune});
  sim::World world({.nodes = sim::nodes_of(run), .arrivals = &submitted}, programs);
  control::Decider decider(policies());
  if (job.tune) decider.step({world.now(), KnowledgeArrived{"the run", run.known}});
  sim::play(world, decider);
  const JobView& again = decider.view().jobs.front();
  out.played = again.active;
  out.played_out = again.state == JobState::finished;
  out.epochs_played = epochs_of(decider.view());
}

std::optional<double> median_error(const std::vector<sim::PredictedEpoch>& epochs) {
  std::vector<double> errors;
  for (const auto& epoch : epochs)
    if (epoch.predicted) errors.push_back(std::abs(*epoch.predicted / epoch.measured - 1));
  if (errors.empty()) return std::nullopt;
  return stats::median(std::move(errors));
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string whole_text(const Replayed& replayed) {
  std::string out = fmt::format("replayed: {}, measured {}, error {}\n", text(replayed.played),
                                text(replayed.measured), percent(std::abs(replayed.error())));
  if (replayed.epochs_played != replayed.epochs_measured)
    out += fmt::format("  the replay ran {} epochs, the run {}\n", replayed.epochs_played,
                       replayed.epochs_measured);
  if (!replayed.finished)
    out += "  the run did not come to its own end; the replay goes on as if it had not been stopped\n";
  if (!replayed.played_out) out += "  the replay did not come to a good end: its job failed or got stuck\n";
  const auto& guesses = replayed.guesses;
  if (guesses.beyond + guesses.points + guesses.configurations > 0)
    out += fmt::format(
        "  guesses among {} epochs: {} beyond what the run did, {} of other hyperparameters, {} in "
        "configurations "
        "it did not try\n",
        guesses.epochs, guesses.beyond, guesses.points, guesses.configurations);
  return out;
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
  out.epochs_measured = epochs_of(run);
  out.finished = run.jobs.front().state == JobState::finished;
  play_again(run, programs, out);
  out.guesses = programs.guesses();
  return out;
}

std::string replay_table(const store::RunInfo& run, const View& view, const Replayed& replayed) {
  const char* unit = is_tuning(view) ? "trial" : "task";
  std::vector<std::vector<std::string>> lines{{unit, "epochs", "measured s", "predicted s", "median error"}};
  for (const auto& task : replayed.tasks) {
    const bool some = task.epochs > task.unpredicted;
    lines.push_back({std::to_string(task.task), std::to_string(task.epochs),
                     some ? number_text(task.measured.value) : "-",
                     some ? number_text(task.predicted.value) : "-", some ? percent(task.median) : "-"});
  }
  std::string out = fmt::format("replay of {} ({})\n\n{}\n", run.name, run.id, text_table(lines, 0));
  std::int64_t unpredicted = 0;
  for (const auto& task : replayed.tasks) unpredicted += task.unpredicted;
  out += fmt::format("epochs: median error {}, each predicted from the others\n",
                     replayed.median ? percent(*replayed.median) : "unknown");
  if (unpredicted > 0)
    out += fmt::format("  {} of {} not predicted: nothing else like them was measured\n", unpredicted,
                       replayed.epochs.size());
  return out + whole_text(replayed);
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
          {"kind", is_tuning(view) ? "tune" : "train"},
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

int replay_run(const StoreOption& where, const std::string& wanted, const JsonOption& json_option) {
  auto store = where.open();
  const auto run = with_real_state(store, find_job_run(store, wanted));
  if (run.state == "running")
    throw UserError("run " + run.id +
                    " is still at work; replay it when it is over, or end it with `tandem stop " + run.id +
                    "`");
  const View view = replayed(store, run);
  const Replayed out = replay_of(view);
  json_option.write(replay_json(run, view, out));
  if (!json_option.alone()) std::cout << replay_table(run, view, out);
  return kDone;
}

}  // namespace tandem::cli
