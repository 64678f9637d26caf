#include "advise/advice_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/text.h"

namespace tandem::advise {

using tandem::text;  // beside our own
using tandem::to_json;

namespace {

std::string percent(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

std::string seconds_text(double seconds) {
  return std::isfinite(seconds) ? text(Seconds{seconds}) : "no known bound";
}

std::string joules_text(double joules) {
  return std::isfinite(joules) ? text(Joules{joules}) : "no known bound";
}

template <class Text>
std::string with_interval(const Forecast& forecast, double level, Text in_words) {
  const auto [low, high] = forecast.interval(level);
  return fmt::format("{} ({:.0f} %: {} to {})", in_words(forecast.value()), 100 * level, in_words(low),
                     in_words(high));
}

std::string time_of(const Assessment& assessed, const Question& question) {
  return with_interval(assessed.seconds, question.interval, seconds_text);
}

std::string metric_of(const Assessment& assessed, const Models& models) {
  return assessed.metric ? fmt::format("{} {:.4g}", models.metric(), assessed.metric->value())
                         : models.metric() + " not known";
}

// Hyperparameters of which there is a choice, and whether it changes what is predicted.
struct Told {
  std::string name;
  bool time = false, metric = false;
};

std::vector<Told> told_apart(const Advice& advice, const Models& models, const Question& question) {
  std::map<std::string, std::vector<Value>> choices;
  for (const auto& candidate : question.candidates)
    for (const auto& [name, value] : candidate.hyper)
      if (auto& known = choices[name]; std::find(known.begin(), known.end(), value) == known.end())
        known.push_back(value);
  const auto& choice = advice.choice;
  const auto metric = [&](const Setting& setting) {
    const auto found = models.metric_of(setting);
    return found ? found->value() : 0;
  };
  const auto seconds = [&](const Setting& setting) { return models.seconds(setting, choice.load).value(); };
  std::vector<Told> out;
  for (const auto& [name, values] : choices) {
    if (values.size() < 2 || name == "epochs") continue;
    Told& told = out.emplace_back(Told{name});
    for (const auto& value : values) {
      Setting other = choice.setting;
      other.hyper[name] = value;
      told.time |= seconds(other) != seconds(choice.setting);
      told.metric |= metric(other) != metric(choice.setting);
    }
  }
  return out;
}

// Without what nobody can recommend.
std::string recommended(const Advice& advice, const Models& models, const Question& question) {
  Setting setting = advice.choice.setting;
  for (const auto& told : told_apart(advice, models, question))
    if (!told.time && !told.metric) setting.hyper.erase(told.name);
  return text(setting);
}

std::string runner_up_of(const Assessment& other, const Models& models, const Question& question) {
  return fmt::format("next: {}: {}, {} of {}", text(other.setting), metric_of(other, models),
                     percent(other.p_meet), time_of(other, question));
}

nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

nlohmann::json bounds(const Forecast& forecast, double level) {
  const auto [low, high] = forecast.interval(level);
  return {number(low), number(high)};
}

nlohmann::json assessed_json(const Assessment& assessed, const Models& models, const Question& question) {
  nlohmann::json predicted = {{"seconds", number(assessed.seconds.value())}, {"joules", nullptr}};
  nlohmann::json interval = {{"level", question.interval},
                             {"seconds", bounds(assessed.seconds, question.interval)}};
  nlohmann::json said_by = {{"seconds", assessed.seconds.said_by}};
  const auto add = [&](const std::string& name, const std::optional<Forecast>& forecast) {
    if (!forecast) return;
    predicted[name] = number(forecast->value());
    interval[name] = bounds(*forecast, question.interval);
    said_by[name] = forecast->said_by;
  };
  add(models.metric(), assessed.metric);
  add("joules", assessed.joules);
  if (assessed.joules) predicted["joules_source"] = models.joules_source();
  nlohmann::json threatened = nlohmann::json::array();
  for (const auto& job : assessed.threatened)
    threatened.push_back({{"id", job.id},
                          {"deadline", job.deadline.value},
                          {"end_without", job.without.value},
                          {"end_with", job.with.value},
                          {"anyway", job.anyway}});
  return {{"choice", to_json(assessed.setting)}, {"predicted", predicted},     {"interval", interval},
          {"p_meet", assessed.p_meet},           {"jobs", assessed.load.jobs}, {"models", said_by},
          {"wide", assessed.seconds.wide},       {"threatened", threatened}};
}

}  // namespace

std::vector<std::string> reasons_for(const Advice& advice, const Models& models, const Question& question) {
  const auto& choice = advice.choice;
  std::vector<std::string> out;
  const auto limits = text(question.slo) + (question.max_joules ? " and " + text(*question.max_joules) : "");
  if (advice.met)
    out.push_back(fmt::format("of {} candidates {} keep within {} with at least {}; {} promises most: {}",
                              question.candidates.size(), advice.fit, limits, percent(question.probability),
                              recommended(advice, models, question), metric_of(choice, models)));
  else
    out.push_back(fmt::format("none of {} candidates keeps within {} with {}; nearest is {}, with {}",
                              question.candidates.size(), limits, percent(question.probability),
                              recommended(advice, models, question), percent(choice.p_meet)));
  out.push_back(fmt::format("it takes {}, within {} with {}, says {} from {} of {}",
                            time_of(choice, question), text(question.slo), percent(choice.p_time),
                            choice.seconds.said_by, counted(models.runs(), "past run"),
                            models.program()));
  if (choice.joules)
    out.push_back(fmt::format("it uses {} (source: {}), says {}",
                              with_interval(*choice.joules, question.interval, joules_text),
                              models.joules_source(), choice.joules->said_by));
  if (!question.running.empty())
    out.push_back(
        fmt::format("jobs that run now: {:g}; while this one runs there are {:.2f} on average, itself included",
                    static_cast<double>(question.running.size()) + question.others, choice.load.jobs));
  for (const auto& job : choice.threatened)
    out.push_back(fmt::format(
        "job {} misses its deadline in {}: it ends in {}{}", job.id, text(job.deadline), text(job.with),
        job.anyway ? ", and would without this one too" : ", without this one in " + text(job.without)));
  if (!advice.runner_ups.empty()) out.push_back(runner_up_of(advice.runner_ups.front(), models, question));
  return out;
}

std::vector<std::string> notes_on(const Advice& advice, const Models& models, const Question& question) {
  auto out = models.notes();
  for (const auto& told : told_apart(advice, models, question))
    if (!told.time && !told.metric)
      out.push_back(fmt::format("{0} {1} is one of its choices, and no recommendation: past runs do not tell "
                                "what {0} changes",
                                told.name, text(advice.choice.setting.hyper.at(told.name))));
    else if (!told.time)
      out.push_back(fmt::format("{} is chosen for {} alone: past runs do not tell what it changes in time",
                                told.name, models.metric()));
    else if (!told.metric && advice.choice.metric)
      out.push_back(fmt::format("{} is taken to be the same whatever the {}: past runs do not tell what it changes",
                                models.metric(), told.name));
  if (const auto& metric = advice.choice.metric; metric && metric->law->size() == 0)
    out.push_back(fmt::format("the interval of {} is assumed: no two settings were run from which its errors "
                              "could be measured",
                              models.metric()));
  if (const auto& metric = advice.choice.metric; metric && std::isfinite(metric->most - metric->least))
    if (const auto [low, high] = metric->interval(question.interval); high - low > 0.9 * (metric->most - metric->least))
      out.push_back(fmt::format("past runs say next to nothing of {} there: anything from {:.2g} to {:.2g} is likely",
                                models.metric(), low, high));
  const auto outside = models.outside(advice.choice.setting, advice.choice.load);
  if (!outside.empty())
    out.push_back("outside of what was measured, so the interval is twice as wide: " + join(outside));
  if (!advice.choice.joules) out.push_back("nobody measured energy: joules are not known");
  return out;
}

nlohmann::json to_json(const Advice& advice, const Models& models, const Question& question) {
  auto out = assessed_json(advice.choice, models, question);
  out["met"] = advice.met;
  out["slo"] = question.slo.value;
  out["probability"] = question.probability;
  out["runner_ups"] = nlohmann::json::array();
  for (const auto& other : advice.runner_ups)
    out["runner_ups"].push_back(assessed_json(other, models, question));
  out["reasons"] = advice.reasons;
  out["notes"] = advice.notes;
  return out;
}

}  // namespace tandem::advise
