#include "advise/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "advise/curve_points.h"
#include "base/error.h"
#include "base/text.h"
#include "stats/numeric/median.h"

namespace tandem::advise {
namespace {

using Runs = std::vector<const PastRun*>;

constexpr double kCurveMayBeWorse = 1.25;  // a curve knows about epochs, a regression mostly does not

Runs of_program(std::span<const PastRun> runs, const std::string& program) {
  Runs out;
  std::set<std::string> programs;
  for (const auto& run : runs) {
    programs.insert(run.program);
    if (run.program == program) out.push_back(&run);
  }
  if (!out.empty()) return out;
  const std::vector<std::string> known(programs.begin(), programs.end());
  throw UserError(
      fmt::format("no past run of '{}' is known{}; {}. Run it once, or let a probe measure it",
                  printable(program, 120), did_you_mean(program, known),
                  known.empty() ? "there are no past runs at all" : "there are runs of: " + join(known)));
}

Runs usable(const Runs& runs, std::vector<std::string>& notes) {
  Runs out;
  std::map<std::string, int> why;
  for (const auto* run : runs) {
    const auto reason = unusable(*run);
    if (reason)
      ++why[*reason];
    else
      out.push_back(run);
  }
  for (const auto& [reason, count] : why)
    notes.push_back(fmt::format("{} past run{} left out: {}", count, count == 1 ? " was" : "s were", reason));
  return out;
}

// Measured runs first, those that a probe made up after them.
std::size_t measured_first(Runs& runs) {
  return static_cast<std::size_t>(
      std::stable_partition(runs.begin(), runs.end(), [](const PastRun* run) { return !run->from_probe; }) -
      runs.begin());
}

double in_epochs(const PastRun& run) {
  return std::accumulate(run.epoch_seconds.begin(), run.epoch_seconds.end(), 0.0);
}

bool tells_epochs(const PastRun& run) {
  return run.epoch_seconds.size() == static_cast<std::size_t>(run.setting.epochs) &&
         in_epochs(run) <= run.seconds.value;
}

double startup_of(const Runs& runs) {
  std::vector<double> seen;
  for (const auto* run : runs)
    if (tells_epochs(*run)) seen.push_back(run->seconds.value - in_epochs(*run));
  return seen.empty() ? 0 : stats::median(std::move(seen));
}

double seconds_an_epoch(const PastRun& run, double startup) {
  const auto epochs = static_cast<double>(run.setting.epochs);
  if (tells_epochs(run)) return in_epochs(run) / epochs;
  const double rest = run.seconds.value - startup;
  return (rest > 0 ? rest : run.seconds.value) / epochs;
}

// Which source of energy most runs have; those of others are not comparable.
std::string usual_source(const Runs& runs, std::vector<std::string>& notes) {
  std::map<std::string, int> count;
  for (const auto* run : runs)
    if (run->joules && std::isfinite(run->joules->value) && run->joules->value > 0)
      ++count[run->joules_source];
  if (count.empty()) return "";
  const auto most = std::max_element(count.begin(), count.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& [source, runs_of] : count)
    if (source != most->first)
      notes.push_back(fmt::format("joules of {} runs come from '{}', not '{}': they were left out", runs_of,
                                  source, most->first));
  return most->first;
}

struct Training {
  std::vector<double> rows, targets;

  void add(const std::vector<double>& row, double target) {
    rows.insert(rows.end(), row.begin(), row.end());
    targets.push_back(target);
  }
};

// Numbers that are shares by their name and by what was seen.
bool is_share(const std::string& metric, std::span<const double> seen) {
  static const std::set<std::string> shares = {"accuracy", "precision", "recall", "f1"};
  return shares.contains(metric) &&
         std::all_of(seen.begin(), seen.end(), [](double value) { return value >= 0 && value <= 1; });
}

}  // namespace

Models Models::fit(std::span<const PastRun> history, const std::string& program, const std::string& machine,
                   const ModelsOptions& options) {
  Models out;
  out.program_ = program;
  out.machine_ = machine;
  out.metric_ = options.metric;
  auto runs = usable(of_program(history, program), out.notes_);
  if (runs.empty())
    throw UserError(
        fmt::format("nothing can be learnt from the past runs of '{}': {}", program, join(out.notes_, "; ")));
  Runs here;
  for (const auto* run : runs)
    if (run->machine == machine) here.push_back(run);
  out.elsewhere_ = here.empty();
  if (out.elsewhere_)
    out.notes_.push_back(
        fmt::format("no past run on '{}': those on '{}' are used, and times may be quite different", machine,
                    runs.front()->machine));
  else
    runs = std::move(here);
  const auto measured = measured_first(runs);
  out.runs_ = measured;
  if (measured < kFewErrors)
    out.notes_.push_back(
        measured == 0
            ? "no past run: this rests on a probe of a few batches, so intervals are wide"
            : fmt::format("only {} past run{}: intervals are wide", measured, measured == 1 ? "" : "s"));
  out.fit_seconds(runs, measured, options);
  out.fit_joules(runs, options);
  out.fit_metric(runs, options);
  return out;
}

void Models::fit_seconds(std::span<const PastRun* const> runs, std::size_t measured,
                         const ModelsOptions& options) {
  // What other machines did says nothing of how much contention there is on this one.
  const Columns columns(Columns::Of::timing, runs, elsewhere_ ? 0 : options.machine_cores);
  for (const auto& name : columns.left_out())
    notes_.push_back(fmt::format("the time is predicted without {}: not all past runs say it, or not as a number", name));
  startup_ = startup_of({runs.begin(), runs.end()});
  Training training;
  for (const auto* run : runs)
    training.add(columns.row(run->setting, mean_load(run->load, run->seconds)),
                 seconds_an_epoch(*run, startup_));
  epoch_seconds_ = Predictor::fit(columns, training.rows, training.targets,
                                  {ErrorKind::relative, chosen_regressions(options), options.seed, measured});
}

void Models::fit_joules(std::span<const PastRun* const> runs, const ModelsOptions& options) {
  joules_source_ = usual_source({runs.begin(), runs.end()}, notes_);
  Training training;
  for (const auto* run : runs)
    if (!joules_source_.empty() && run->joules && run->joules_source == joules_source_ &&
        run->joules->value > 0 && std::isfinite(run->joules->value))
      training.add(epoch_seconds_.columns().row(run->setting, mean_load(run->load, run->seconds)),
                   run->joules->value / static_cast<double>(run->setting.epochs));
  if (!training.targets.empty())
    epoch_joules_ = Predictor::fit(epoch_seconds_.columns(), training.rows, training.targets,
                                   {ErrorKind::relative, chosen_regressions(options), options.seed});
}

void Models::fit_metric(std::span<const PastRun* const> runs, const ModelsOptions& options) {
  Runs told;
  for (const auto* run : runs)
    if (last_metric(*run, metric_)) told.push_back(run);
  if (told.empty()) {
    notes_.push_back(fmt::format("no past run told '{}': candidates are not ranked by it", metric_));
    return;
  }
  curve_ = LearningCurve::fit(curve_points(told, metric_));
  const Columns columns(Columns::Of::result, told);
  Training training;
  std::set<std::int64_t> epochs;
  for (const auto* run : told) {
    const auto last = last_metric(*run, metric_)->epoch;
    epochs.insert(last);
    // Without a curve each epoch is a row: runs too short for one still say what fewer epochs come to.
    for (const auto& at : every_metric(*run, metric_)) {
      if (curve_ && at.epoch != last) continue;
      auto setting = run->setting;
      setting.epochs = at.epoch;
      training.add(columns.row(setting, 1), at.value);
    }
  }
  result_ = Predictor::fit(columns, training.rows, training.targets,
                           {ErrorKind::absolute, chosen_regressions(options), options.seed});
  share_ = is_share(metric_, training.targets);
  const bool judged = curve_ && curve_->error() && result_->law().size() > 0;
  if (!judged || *curve_->error() <= kCurveMayBeWorse * result_->error()) return;
  // Where all runs went equally far, only a curve says what fewer or more epochs would do.
  if (epochs.size() > 1)
    curve_.reset();
  else
    result_epochs_ = *epochs.begin();
}

std::vector<std::string> Models::chosen_regressions(const ModelsOptions& options) {
  return options.regressions.empty() ? default_regressions() : options.regressions;
}

Forecast Models::scaled(const Predictor& by_epoch, const Setting& setting, const Load& load) const {
  auto out = by_epoch.forecast(by_epoch.columns().row(setting, load));
  out.middle *= static_cast<double>(setting.epochs);
  if (elsewhere_) out.usual_error *= kOutside;
  out.wide |= elsewhere_;
  return out;
}

Forecast Models::seconds(const Setting& setting, const Load& load) const {
  auto out = scaled(epoch_seconds_, setting, load);
  out.more = startup_;
  return out;
}

std::optional<Forecast> Models::joules(const Setting& setting, const Load& load) const {
  if (!epoch_joules_) return std::nullopt;
  return scaled(*epoch_joules_, setting, load);
}

std::optional<Forecast> Models::metric_of(const Setting& setting) const {
  if (!result_) return std::nullopt;
  const auto epochs = static_cast<double>(setting.epochs);
  auto out = curve_ && setting.epochs != result_epochs_
                 ? curve_->forecast(curve_batch(setting), curve_learning_rate(setting), epochs)
                 : result_->forecast(result_->columns().row(setting, 1));
  if (share_) out.least = 0, out.most = 1;
  return out;
}

std::vector<std::string> Models::outside(const Setting& setting, const Load& load) const {
  return epoch_seconds_.outside(epoch_seconds_.columns().row(setting, load));
}

nlohmann::json Models::written() const {
  const auto maybe = [](const auto& what) { return what ? what->written() : nlohmann::json(); };
  return {{"program", program_},
          {"machine", machine_},
          {"metric", metric_},
          {"joules_source", joules_source_},
          {"runs", runs_},
          {"notes", notes_},
          {"startup", startup_},
          {"elsewhere", elsewhere_},
          {"share", share_},
          {"result_epochs", result_epochs_},
          {"epoch_seconds", epoch_seconds_.written()},
          {"epoch_joules", maybe(epoch_joules_)},
          {"result", maybe(result_)},
          {"curve", maybe(curve_)}};
}

Models Models::read(const nlohmann::json& written) try {
  Models out;
  written.at("program").get_to(out.program_);
  written.at("machine").get_to(out.machine_);
  written.at("metric").get_to(out.metric_);
  written.at("joules_source").get_to(out.joules_source_);
  written.at("runs").get_to(out.runs_);
  written.at("notes").get_to(out.notes_);
  written.at("startup").get_to(out.startup_);
  written.at("elsewhere").get_to(out.elsewhere_);
  written.at("share").get_to(out.share_);
  written.at("result_epochs").get_to(out.result_epochs_);
  out.epoch_seconds_ = Predictor::read(written.at("epoch_seconds"));
  if (const auto& joules = written.at("epoch_joules"); !joules.is_null())
    out.epoch_joules_ = Predictor::read(joules);
  if (const auto& result = written.at("result"); !result.is_null()) out.result_ = Predictor::read(result);
  if (const auto& curve = written.at("curve"); !curve.is_null()) out.curve_ = LearningCurve::read(curve);
  return out;
} catch (const nlohmann::json::exception& error) {
  throw UserError(fmt::format("stored models cannot be read ({}): train them anew", error.what()));
}

}  // namespace tandem::advise
