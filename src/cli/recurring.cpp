#include "cli/recurring.h"

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "app/recurring_past.h"
#include "base/error.h"
#include "tune/recurring_runs.h"

namespace tandem::cli {

constexpr int kMostAttempts = 10;  // of one recurrence: then something else is wrong

int run_recurring(store::Store& store, const spec::TuneJob& job, const JsonOption& json,
                  const SessionOptions& options) {
  for (int attempt = 1; attempt <= kMostAttempts; ++attempt) {
    const tune::Recurring chooser = learned_from_past(store, job);
    const auto proposed = chooser.propose();
    if (const auto* verdict = std::get_if<std::string>(&proposed)) {
      std::cerr << "tandem: " << *verdict << "\n";
      return kAnswerIsNo;
    }
    const auto& plan = std::get<tune::RecurringPlan>(proposed);
    std::cerr << fmt::format("tandem: batch size {}: {}\n", plan.batch, plan.why);
    bool reached = false;
    SessionOptions session = options;
    session.then = [&](const store::RunInfo& run, const View& view) {
      if (options.then) options.then(run, view);
      reached = tune::reached_target(view, 0);
    };
    const int code = run_new(store, tune::attempt_of(job, plan), json, session);
    if (code == kInterrupted || reached) return code;
    std::cerr << fmt::format("tandem: the target was not reached with batch size {}\n", plan.batch);
  }
  std::cerr << fmt::format("tandem: {} attempts have not reached the target; is it within reach?\n",
                           kMostAttempts);
  return kAnswerIsNo;
}

}  // namespace tandem::cli
