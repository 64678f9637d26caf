// Nodes on which others work, too: what is observed of them, and what a policy makes of it.
#include "base/complaint_for_test.h"
#include "control/loop.h"
#include "control/memory_journal.h"
#include "place/engine/scheduler.h"
#include "sim/world/programs_declared.h"
#include "sim/world/world_testing.h"
#include "tune/train.h"

namespace tandem::sim {
namespace {

NodeGroup shared_node(const std::string& name, std::vector<Background> background) {
  return {.name = name, .capacity = {4, 16 * kGiB, 1.0}, .background = std::move(background)};
}

std::vector<std::unique_ptr<Policy>> policies(const std::string& placement) {
  std::vector<std::unique_ptr<Policy>> out;
  out.push_back(std::make_unique<tune::TrainController>());
  out.push_back(std::make_unique<place::Scheduler>(place::parse_policy(placement), 1));
  return out;
}

spec::TrainJob of_twenty_seconds() {
  spec::TrainJob job;
  job.program.command = {"work"};
  job.program.plain = true;
  job.epochs = 0;
  job.place.seconds = Seconds{20};
  return job;
}

class ObservedNodes : public ByHand {};

TEST_F(ObservedNodes, BackgroundLoadIsObservedWhenItChanges) {
  open({.nodes = {shared_node("a", {{Seconds{0}, {.cpu = 0.1}}, {Seconds{30}, {.cpu = 0.9}}}),
                  shared_node("b", {})},
        .start = Seconds{1000}});
  EXPECT_DOUBLE_EQ(*until<NodeObserved>().load.cpu, 0.1);
  EXPECT_DOUBLE_EQ(world_->now().value, 1000);
  EXPECT_DOUBLE_EQ(*until<NodeObserved>().load.cpu, 0.9);
  EXPECT_DOUBLE_EQ(world_->now().value, 1030);
  EXPECT_EQ(view_.nodes[0].observed.size(), 2U);
  EXPECT_TRUE(view_.nodes[1].observed.empty()) << "nobody looks at it";
  wait(Seconds{1000});
  EXPECT_EQ(count<NodeObserved>(), 2);
}

TEST_F(ObservedNodes, ANodeThatComesBackIsObservedAgain) {
  open({.nodes = {shared_node("a", {{Seconds{0}, {.cpu = 0.1}}, {Seconds{15}, {.cpu = 0.5}}})},
        .failures = Failures::listed({{0, Seconds{10}, Seconds{20}}})});
  until<NodeObserved>();
  EXPECT_EQ(until<NodeJoined>().capacity.cores, 0);
  EXPECT_TRUE(view_.nodes[0].observed.empty());
  EXPECT_DOUBLE_EQ(*until<NodeObserved>().load.cpu, 0.5);
  EXPECT_DOUBLE_EQ(world_->now().value, 20);
}

TEST_F(ObservedNodes, BackgroundLoadThatCannotBeIsRefused) {
  const auto said = [&](std::vector<Background> background) {
    return complaint([&] { World({.nodes = {shared_node("a", std::move(background))}}, speaker_); });
  };
  EXPECT_TRUE(mentions(said({{Seconds{9}, {}}, {Seconds{5}, {}}}), "order of time"));
  EXPECT_TRUE(mentions(said({{Seconds{0}, {.network = 1.5}}}), "0 to 1"));
}

// A job every 20 s. One node is busy at first and idle after 100 s, the other is used a little all the time.
TEST(ObservedJobs, AnInfraServerAvoidsABusyNodeAndComesBackWhenItIsCalm) {
  DeclaredPrograms programs({});
  World world({.nodes = {shared_node("restless", {{Seconds{0}, {.cpu = 0.85}}, {Seconds{100}, {.cpu = 0.0}}}),
                         shared_node("calm", {{Seconds{0}, {.cpu = 0.2}}})},
               .open_ended = true},
              programs);
  control::MemoryJournal journal;
  control::Loop loop({world, journal}, policies("infra"));
  loop.open();
  std::vector<Seconds> submitted;
  loop.serve([&] {
    const Seconds next{5 + 20.0 * static_cast<double>(submitted.size())};
    if (submitted.size() < 10 && world.now() >= next) {
      submitted.push_back(world.now());
      loop.submit(of_twenty_seconds());
    }
    return world.now() < Seconds{300};
  });
  const View& view = loop.view();
  ASSERT_EQ(view.tasks.size(), 10U);
  for (const auto& task : view.tasks) {
    const bool early = submitted[static_cast<std::size_t>(task.job)] < Seconds{100};
    EXPECT_EQ(view.nodes[static_cast<std::size_t>(task.node)].name, early ? "calm" : "restless") << task.id;
    EXPECT_EQ(view.jobs[static_cast<std::size_t>(task.job)].state, JobState::finished);
  }
  EXPECT_EQ(control::first_difference(policies("infra"), journal), std::nullopt)
      << "the journal explains every placement";
}

TEST(ObservedJobs, AJobMayWaitForACalmNode) {
  DeclaredPrograms programs({});
  World world({.nodes = {shared_node("a", {{Seconds{0}, {.cpu = 0.85}}, {Seconds{100}, {.cpu = 0.3}}})},
               .open_ended = true},
              programs);
  control::MemoryJournal journal;
  control::Loop loop({world, journal}, policies("infra:readmit=no"));
  loop.open();
  loop.submit(of_twenty_seconds());
  loop.run();
  EXPECT_DOUBLE_EQ(loop.view().tasks[0].started_at.value, 100);
}

}  // namespace
}  // namespace tandem::sim
