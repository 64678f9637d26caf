#include "server/placement_explanation.h"

#include <gtest/gtest.h>

#include "control/loop.h"
#include "control/memory_journal.h"
#include "sim/programs_declared.h"
#include "sim/world.h"
#include "tune/train.h"

namespace tandem::server {
namespace {

spec::TrainJob plain(double seconds, int cores) {
  spec::TrainJob job;
  job.program.command = {"work"};
  job.program.plain = true;
  job.epochs = 0;
  job.system.cores = cores;
  job.place.seconds = Seconds{seconds};
  return job;
}

TEST(Hindsight, TellsWhatWasKnownWhenATaskWasPlacedNotWhatIsKnownNow) {
  const auto policy = place::parse_policy("heats:H=1:x=0");
  sim::NodeGroup fast{
      .name = "fast", .capacity = {2, 0, 1.0}, .power = sim::PowerModel{Watts{50}, Watts{250}}};
  sim::NodeGroup thrifty{
      .name = "thrifty", .capacity = {2, 0, 1.0}, .power = sim::PowerModel{Watts{5}, Watts{15}}};
  fast.traits.pace = 2;
  sim::DeclaredPrograms programs({{"fast", 2}, {"thrifty", 1}});
  sim::World world({.nodes = {fast, thrifty}}, programs);
  control::MemoryJournal journal;
  std::vector<std::unique_ptr<Policy>> policies;
  policies.push_back(std::make_unique<tune::TrainController>());
  policies.push_back(std::make_unique<place::Scheduler>(policy, 1));
  control::Loop loop({world, journal}, std::move(policies));
  loop.open();
  loop.submit(plain(100, 2));
  loop.submit(plain(100, 2));  // thrifty is full
  loop.run();
  const auto first = placed_because(journal, policy, 0, 1), second = placed_because(journal, policy, 1, 1);
  ASSERT_EQ(first.types.size(), 2U);
  EXPECT_EQ(first.types[0].type, "thrifty");
  EXPECT_EQ(first.types[0].refused, "");
  EXPECT_EQ(second.types[0].type, "thrifty");
  EXPECT_EQ(second.types[0].refused, "no room now");
  EXPECT_NE(second.verdict.find("fast"), std::string::npos);
  EXPECT_ANY_THROW(placed_because(journal, policy, 1, 2));
}

}  // namespace
}  // namespace tandem::server
