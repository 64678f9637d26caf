#include "advise/advisor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "advise/advice_text.h"
#include "base/error.h"

namespace tandem::advise {
namespace {

constexpr std::size_t kMostRunnerUps = 3;

void check_question(const Question& question) {
  const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
  if (!positive(question.slo.value))
    throw UserError(
        fmt::format("nothing runs in {} s: give an SLO above 0, such as 300s", question.slo.value));
  if (question.max_joules && !positive(question.max_joules->value))
    throw UserError(
        fmt::format("nothing runs on {} J: give a limit above 0, such as 20kJ", question.max_joules->value));
  if (!(question.probability > 0 && question.probability < 1))
    throw UserError(
        fmt::format("a probability of {} cannot be promised: give one between 0 and 1, such as 0.95",
                    question.probability));
  if (!(question.interval > 0 && question.interval < 1))
    throw UserError(fmt::format("an interval of level {} cannot be: give one between 0 and 1, such as 0.9",
                                question.interval));
  if (!(question.others >= 0) || !std::isfinite(question.others))
    throw UserError(fmt::format("{} other jobs cannot run beside this one", question.others));
  if (!(question.busy_cores >= 0) || !std::isfinite(question.busy_cores))
    throw UserError(fmt::format("others cannot keep {} cores busy", question.busy_cores));
  if (question.candidates.empty()) throw UserError("there is nothing to choose from: no candidates");
}

// The time of a job under any load; asked for again and again while jobs come and go, so answers are kept.
std::function<double(const Load&)> remembered(std::function<double(const Load&)> seconds) {
  auto known = std::make_shared<std::map<std::pair<double, double>, double>>();
  return [known, seconds = std::move(seconds)](const Load& load) {
    const std::pair key(load.jobs, load.cores);
    const auto found = known->find(key);
    return found != known->end() ? found->second : known->emplace(key, seconds(load)).first->second;
  };
}

// Those of whom nothing else is known, as a job of this setting sees them.
Load others_beside(const Question& question, const Setting& setting) {
  const double own = setting.system.cores;
  return {question.others + question.busy_cores / own, question.others * own + question.busy_cores};
}

Load together(const Load& one, const Load& other) {
  return {one.jobs + other.jobs, one.cores + other.cores};
}

std::vector<LoadedJob> running_jobs(const Question& question) {
  std::vector<LoadedJob> out;
  for (const auto& job : question.running) {
    LoadedJob loaded{job.id, job.setting.system.cores, job.left, {0}, nullptr, job.deadline};
    loaded.whole = remembered([&job, others = others_beside(question, job.setting)](const Load& load) {
      return job.models ? job.models->seconds(job.setting, together(load, others)).value()
                        : job.seconds.value;
    });
    out.push_back(std::move(loaded));
  }
  return out;
}

// With the jobs that run now ending as predicted, and slowing this one down until then.
void assess_time(const Models& models, const std::vector<LoadedJob>& running, const Load& others,
                 Assessment& out) {
  out.load = together({1, static_cast<double>(out.setting.system.cores)}, others);
  for (const auto& job : running) out.load = together(out.load, {1, static_cast<double>(job.cores)});
  out.seconds = models.seconds(out.setting, out.load);
  if (running.empty() || !(out.seconds.value() > 0)) return;
  LoadedJob own{"this job", out.setting.system.cores, 1, {0}, nullptr, std::nullopt};
  own.whole = remembered(
      [&](const Load& load) { return models.seconds(out.setting, together(load, others)).value(); });
  auto all = running;
  all.push_back(own);
  const auto end = ends_under_load(all).back();
  out.load = together(mean_load(end.seen, end.at), others);
  out.seconds = models.seconds(out.setting, out.load);
  out.seconds.middle = end.at.value - out.seconds.more;
  out.threatened = threatened_by(own, running);
}

Assessment assess(const Models& models, const Question& question, const std::vector<LoadedJob>& running,
                  const Setting& setting) {
  Assessment out{.setting = setting};
  if (setting.epochs < 1 || setting.system.cores < 1)
    throw UserError(fmt::format("{} cannot be run: it needs at least one epoch and one core", text(setting)));
  assess_time(models, running, others_beside(question, setting), out);
  out.metric = models.metric_of(setting);
  out.joules = models.joules(setting, out.load);
  if (out.joules && question.most_power) {
    out.joules->ceiling = std::make_shared<const Forecast>(out.seconds);
    out.joules->per_unit = question.most_power->value;
  }
  out.p_time = out.seconds.value() > 0 ? out.seconds.below(question.slo.value) : 0;
  if (question.max_joules) out.p_joules = out.joules ? out.joules->below(question.max_joules->value) : 0;
  out.p_meet = std::max(0.0, out.p_time + out.p_joules - 1);
  return out;
}

// Ties make no order of their own ("within kTie" is not transitive), so the best metric is found first.
struct ByPreference {
  bool higher_is_better;

  double metric(const Assessment& a) const {
    return a.metric ? (higher_is_better ? 1 : -1) * a.metric->value() : 0;
  }
  bool ties(const Assessment& a, const Assessment& best) const {
    return metric(a) >= metric(best) - kTie * std::abs(metric(best));
  }
  bool cheaper(const Assessment& a, const Assessment& b) const {
    const auto cost = [](const Assessment& x) {
      return std::pair(x.joules ? x.joules->value() : 0, x.seconds.value());
    };
    return cost(a) < cost(b);
  }
};

// The best first, by the rules of the header.
void rank(std::vector<Assessment>& all, const Question& question) {
  const ByPreference by{question.higher_is_better};
  const auto fit_end = std::stable_partition(
      all.begin(), all.end(), [&](const Assessment& a) { return a.p_meet >= question.probability; });
  std::stable_sort(all.begin(), fit_end,
                   [&](const Assessment& a, const Assessment& b) { return by.metric(a) > by.metric(b); });
  for (auto from = all.begin(); from != fit_end;) {
    const auto to = std::find_if(from, fit_end, [&](const Assessment& a) { return !by.ties(a, *from); });
    std::stable_sort(from, to, [&](const Assessment& a, const Assessment& b) { return by.cheaper(a, b); });
    from = to;
  }
  std::stable_sort(fit_end, all.end(),
                   [](const Assessment& a, const Assessment& b) { return a.p_meet > b.p_meet; });
}

}  // namespace

Advice advise(const Models& models, const Question& question) {
  check_question(question);
  const auto running = running_jobs(question);
  std::vector<Assessment> all;
  for (const auto& setting : question.candidates) all.push_back(assess(models, question, running, setting));
  rank(all, question);
  Advice out;
  out.met = all.front().p_meet >= question.probability;
  out.choice = all.front();
  for (std::size_t i = 1; i < all.size() && out.runner_ups.size() < kMostRunnerUps; ++i)
    out.runner_ups.push_back(all[i]);
  out.fit = static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [&](const Assessment& a) { return a.p_meet >= question.probability; }));
  out.reasons = reasons_for(out, models, question);
  out.notes = notes_on(out, models, question);
  return out;
}

}  // namespace tandem::advise
