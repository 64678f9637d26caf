#include "app/recurring_past.h"

#include <algorithm>
#include <string>
#include <variant>

#include "app/past_runs.h"
#include "app/runs.h"
#include "tune/goals.h"
#include "tune/recurring_runs.h"

namespace tandem::app {
namespace {

bool same_training(const spec::TuneJob& a, const spec::TuneJob& b) {
  return b.recurring && a.base.name == b.base.name &&
         program_name(a.base.program) == program_name(b.base.program) &&
         a.objective.target == b.objective.target && a.objective.goals.front() == b.objective.goals.front();
}

}  // namespace

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

}  // namespace tandem::app
