// What came of a tuning run: the best trial, what it cost, and how it was approached.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/tune_results.h"
#include "report/html.h"
#include "report/parts.h"
#include "report/svg.h"
#include "report/tune_table.h"
#include "tune/fixed_default.h"
#include "tune/goals.h"

namespace tandem::report {

using namespace app;
namespace {

constexpr std::size_t kMostTrialDots = 1500, kMostInFull = 300;

bool in_order(const Scored& a, const Scored& b) {
  const double at = a.record().at.value, other = b.record().at.value;
  return at != other ? at < other : a.task->id < b.task->id;
}

std::string list_of(const Values& values) {
  std::string out = "<dl>";
  for (const auto& [name, value] : values)
    out += fmt::format("<dt>{}</dt><dd>{}</dd>", escape(name, 60), escape(short_text(value)));
  return out + "</dl>";
}

std::string system_list(const Resources& system, const std::string& confidence) {
  std::string out = fmt::format("<dl><dt>cores</dt><dd>{}</dd>", system.cores);
  out +=
      fmt::format("<dt>memory</dt><dd>{}</dd>", system.memory > 0 ? text_bytes(system.memory) : "no limit");
  out += fmt::format("<dt>speed</dt><dd>{:.0f} % of full</dd>", system.speed * 100);
  if (system.gpus > 0) {
    out += fmt::format("<dt>GPUs</dt><dd>{}</dd>", system.gpus);
    out += fmt::format("<dt>GPU power</dt><dd>{}</dd>",
                       system.gpu_power.value > 0 ? text(system.gpu_power) : "as it was found");
    if (system.gpu_clock > 0)
      out += fmt::format("<dt>GPU clock</dt><dd>{}</dd>", text_frequency(system.gpu_clock));
  }
  if (system.precision != Precision::own)
    out += fmt::format("<dt>precision</dt><dd>{}</dd>", name(system.precision));
  return out + "</dl><p class=\"sub\">" + escape(confidence) + "</p>";
}

std::string run_facts(const Tuned& run) {
  const auto& found = run.found;
  std::string out;
  out += fact(
      "Tuning time", escape(text(found.tuning)),
      fmt::format("{} search, {} mode", escape(run.spec.search.algorithm, 60), spec::name(run.spec.mode)));
  out += fact("Energy of the trials", energy_html(energy_of(found)), escape(sources_text(energy_of(found))));
  out += fact("Trials", fmt::format("{}", found.trials.size()),
              found.failed == 0 ? "none failed" : fmt::format("{} failed", found.failed));
  out += fact("Epochs", fmt::format("{}", found.epochs_total), "over all trials");
  if (run.spec.mode != spec::Mode::pipelined) return out;
  out += fact("Probed epochs", fmt::format("{}", found.probed_epochs),
              "the first of a workload class in a new configuration");
  out += fact("Reused profiles", fmt::format("{}", found.reused_profiles),
              "works recognised from earlier runs instead of probed");
  return out;
}

// What the same epochs would have taken without tuning the system.
std::string comparison(const Tuned& run) {
  const auto fixed = tune::fixed_defaults(run.view, run.job.id);
  if (fixed.empty() || run.found.epochs_total == 0) return "";
  std::vector<std::vector<Cell>> rows;
  for (const auto& one : fixed)
    rows.push_back(
        {word_cell(one.what),
         {escape(text(one.tuning)), fmt::format("{:.6g}", one.tuning.value)},
         {fmt::format("{:.2f} times", one.tuning.value / std::max(run.found.tuning.value, 1e-9)),
          fmt::format("{:.6g}", one.tuning.value)},
         word_cell(one.measured ? "epochs measured here" : "epochs measured here, partly extrapolated")});
  return "<h3>The same epochs with fixed system parameters (predicted, not run)</h3>" +
         table({"fixed system parameters", "predicted tuning time", "against this run", "predicted from"},
               rows);
}

struct BestSoFar {
  Points score, trained;            // over the time since the start
  std::vector<const Scored*> when;  // each improvement
};

BestSoFar best_so_far(const Tuned& run, double unit) {
  BestSoFar out;
  double least = 0;
  for (const auto& scored : run.scored) {
    if (!out.when.empty() && !(scored.loss < least)) continue;
    least = scored.loss;
    const double at = (scored.record().at - run.from).value / unit;
    out.when.push_back(&scored);
    out.score.emplace_back(at, scored.value);
    out.trained.emplace_back(at, tune::trained_until(*scored.task, scored.index).value);
  }
  const double end = (run.until - run.from).value / unit;
  for (Points* points : {&out.score, &out.trained})
    if (!points->empty()) points->emplace_back(end, points->back().second);
  return out;
}

}  // namespace

Tuned::Tuned(const View& seen)
    : view(seen), job(seen.jobs.front()), spec(*job.as<spec::TuneJob>()), found(tune::outcome(seen, job.id)) {
  from = until = job.submitted_at;
  std::set<std::string> names;
  for (const auto& one : view.tasks) {
    if (one.job != job.id || !one.trial) continue;
    for (const auto& [name, value] : tune::searched_part(spec, view, one.trial->point)) names.insert(name);
    for (std::size_t i = 0; i < one.epochs.size(); ++i) {
      until = std::max(until, one.epochs[i].at);
      if (const auto values = tune::goal_values(spec.objective, one, i, found.price))
        scored.push_back({&one, i, values->front(), tune::losses(spec, *values, one, i).front()});
    }
  }
  std::sort(scored.begin(), scored.end(), in_order);
  varied.assign(names.begin(), names.end());
  if (job.state != JobState::running) until = std::max(until, job.finished_at);
}

const TaskView& Tuned::task(const tune::TrialOutcome& trial) const {
  return view.tasks[static_cast<std::size_t>(trial.task)];
}

const TaskView* Tuned::best_task() const {
  return found.best ? &task(found.trials[*found.best]) : nullptr;
}

std::string Tuned::about(const TaskView& one) const {
  const bool brief = !one.trial || found.trials.size() > kMostInFull;
  return fmt::format("trial {}{}", one.id,
                     brief ? "" : ": " + point_text(tune::searched_part(spec, view, one.trial->point)));
}

std::string goal_label(const spec::Objective& objective, const spec::Goal& goal) {
  const std::string unit = tune::unit_of(objective, goal);
  return goal.metric + (unit.empty() ? "" : " (" + unit + ")");
}

std::string goal_text(const spec::Objective& objective, const spec::Goal& goal, double value) {
  const std::string unit = tune::unit_of(objective, goal);
  return number_text(value) + (unit.empty() ? "" : " " + unit);
}

std::string energy_html(const EnergyTotal& drawn) {
  if (drawn.source.empty()) return "unknown";
  return fmt::format("{}{} <small>{}</small>", drawn.complete ? "" : "at least ", escape(text(drawn.joules)),
                     how_known(drawn));
}

std::string colour(std::int64_t n) {
  return fmt::format("c{}", ((n % 10) + 10) % 10);
}

std::string fact(std::string_view label, const std::string& html, const std::string& note_html, bool best) {
  return fmt::format(
      "<div class=\"fact{}\"><div class=\"label\">{}</div><div class=\"value\">{}</div><div "
      "class=\"about\">{}</div></div>\n",
      best ? " best" : "", escape(label), html, note_html);
}

std::string tune_headline(const Tuned& run) {
  std::string out;
  if (run.found.best) {
    const auto& best = run.found.trials[*run.found.best];
    const bool joint = run.spec.mode == spec::Mode::joint;
    out += "<div class=\"facts\">\n";
    for (std::size_t i = 0; i < best.goals.size(); ++i)
      out +=
          fact((i > 0    ? "its "
                : joint ? "Best by " + tune::ranked_by(run.spec) + ": "
                        : "Best ") +
                   run.spec.objective.goals[i].metric,
               escape(goal_text(run.spec.objective, run.spec.objective.goals[i], best.goals[i])),
               fmt::format("trial {}, epoch {} of {}", best.task, best.best_epoch.value_or(0), best.epochs),
               i == 0);
    if (joint)
      for (const auto& [metric, at] : run.found.reached)
        out += fact("Reached " + metric, escape(number_text(at.value)),
                    fmt::format("trial {}, epoch {}", at.task, at.epoch));
    out += run_facts(run) + "</div>\n<div class=\"pair\"><div><h3>Its hyperparameters</h3>" +
           list_of(best.hyper) + "</div><div><h3>System to train it with</h3>" +
           system_list(run.found.best_system, run.found.system_confidence) + "</div></div>\n";
  } else {
    out += nothing(run.found.trials.empty()     ? "No trial was started."
                   : !run.found.reached.empty() ? "Every trial failed, so there is no best one."
                                                : "No trial reported " + run.spec.objective.goals.front().metric +
                                                  ", so there is no best one.");
    out += "<div class=\"facts\">\n" + run_facts(run) + "</div>\n";
  }
  return section("result", "Result", out + comparison(run));
}

std::string convergence_section(const Tuned& run) {
  const std::string title = "On the way to the best";
  const auto& goal = run.spec.objective.goals.front();
  if (run.scored.empty())
    return section("convergence", title, nothing("No epoch reported " + goal.metric + "."));
  const TimeUnit unit = time_unit(run.until - run.from);
  const std::string time = "tuning time (" + unit.name + ")";
  const BestSoFar best = best_so_far(run, unit.seconds);

  std::vector<double> values, trained;
  for (const auto& scored : run.scored) values.push_back(scored.value);
  for (const auto& [x, y] : best.trained) trained.push_back(y);
  if (run.spec.objective.target) values.push_back(*run.spec.objective.target);
  const Axis across{time, 0, std::max((run.until - run.from).value / unit.seconds, 1e-9)};

  Plot score("best " + goal.metric + " so far over the tuning time", across,
             axis_for(goal_label(run.spec.objective, goal), values));
  const std::size_t every = 1 + run.scored.size() / kMostTrialDots;
  for (std::size_t i = 0; i < run.scored.size(); i += every) {
    const auto& scored = run.scored[i];
    score.dot((scored.record().at - run.from).value / unit.seconds, scored.value, "c7 faint",
              fmt::format("{} {} after epoch {}\n{}", goal.metric,
                          goal_text(run.spec.objective, goal, scored.value), scored.record().epoch,
                          run.about(*scored.task)),
              2.2);
  }
  if (run.spec.objective.target) score.level(*run.spec.objective.target, "target");
  score.steps(best.score, "c0");
  Plot time_of("training time of the best so far over the tuning time", across,
               axis_for("training time (s)", trained, false, true));
  time_of.steps(best.trained, "c1");
  for (std::size_t i = 0; i < best.when.size(); ++i) {
    const Scored& scored = *best.when[i];
    const auto [at, value] = best.score[i];
    const std::string about = fmt::format("{} {} after epoch {}, {} of training\n{}", goal.metric,
                                          goal_text(run.spec.objective, goal, value), scored.record().epoch,
                                          text(Seconds{best.trained[i].second}), run.about(*scored.task));
    score.dot(at, value, "c0", about);
    time_of.dot(at, best.trained[i].second, "c1", about);
  }
  return section(
      "convergence", title,
      figures(
          {figure(score.svg(),
                  fmt::format("Best {} so far{}; grey: every epoch's own.", goal.metric,
                              run.spec.mode == spec::Mode::joint ? " (best by the joint objective)" : "")),
           figure(time_of.svg(),
                  "Seconds of training behind the best result so far, start-up not counted. It grows when "
                  "the best trial trains on and falls when a quicker one overtakes it.")}));
}

}  // namespace tandem::report
