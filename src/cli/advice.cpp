#include "cli/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "advise/advice_text.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/advise_probe.h"
#include "cli/past_runs.h"
#include "cli/progress.h"
#include "cli/server_client.h"
#include "cli/session.h"
#include "stats/regression.h"

namespace tandem::cli {
using nlohmann::json;
namespace {

Seconds slo_of(const std::string& written) {
  if (const auto slo = parse_seconds(written)) return *slo;
  throw UserError("--slo must be a time such as 300s, 10min or 2h, not '" + printable(written, 60) + "'");
}

std::optional<Joules> most_joules(const std::string& written) {
  if (written.empty()) return std::nullopt;
  if (const auto most = parse_joules(written)) return most;
  throw UserError("--max must be an energy such as 500J, 20kJ or 5Wh, not '" + printable(written, 60) + "'");
}

double probability_of(const std::string& written) {
  const auto found = parse_fraction(written);
  if (found && *found > 0 && *found < 1) return *found;
  throw UserError("--probability must lie between 0 and 100 %, such as 95% or 0.95, not '" +
                  printable(written, 60) + "'");
}

// "12.3 s (10.1 to 14.9)"
std::string with_interval(const advise::Forecast& forecast, double level, const auto& show) {
  const auto interval = forecast.interval(level);
  return fmt::format("{} ({} to {})", show(forecast.value()), show(interval.low),
                     std::isfinite(interval.high) ? show(interval.high) : "?");
}

std::string seconds_text(double seconds) {
  return text(Seconds{seconds});
}
std::string joules_text(double joules) {
  return text(Joules{joules});
}
std::string metric_text(double value) {
  return fmt::format("{:.4g}", value);
}

// Only what differs between candidates is worth a column.
std::vector<std::string> varied_names(const std::vector<advise::Setting>& candidates) {
  std::vector<std::string> out;
  for (const auto& [name, value] : candidates.front().hyper)
    if (std::any_of(candidates.begin(), candidates.end(), [&, n = name, v = value](const auto& candidate) {
          const auto at = candidate.hyper.find(n);
          return at == candidate.hyper.end() || at->second != v;
        }))
      out.push_back(name);
  return out;
}

std::vector<std::string> row_of(const std::string& label, const advise::Assessment& one,
                                const Advised& advised, const std::vector<std::string>& names) {
  const double level = advised.question.interval;
  std::vector<std::string> row{label};
  for (const auto& name : names) {
    const auto at = one.setting.hyper.find(name);
    row.push_back(at == one.setting.hyper.end() ? "-" : text(at->second));
  }
  row.push_back(std::to_string(one.setting.system.cores));
  row.push_back(std::to_string(one.setting.epochs));
  row.push_back(with_interval(one.seconds, level, seconds_text));
  row.push_back(one.metric ? with_interval(*one.metric, level, metric_text) : "-");
  row.push_back(one.joules ? with_interval(*one.joules, level, joules_text) : "-");
  row.push_back(fmt::format("{:.1f} %", 100 * one.p_meet));
  return row;
}

std::string table_of(const Advised& advised) {
  const auto names = varied_names(advised.question.candidates);
  std::vector<std::string> head{""};
  head.insert(head.end(), names.begin(), names.end());
  const auto level = fmt::format("({:.0f} % interval)", 100 * advised.question.interval);
  for (const auto& column :
       {std::string("cores"), std::string("epochs"), "time " + level,
        advised.learnt.models.metric() + " " + level, "energy " + level, std::string("meets SLO")})
    head.push_back(column);
  std::vector<std::vector<std::string>> rows{head};
  const auto& advice = advised.advice;
  rows.push_back(row_of(advice.met ? "advice" : "nearest", advice.choice, advised, names));
  for (const auto& one : advice.runner_ups) rows.push_back(row_of("then", one, advised, names));
  return columns(rows);
}

// "  because    …", broken where the terminal ends, its further lines below the first.
std::string line(const std::string& label, const std::string& value, int width) {
  constexpr int kIndent = 13, kLeast = 20;
  std::string out;
  for (const auto& part : wrapped(value, static_cast<std::size_t>(std::max(kLeast, width - kIndent))))
    out += fmt::format("  {:<10} {}\n", out.empty() ? label : "", part);
  return out;
}

std::vector<std::string> all_notes(const Advised& advised) {
  std::vector<std::string> out;
  if (advised.probed)
    out.push_back(
        "this program has never run here: a probe of a few batches is all that is known, so the intervals "
        "are wide and the metric is not known");
  for (const auto* notes : {&advised.advice.notes, &advised.running.notes, &advised.learnt.notes})
    for (const auto& note : *notes)
      if (std::find(out.begin(), out.end(), note) == out.end()) out.push_back(note);
  return out;
}

Learnt learnt_or_probed(store::Store& store, const AdvisedSpec& spec, const NodeView& machine,
                        const LearnOptions& options, const std::vector<advise::Setting>& candidates,
                        int others, bool& probed) {
  const std::string program = program_name(spec.job.base.program);
  if (auto learnt = learn(store, program, machine, options)) return *std::move(learnt);
  probed = true;
  std::vector<int> jobs{1};
  if (others > 0) jobs.push_back(1 + others);
  return learn_from(probe_candidates(spec.job.base, candidates, machine, jobs), program, machine, options);
}

}  // namespace

void AdviceOptions::add_to(CLI::App& command) {
  CLI::Option* slo_option =
      command.add_option("--slo", slo, "the time it may take, from start to end")->type_name("TIME");
  command.add_option("--max", max_joules, "the energy it may take")->type_name("ENERGY")->needs(slo_option);
  command.add_option("--running", running, "what else runs: auto (look), none, or a number of jobs")
      ->capture_default_str()
      ->needs(slo_option);
  command.add_option("--probability", probability, "of meeting the SLO, at least")
      ->capture_default_str()
      ->needs(slo_option);
  std::vector<std::string> names;
  for (const auto& entry : stats::regressions()) names.push_back(entry.name);
  command
      .add_option("--model", model,
                  "which regression answers (default: the best on settings it has not seen)")
      ->check(CLI::IsMember(names))
      ->needs(slo_option);
}

Advised ask_for_advice(store::Store& store, const AdvisedSpec& spec, const AdviceOptions& options) {
  if (options.slo.empty()) throw UserError("--slo is missing: say how long it may take, such as --slo 300s");
  return ask_for_advice(store, spec, options, slo_of(options.slo));
}

Advised ask_for_advice(store::Store& store, const AdvisedSpec& spec, const AdviceOptions& options,
                       Seconds slo) {
  const auto begin = std::chrono::steady_clock::now();
  const NodeView machine = this_machine();
  advise::Question question;
  question.slo = slo;
  question.max_joules = most_joules(options.max_joules);
  question.probability = probability_of(options.probability);
  question.candidates = candidates_of(spec.job, machine.capacity);
  if (!(slo.value > 0) || !std::isfinite(slo.value))
    throw UserError(fmt::format("an SLO of {} cannot be met by anything: give a time above 0", text(slo)));
  auto running = running_now(store, parse_running(options.running), machine);
  question.running = running.jobs;
  question.others = running.others;
  question.busy_cores = running.busy_cores;
  bool probed = false;
  const LearnOptions learning{options.model, spec.metric};
  Learnt learnt = learnt_or_probed(store, spec, machine, learning, question.candidates,
                                   static_cast<int>(std::ceil(running.count() + running.busy_cores)), probed);
  question.higher_is_better = spec.metric.empty() ? learnt.higher_is_better : spec.higher_is_better;
  auto advice = advise::advise(learnt.models, question);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {std::move(learnt), std::move(question), std::move(advice), std::move(running), probed, took};
}

std::string advice_text(const Advised& advised) {
  const auto& advice = advised.advice;
  const auto& models = advised.learnt.models;
  std::string out = fmt::format(
      "{}: {} within {} at {:.0f} %{}\n\n", models.program(),
      advice.met ? "can be done" : "nothing is likely enough to end", text(advised.question.slo),
      100 * advised.question.probability,
      advised.running.count() == 0 ? "" : fmt::format(", beside {:.3g} other jobs", advised.running.count()));
  out += table_of(advised) + "\n";
  const int width = output_width();
  for (const auto& reason : advice.reasons) out += line("because", reason, width);
  for (const auto& note : all_notes(advised)) out += line("note", note, width);
  return out;
}

json advice_json(const Advised& advised) {
  json out = advise::to_json(advised.advice, advised.learnt.models, advised.question);
  out["probed"] = advised.probed;
  out["running"] = advised.running.count();
  out["candidates"] = advised.question.candidates.size();
  out["answer_seconds"] = advised.answer_seconds;
  out["notes"] = all_notes(advised);
  return out;
}

}  // namespace tandem::cli
