// Jobs queued beside a tuning job start when their turn comes, in every world: what the policies believe to
// be free is free. One that is refused for want of room would have failed.
#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "control/loop.h"
#include "control/memory_journal.h"
#include "place/engine/scheduler.h"
#include "tests/contract/candidates_testing.h"
#include "tune/train.h"
#include "tune/tune.h"

namespace tandem {
namespace {

class QueuedJobs : public testing::TestWithParam<Factory> {};

std::vector<std::unique_ptr<Policy>> policies() {
  std::vector<std::unique_ptr<Policy>> out;
  out.push_back(std::make_unique<tune::TrainController>());
  out.push_back(std::make_unique<tune::TuneController>());
  out.push_back(std::make_unique<place::Scheduler>(place::parse_policy("first-fit"), 1));
  return out;
}

// Each trial takes a whole node; there are more of them than nodes.
spec::TuneJob tuning(Candidate& candidate, const View& view, const std::string& algorithm) {
  spec::TuneJob job;
  job.base.program = candidate.well_behaved();
  job.hyper.parameters.push_back({"x", {}, {}});  // in [0, 1]
  job.base.epochs = job.search.max_epochs = 3;
  job.search.algorithm = algorithm;
  job.search.trials = static_cast<std::int64_t>(view.nodes.size()) + 3;
  job.objective.goals = {{"value", true}};
  job.system.cores = {view.nodes[0].capacity.cores};
  job.mode = spec::Mode::hyper;
  return job;
}

void expect_nothing_refused(const control::MemoryJournal& journal, const View& view) {
  for (const auto& entry : journal.entries())
    if (const auto* refused = std::get_if<DecisionRefused>(&entry.event.body))
      ADD_FAILURE() << "decision " << refused->decision << ": " << refused->reason;
  for (const auto& job : view.jobs)
    EXPECT_EQ(job.state, JobState::finished) << "job " << job.id << ": " << job.reason;
}

void run(Candidate& candidate, const std::string& algorithm) {
  control::MemoryJournal journal;
  control::Loop loop({candidate.world(), journal}, policies());
  loop.open();
  loop.submit(tuning(candidate, loop.view(), algorithm), {});
  spec::TrainJob single;
  single.program = candidate.well_behaved();
  single.epochs = 2;
  single.system.cores = 1;
  bool queued = false;
  const auto begun = std::chrono::steady_clock::now();
  loop.run([&]() -> std::optional<std::string> {
    if (!queued && loop.view().holding.size() == loop.view().nodes.size()) {
      queued = true;
      for (int i = 0; i < 3; ++i) loop.submit(single);
    }
    if (std::chrono::steady_clock::now() - begun > std::chrono::minutes(3)) return "it takes for ever";
    return std::nullopt;
  });
  EXPECT_EQ(loop.view().jobs.size(), 4u);
  expect_nothing_refused(journal, loop.view());
}

TEST_P(QueuedJobs, StartBesideTrialsThatGoOn) {
  const auto candidate = GetParam()();
  if (const auto why = candidate->missing(); !why.empty()) GTEST_SKIP() << why;
  run(*candidate, "random");
}

TEST_P(QueuedJobs, StartBesideTrialsThatAreHeld) {
  const auto candidate = GetParam()();
  if (const auto why = candidate->missing(); !why.empty()) GTEST_SKIP() << why;
  run(*candidate, "hyperband");
}

constexpr std::array kNames{"Local", "Simulated", "Slurm", "SlurmPilots"};
INSTANTIATE_TEST_SUITE_P(Worlds, QueuedJobs,
                         testing::Values(&make_local, &make_simulated, &make_slurm, &make_slurm_pilots),
                         [](const auto& of) { return std::string(kNames.at(of.index)); });

}  // namespace
}  // namespace tandem
