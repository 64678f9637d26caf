#include "app/job_prediction.h"

#include <fmt/format.h>

#include "app/advice.h"
#include "app/past_runs.h"
#include "app/predictions.h"
#include "base/error.h"
#include "spec/chosen.h"
#include "spec/parse.h"

namespace tandem::app {
namespace {

// As it is given to the server, which decides what runs beside it.
Advised ask_alone(store::Store& store, const AdvisedSpec& spec, Seconds deadline, const store::Owners& whose) {
  AdviceOptions options;
  options.running = "none";
  options.whose = whose;
  return ask_for_advice(store, spec, options, deadline);
}

}  // namespace

Settled settle_choices(store::Store& store, const std::string& spec, const std::string& file,
                       const store::Owners& whose) {
  if (!spec::says_it_is<spec::TrainJob>(spec)) return {spec};
  const auto plain = spec::parse_train(spec, file, catalogue());
  if (plain.job) return {spec};
  const auto open = spec::parse_characterize(spec, file, catalogue());
  if (!open.job) return {spec};  // the server says what is wrong with it
  const auto& deadline = open.job->base.place.deadline;
  if (!deadline)
    throw UserError(file +
                    ": leaves values open, and has no deadline to choose them by: add "
                    "place: {deadline: 300s}, or give each one value");
  // A server probes nothing: it would disturb those that run, or run what only other machines shall.
  const std::string program = program_name(open.job->base.program);
  fold_past_runs(store, program);
  if (store.past_count(program, whose) == 0)
    throw UserError(
        fmt::format("{}: leaves values open, and no past run of {} is known here to choose them by: train it "
                    "once, or give each one value",
                    file, program));
  const auto advised = ask_alone(store, read_advised(spec, file, catalogue()), *deadline, whose);
  if (!advised.advice.met) {
    const auto best = predicted(advised.advice.choice, advised.learnt.models, advised.question);
    return {spec, "",
            fmt::format(
                "nothing is likely enough to meet its deadline of {}: with {} it is {}, {:.1f} % to meet it",
                text(best.slo), advise::text(best.setting), comparison(best), 100 * best.p_meet)};
  }
  const auto& chosen = advised.advice.choice.setting;
  return {spec::with_choices(spec, chosen_job(open.job->base, chosen)),
          fmt::format("chosen for {}: {}", file, advise::text(chosen))};
}

bool needs_advice(const std::string& spec, const std::string& file) {
  if (!spec::says_it_is<spec::TrainJob>(spec)) return false;
  const auto plain = spec::parse_train(spec, file, catalogue());
  if (plain.job) return plain.job->place.deadline.has_value();
  return spec::parse_characterize(spec, file, catalogue()).job.has_value();
}

std::optional<JobPrediction> predict_job(store::Store& store, const std::string& spec,
                                         const std::string& file, const store::Owners& whose) {
  const auto parsed = spec::parse_train(spec, file, catalogue());
  if (!parsed.job || !parsed.job->place.deadline) return std::nullopt;
  const std::string program = program_name(parsed.job->program);
  fold_past_runs(store, program);
  if (store.past_count(program, whose) == 0)
    return JobPrediction{fmt::format(
        "no past run of {} is known here, so nobody knows whether it meets its deadline", program)};
  const auto advised = ask_alone(store, as_advised(*parsed.job), *parsed.job->place.deadline, whose);
  auto prediction = predicted(advised.advice.choice, advised.learnt.models, advised.question);
  return JobPrediction{
      fmt::format("{}, {:.1f} % to meet its deadline of {} if it starts at once on a machine like this one{}",
                  comparison(prediction), 100 * prediction.p_meet, text(prediction.slo),
                  advised.advice.met ? "" : "; give it longer, or fewer epochs"),
      std::move(prediction)};
}

}  // namespace tandem::app
