// Every world can do what it says it can, and refuses what it says it cannot (control/ports.h: Capabilities).
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <sstream>

#include "tests/contract/candidates_testing.h"

namespace tandem {
namespace {

class Capability : public WorldContract {
 protected:
  control::Capabilities can() { return candidate_->world().capabilities(); }
  // What a decision ends in.
  template <class Good>
  bool granted(DecisionId decision) {
    for (int rounds = 0; rounds < 600; ++rounds)
      for (auto& event : candidate_->world().wait(Seconds{0.1})) {
        view_.apply(event);
        seen_.push_back(event);
        if (const auto* good = std::get_if<Good>(&event.body); good && good->decision == decision)
          return true;
        if (const auto* bad = std::get_if<DecisionRefused>(&event.body); bad && bad->decision == decision)
          return false;
      }
    ADD_FAILURE() << "waited a minute for nothing";
    return false;
  }
  DecisionId ask(Resources wanted, std::vector<NodeId> more = {}) {
    const auto task = static_cast<TaskId>(view_.tasks.size());
    Request request{task, 0, wanted};
    request.nodes = 1 + static_cast<int>(more.size());
    decide(request);
    return decide(Start{task, 1, 0, wanted, 0, std::move(more)});
  }
};

TEST_P(Capability, Output) {
  submit(candidate_->speaker({"--say", "hello"}), 1);
  start();
  until<EpochEnded>();
  decide(Continue{0, 1, 1});
  until<TaskEnded>();
  std::ostringstream text;
  if (std::ifstream in(candidate_->output_of(0)); in) text << in.rdbuf();
  EXPECT_EQ(text.str().find("hello") != std::string::npos, can().output) << text.str();
}

TEST_P(Capability, Energy) {
  submit(candidate_->well_behaved(), 1);
  start();
  until<EpochEnded>();
  const auto measured = candidate_->measured(seen_);
  if (!measured) GTEST_SKIP() << "the site's, or the program's";
  EXPECT_EQ(*measured, can().energy);
}

TEST_P(Capability, Load) {
  if (can().load) {
    EXPECT_EQ(until<NodeObserved>().node, 0);
    return;
  }
  submit(candidate_->well_behaved(), 1);
  start();
  until<EpochEnded>();
  EXPECT_EQ(count<NodeObserved>(), 0);
}

TEST_P(Capability, ResizesAtWork) {
  if (view_.nodes[0].capacity.cores < 2) GTEST_SKIP() << "one core only";
  submit(candidate_->speaker({"--no-checkpoints", "--hang-at", "2"}));
  start(0, 1, {2, 0, 1.0});
  until<EpochEnded>();
  decide(Continue{0, 1, 1});
  EXPECT_EQ(granted<SystemChanged>(decide(Resize{0, 1, {1, 0, 1.0}})), can().resizes_at_work);
}

TEST_P(Capability, Gpus) {
  submit(candidate_->hanging());
  EXPECT_EQ(granted<TaskStarted>(ask({.cores = 1, .gpus = 1})), can().gpus);
}

TEST_P(Capability, GangGpus) {
  if (view_.nodes.size() < 2) GTEST_SKIP() << "one node only";
  submit(candidate_->hanging());
  EXPECT_EQ(granted<TaskStarted>(ask({.cores = 1, .gpus = 1}, {1})), can().gang_gpus);
}

TEST_P(Capability, SetsGpus) {
  submit(candidate_->hanging());
  ask({.cores = 1, .gpus = can().gpus ? 1 : 0});
  until<TaskStarted>();
  EXPECT_EQ(granted<SystemChanged>(decide(Retune{0, 1, Watts{200}, 0, false})), can().sets_gpus);
}

TEST_P(Capability, Latency) {
  submit(candidate_->hanging());
  const Seconds before = candidate_->world().now();
  start();
  until<TaskStarted>();
  EXPECT_LE((seen_.back().at - before).value, 20 * can().latency.value + 0.5) << "it says about";
}

constexpr std::array kNames{"Local", "LocalGpus", "Simulated", "SimulatedGpus", "Slurm"};
INSTANTIATE_TEST_SUITE_P(Worlds, Capability,
                         testing::Values(&make_local, &make_local_gpus, &make_simulated, &make_simulated_gpus,
                                         &make_slurm),
                         [](const auto& of) { return std::string(kNames.at(of.index)); });

}  // namespace
}  // namespace tandem
