#include "cli/foresight.h"

#include <fmt/format.h>

#include "base/error.h"
#include "cli/advice.h"
#include "cli/past_runs.h"
#include "cli/predictions.h"
#include "spec/chosen.h"
#include "spec/parse.h"

namespace tandem::cli {
namespace {

std::optional<store::RunInfo> run_of(store::Store& store, const std::string& server) {
  for (auto& run : store.runs())
    if (run.kind == "serve" && run.name == server) return run;
  return std::nullopt;
}

// As it is given to the server, which decides what runs beside it.
Advised ask_alone(store::Store& store, const AdvisedSpec& spec, Seconds deadline) {
  AdviceOptions options;
  options.running = "none";
  return ask_for_advice(store, spec, options, deadline);
}

}  // namespace

Settled settle_choices(const ServerOption& server, const std::string& spec, const std::string& file) {
  if (spec::kind_of(spec) != "train") return {spec, ""};
  const auto plain = spec::parse_train(spec, file, catalogue());
  if (plain.job) return {spec, ""};
  const auto open = spec::parse_characterize(spec, file, catalogue());
  if (!open.job) return {spec, ""};  // the server says what is wrong with it
  const auto& deadline = open.job->base.place.deadline;
  if (!deadline)
    throw UserError(file +
                    ": leaves values open, and has no deadline to choose them by: add "
                    "place: {deadline: 300s}, or give each one value");
  auto store = server.store.open();
  const auto advised = ask_alone(store, read_advised(spec, file, catalogue()), *deadline);
  if (!advised.advice.met) return {spec, advice_text(advised), false};
  const auto& chosen = advised.advice.choice.setting;
  return {spec::with_choices(spec, chosen_job(open.job.value(), chosen)),
          fmt::format("chosen for {}: {}", file, advise::text(chosen))};
}

std::optional<Foresight> foresee(const ServerOption& server, const std::string& spec, const std::string& file,
                                 int job) {
  if (spec::kind_of(spec) != "train") return std::nullopt;
  const auto parsed = spec::parse_train(spec, file, catalogue());
  if (!parsed.job || !parsed.job->place.deadline) return std::nullopt;
  auto store = server.store.open();
  const std::string program = program_name(parsed.job->program);
  fold_past_runs(store);
  if (store.past_count(program) == 0)
    return Foresight{
        fmt::format("job {}: no past run of {} is known here, so nobody knows whether it meets its deadline",
                    job, program),
        nullptr};
  const auto advised = ask_alone(store, as_advised(*parsed.job), *parsed.job->place.deadline);
  auto prediction = predicted(advised.advice.choice, advised.learnt.models, advised.question);
  prediction.job = job;
  if (const auto run = run_of(store, server.name)) keep_prediction(store, run->id, prediction);
  return Foresight{
      fmt::format("job {}: {}, {:.1f} % to meet its deadline of {} if it starts at once on a machine like "
                  "this one{}",
                  job, comparison(prediction), 100 * prediction.p_meet, text(prediction.slo),
                  advised.advice.met ? "" : "; give it longer, or fewer epochs"),
      to_json(prediction)};
}

}  // namespace tandem::cli
