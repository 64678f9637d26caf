#include "app/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "advise/advice_text.h"
#include "app/advice_probe.h"
#include "app/machine_share.h"
#include "app/past_runs.h"
#include "app/runs.h"
#include "base/error.h"
#include "base/text.h"
#include "measure/energy_choice.h"
#include "stats/regression/regression.h"

namespace tandem::app {
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

Learnt learnt_or_probed(store::Store& store, const AdvisedSpec& spec, const NodeView& machine,
                        const LearnOptions& options, const std::vector<advise::Setting>& candidates,
                        int others, bool& probed) {
  const std::string program = program_name(spec.choices.base.program);
  if (auto learnt = learn(store, program, machine, options)) return *std::move(learnt);
  probed = true;
  std::vector<int> jobs{1};
  if (others > 0) jobs.push_back(1 + others);
  const auto share = share_machine("tandem advise");
  auto learnt =
      learn_from(probe_candidates(spec.choices.base, candidates, machine, jobs), program, machine, options);
  if (!share.beside.empty())
    learnt.notes.push_back(
        fmt::format("the probe ran beside {}: what it timed is slower than it would be alone", share.beside));
  return learnt;
}

// The most this machine draws, said by the source that past runs have their joules from: the power model.
std::optional<Watts> most_power(const spec::TrainJob& job, const std::string& joules_source) {
  if (job.system.gpus > 0 || (job.energy.source != "auto" && job.energy.source != "model")) return std::nullopt;
  auto energy = job.energy;
  energy.url.clear();  // no power meter need be asked
  const auto options = sensor_options(energy);
  const auto chosen = measure::choose_energy(options.energy, options.around);
  return chosen.machine && chosen.machine->source() == joules_source ? chosen.machine->most() : std::nullopt;
}

}  // namespace

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
  question.candidates = candidates_of(spec.choices, machine.capacity);
  if (!(slo.value > 0) || !std::isfinite(slo.value))
    throw UserError(fmt::format("an SLO of {} cannot be met by anything: give a time above 0", text(slo)));
  auto running = running_now(store, parse_running(options.running), machine);
  question.running = running.jobs;
  question.others = running.others;
  question.busy_cores = running.busy_cores;
  bool probed = false;
  const LearnOptions learning{options.model, spec.metric, options.whose};
  Learnt learnt = learnt_or_probed(store, spec, machine, learning, question.candidates,
                                   static_cast<int>(std::ceil(running.count() + running.busy_cores)), probed);
  question.most_power = most_power(spec.choices.base, learnt.models.joules_source());
  question.higher_is_better = spec.metric.empty() ? learnt.higher_is_better : spec.higher_is_better;
  auto advice = advise::advise(learnt.models, question);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {std::move(learnt), std::move(question), std::move(advice), std::move(running), probed, took};
}

std::vector<std::string> notes_of(const Advised& advised) {
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

json advice_json(const Advised& advised) {
  json out = advise::to_json(advised.advice, advised.learnt.models, advised.question);
  out["probed"] = advised.probed;
  out["running"] = advised.running.count();
  out["candidates"] = advised.question.candidates.size();
  out["answer_seconds"] = advised.answer_seconds;
  out["notes"] = notes_of(advised);
  return out;
}

}  // namespace tandem::app
