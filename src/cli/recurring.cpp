#include "cli/recurring.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/past_runs.h"
#include "base/error.h"
#include "tune/goals.h"
#include "tune/recurring_runs.h"

namespace tandem::cli {
namespace {

constexpr int kMostAttempts = 10;  // of one recurrence: then something else is wrong

bool same_training(const spec::TuneJob& a, const spec::TuneJob& b) {
  return b.recurring && a.base.name == b.base.name &&
         program_name(a.base.program) == program_name(b.base.program) &&
         a.objective.target == b.objective.target && a.objective.goals.front() == b.objective.goals.front();
}

// What earlier runs on this type of machine taught, oldest first.
tune::Recurring learned_from_past(store::Store& store, const spec::TuneJob& job) {
  tune::RecurringJob recurring = tune::recurring_job_of(job);
  std::vector<tune::Lesson> lessons;
  const std::string machine = this_machine().type;
  auto runs = store.runs();
  std::reverse(runs.begin(), runs.end());
  for (const auto& run : runs) {
    if (run.name != job.base.name || run.kind != spec::kind_of(job)) continue;
    const View view = replayed(store, run);
    const auto* before = view.jobs.empty() ? nullptr : view.jobs.front().as<spec::TuneJob>();
    if (before == nullptr || !same_training(job, *before)) continue;
    if (view.nodes.empty() || view.nodes.front().type != machine) continue;
    for (auto& lesson : tune::lessons_of(view, 0, job.system, recurring))
      lessons.push_back(std::move(lesson));
    // A second costs what it did last: attempts are stopped by that price.
    recurring.price = tune::price_of_time(view, view.jobs.front()).watts.value;
  }
  tune::Recurring chooser(std::move(recurring));
  for (const auto& lesson : lessons) std::visit([&](const auto& learned) { chooser.learn(learned); }, lesson);
  return chooser;
}

}  // namespace

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
