#include "cli/foresight.h"

#include <fmt/format.h>

#include "base/error.h"
#include "cli/advice.h"
#include "cli/past_runs.h"
#include "cli/predictions.h"
#include "spec/parse.h"

namespace tandem::cli {
namespace {

std::optional<store::RunInfo> run_of(store::Store& store, const std::string& server) {
  for (auto& run : store.runs())
    if (run.kind == "serve" && run.name == server) return run;
  return std::nullopt;
}

}  // namespace

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
  AdviceOptions options;
  options.running = "none";  // the server decides what runs beside it
  const auto advised = ask_for_advice(store, as_advised(*parsed.job), options, *parsed.job->place.deadline);
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
