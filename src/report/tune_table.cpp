#include "report/tune_table.h"

#include <fmt/format.h>
#include <algorithm>
#include <set>

#include "app/results.h"
#include "base/counted.h"
#include "report/energy_text.h"
#include "report/result_table.h"
#include "tune/fixed_default.h"

namespace tandem::report {
namespace fs = std::filesystem;
using namespace app;
namespace {

std::string tune_row(const std::string& label, const std::string& value) {
  return fmt::format("  {:<15} {}\n", label, value);
}

std::string goal_number(double value) {
  return fmt::format("{:.4g}", value);
}

std::string goals_text(const spec::TuneJob& job, const std::vector<double>& values) {
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& goal = job.objective.goals[i];
    const std::string unit = tune::unit_of(job.objective, goal);
    out += fmt::format("{}{} {}{}{}", i ? "  " : "", goal.metric, goal_number(values[i]),
                       unit.empty() ? "" : " ", unit);
  }
  return out;
}

bool has_front(const spec::TuneJob& job) {
  return job.objective.goals.size() > 1 && job.mode != spec::Mode::joint;
}

std::string trial_rows(const tune::Outcome& found, const spec::TuneJob& job) {
  const bool marked = has_front(job);
  const std::set<std::size_t> front(found.front.begin(), found.front.end());
  std::string out = fmt::format("\n  trial  state     epochs      time  system            result{}\n",
                                marked ? "   (*: on the Pareto front)" : "");
  for (std::size_t i = 0; i < found.trials.size(); ++i) {
    const auto& trial = found.trials[i];
    out += fmt::format("{} {:>5}  {:<8}  {:>6}  {:>8}  {:<16}  {}  ({}){}\n",
                       marked && front.contains(i) ? "*" : " ", trial.task, trial.state, trial.epochs,
                       text(trial.train_time), text(trial.system),
                       trial.goals.empty() ? "-" : goals_text(job, trial.goals), point_text(trial.hyper),
                       trial.state == "failed" ? "  " + trial.reason : "");
  }
  return out;
}

// What an epoch of the best trial's workload class takes and draws in each configuration, where energy is a
// goal.
std::string configuration_rows(const tune::Outcome& found, const spec::TuneJob& job) {
  const auto& weights = job.objective.cost;
  if (!weights && !tune::has_goal(job.objective, "energy")) return "";
  std::string out;
  for (const auto& config : found.best_workload) {
    if (!config.joules) continue;
    const Joules joules{*config.joules};
    const Seconds seconds{config.seconds};
    Resources system = config.system;
    system.memory = 0;  // a limit, not a speed
    out += fmt::format(
        "  {} {:<24} {:>8} {:>9}{}\n", config.rank == 0 ? "*" : " ", text(system), text(seconds),
        text(joules),
        weights ? fmt::format(" {:>9}", text(tune::cost_of(*weights, joules, seconds, found.price.watts)))
                : "");
  }
  if (out.empty()) return "";
  return fmt::format(
             "\n    {:<24} {:>8} {:>9}{}   (an epoch of the best trial; *: none is quicker and draws less)\n",
             "system", "time", "energy", weights ? fmt::format(" {:>9}", "cost") : "") +
         out;
}

std::string comparison_rows(const View& view, const tune::Outcome& found) {
  std::string out;
  for (const auto& fixed : tune::fixed_defaults(view, 0)) {
    const double times = fixed.tuning.value / std::max(found.tuning.value, 1e-9);
    out += tune_row(out.empty() ? "instead of" : "",
                    fmt::format("{:>7}  {}: {:.2f} times this (predicted{})", text(fixed.tuning), fixed.what,
                                times, fixed.measured ? "" : ", partly extrapolated"));
  }
  return out;
}

std::string front_rows(const tune::Outcome& found, const spec::TuneJob& job) {
  if (!has_front(job)) return "";
  std::string out = "\n  Pareto front: none of these is beaten in every goal\n";
  for (std::size_t i : found.front) {
    const auto& trial = found.trials[i];
    out += fmt::format("    trial {:<4} {}{}\n", trial.task, goals_text(job, trial.goals),
                       trial.hyper.empty() ? "" : "   (" + point_text(trial.hyper) + ")");
  }
  return out;
}

// In joint mode the best is not the one with the best main goal, which is told apart from it.
std::string best_rows(const tune::Outcome& found, const spec::TuneJob& job) {
  const auto& best = found.trials[*found.best];
  const std::string where = fmt::format("(trial {}, epoch {} of {})", best.task, *best.best_epoch, best.epochs);
  if (job.mode != spec::Mode::joint)
    return tune_row("best", fmt::format("{}   {}", goals_text(job, best.goals), where));
  std::string out = tune_row("best", fmt::format("by {}   {}", tune::ranked_by(job), where)) +
                    tune_row("  there",
                             fmt::format("{} after {}", goals_text(job, best.goals), text(best.best_after)));
  for (const auto& [metric, reached] : found.reached)
    out += tune_row("reached", fmt::format("{} {}   (trial {}, epoch {})", metric, goal_number(reached.value),
                                           reached.task, reached.epoch));
  return out;
}

// The first few trials of which `why` says something, each with the last line it printed.
template <class Why>
std::string trouble_rows(const std::string& headline, const tune::Outcome& found, const View& view, Why why) {
  std::string out = "\n  " + headline + ":\n";
  int shown = 0;
  for (const auto& trial : found.trials) {
    const std::string reason = why(trial);
    if (reason.empty()) continue;
    if (++shown > 3) {
      out += "    ...\n";
      break;
    }
    out += fmt::format("    trial {}: {}\n", trial.task, reason);
    const auto& failure = view.tasks[static_cast<std::size_t>(trial.task)].last_failure;
    const auto& lines = failure->last_output;
    const auto from = lines.empty() ? 0 : lines.find_last_of('\n', lines.size() - 2);
    if (!lines.empty())
      out += "      | " + lines.substr(from == std::string::npos ? 0 : from + 1) +
             (lines.back() == '\n' ? "" : "\n");
  }
  return out;
}

std::string trial_failure_rows(const tune::Outcome& found, const View& view) {
  const std::string all = counted(found.trials.size(), "trial");
  std::string out;
  if (found.failed > 0)
    out += trouble_rows(fmt::format("{} of {} failed", found.failed, all), found, view,
                        [](const auto& trial) { return trial.state == "failed" ? trial.reason : ""; });
  if (found.failed_afterwards > 0)
    out += trouble_rows(fmt::format("{} of {} went wrong after the last epoch; the epochs count",
                                    found.failed_afterwards, all),
                        found, view, [](const auto& trial) { return trial.afterwards; });
  return out;
}

}  // namespace

std::string point_text(const Values& point) {
  std::string out;
  for (const auto& [key, value] : point) {
    const auto* real = std::get_if<double>(&value);
    out += fmt::format("{}{} {}", out.empty() ? "" : "  ", key,
                       real ? fmt::format("{:.3g}", *real) : text(value));
  }
  return out;
}

std::string tune_table(const store::RunInfo& run, const View& view, const app::TaskFolders& folder,
                       bool details) {
  const auto& job = *view.jobs.front().as<spec::TuneJob>();
  const auto found = tune::outcome(view, 0);
  std::string out =
      fmt::format("{} {}: {}, {}, {} {}{}\n", run.name, run.state, counted(found.trials.size(), "trial"),
                  counted(static_cast<std::size_t>(found.epochs_total), "epoch"), job.search.algorithm,
                  spec::name(job.mode), run.reason.empty() ? "" : " (" + run.reason + ")");
  if (found.best) {
    const auto& best = found.trials[*found.best];
    out += "\n" + best_rows(found, job);
    for (const auto& [key, value] : best.hyper) {
      const auto* real = std::get_if<double>(&value);
      out += tune_row("  " + key, real ? fmt::format("{:.4g}", *real) : text(value));
    }
    out += tune_row("system", text(found.best_system));
    out += tune_row("", found.system_confidence);
    out += tune_row("tuning", text(found.tuning));
    out += comparison_rows(view, found);
    out += tune_row("energy", energy_text(energy_of(found)));
    if (job.objective.cost) out += tune_row("cost", tune::cost_text(job.objective, found.price));
    if (job.mode == spec::Mode::pipelined)
      out += tune_row("system tuner",
                      fmt::format("{} epoch{} of probing, {} workload class{} known from earlier jobs",
                                  found.probed_epochs, found.probed_epochs == 1 ? "" : "s",
                                  found.reused_profiles, found.reused_profiles == 1 ? "" : "es"));
  }
  if (const auto model = model_file(folder, view))
    out += tune_row("model", model->string());
  else if (found.best)
    out += tune_row("best trial", folder.of(found.trials[*found.best].task).string());
  out += tune_row("run", run.id);
  if (details) out += tune_row("folder", folder.run.string());
  out += front_rows(found, job) + configuration_rows(found, job);
  if (details) out += trial_rows(found, job);
  out += trial_failure_rows(found, view);
  if (const auto unread = unread_text(view.jobs.front()); !unread.empty()) out += "\n  warning: " + unread + "\n";
  return out;
}

}  // namespace tandem::report
