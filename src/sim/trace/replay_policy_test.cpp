// What policies do to a replay: ranking, evicting, letting others pass, moving.
#include <gtest/gtest.h>

#include <cmath>

#include "base/complaint_for_test.h"
#include "base/error.h"
#include "base/random.h"
#include "sim/trace/replay.h"

namespace tandem::sim {
namespace {

Replayed with(const ReplayInput& in, const std::string& policy) {
  return replay(in, place::parse_policy(policy));
}

// A fast and thirsty node, a slow and thrifty one, two cores each.
ReplayInput two_types() {
  ReplayInput in;
  in.pools.push_back({"fast", "", {2000, 0, 0, 0}, 1, NodeDraw{0, 200, 0}});
  in.pools.push_back({"thrifty", "", {2000, 0, 0, 0}, 1, NodeDraw{0, 20, 0}});
  in.shapes.push_back({{2000, 0, 0, 0}, 1, {0, 1}});
  return in;
}

void add(ReplayInput& in, double at, double fast, double thrifty, int priority = 0, std::uint32_t shape = 0) {
  in.jobs.push_back({at, fast, shape, priority});
  in.by_pool.insert(in.by_pool.end(), {fast, thrifty});
}

TEST(ReplayedPolicies, HeatsPlacesByItsWeight) {
  auto in = two_types();
  add(in, 0, 10, 50);
  EXPECT_EQ(with(in, "heats:H=0").jobs[0].ended, 10);
  const auto thrifty = with(in, "heats:H=1");
  EXPECT_EQ(thrifty.jobs[0].ended, 50);
  EXPECT_DOUBLE_EQ(*thrifty.joules, 50 * 20);
}

TEST(ReplayedPolicies, ATaskMovesWhenABetterNodeIsFreeAndKeepsItsShare) {
  auto in = two_types();
  add(in, 0, 10, 50);    // takes the thrifty node until 50
  add(in, 0, 100, 500);  // so this one starts on the fast node, half done at 50
  const auto free = with(in, "heats:H=1:x=25:cost=0:move=stateful");
  EXPECT_EQ(free.jobs[1].ended, 50 + 250);
  EXPECT_EQ(free.jobs[1].started, 0);
  EXPECT_EQ(free.jobs[1].pool, 1u);
  EXPECT_EQ(free.moves, 1u);
  EXPECT_DOUBLE_EQ(*free.joules, 50 * 20 + 50 * 200 + 250 * 20);
  const auto stateful = with(in, "heats:H=1:x=25:cost=4:move=stateful");
  EXPECT_EQ(stateful.jobs[1].ended, 50 + 4 + 250);
  // Stateless: four more seconds of work on the fast node while the other starts; both draw.
  const auto stateless = with(in, "heats:H=1:x=25:cost=4:move=stateless");
  EXPECT_NEAR(stateless.jobs[1].ended, 54 + 0.46 * 500, 1e-9);
  EXPECT_NEAR(*stateless.joules, 50 * 20 + 54 * 200 + (4 + 230) * 20, 1e-6);
  EXPECT_EQ(with(in, "heats:H=1:x=0").moves, 0u);
  EXPECT_EQ(with(in, "heats:H=1:x=25:move=none").moves, 0u);
  EXPECT_EQ(with(in, "heats:H=1:x=25:cost=1000:move=stateful").moves, 0u);  // does not pay
}

TEST(ReplayedPolicies, WhoeverWaitsComesBeforeAMove) {
  auto in = two_types();
  add(in, 0, 10, 50);
  add(in, 0, 100, 500);
  add(in, 51, 10, 40);  // comes while the second is on its way to the thrifty node
  const auto out = with(in, "heats:H=1:x=25:cost=4");
  EXPECT_EQ(out.moves_undone, 1u);
  EXPECT_EQ(out.jobs[2].started, 51);
  EXPECT_EQ(out.jobs[2].pool, 1u);
  in.jobs[2].submitted = 49;  // waits at the moment of rescheduling: nothing moves before it has its place
  const auto waits = with(in, "heats:H=1:x=25:cost=4");
  EXPECT_EQ(waits.jobs[2].started, 50);
}

TEST(ReplayedPolicies, EnergyMayCountAShareOfTheIdleDraw) {
  auto in = two_types();
  in.pools[1].draw->idle = 100;  // the whole of it: the task holds both cores
  add(in, 0, 10, 50);            // 2000 J on the fast node; 1000 J and 5000 J of idling on the thrifty one
  EXPECT_EQ(with(in, "heats:H=1").jobs[0].pool, 1u);
  EXPECT_EQ(with(in, "heats:H=1:idle=none").jobs[0].pool, 1u);
  EXPECT_EQ(with(in, "heats:H=1:idle=share").jobs[0].pool, 0u);
  in.shapes[0].part.milli_cores = 200;  // a tenth of the node: 100 + 500 J against 200 J
  EXPECT_DOUBLE_EQ(idle_joules(in.shapes[0], in.pools[1], 50), 500);
  in.pools[1].node.memory = 10, in.shapes[0].part.memory = 5, in.shapes[0].parts = 2;
  EXPECT_DOUBLE_EQ(idle_joules(in.shapes[0], in.pools[1], 50),
                   2 * 0.5 * 5000);  // memory is what it holds most of
}

TEST(ReplayedPolicies, EnergyNeedsAKnownDraw) {
  auto in = two_types();
  add(in, 0, 10, 50);
  in.pools[0].draw.reset();
  EXPECT_THROW(with(in, "heats:H=1"), UserError);
  EXPECT_NO_THROW(with(in, "heats:H=0"));
}

ReplayInput one_node(std::int64_t cores) {
  ReplayInput in;
  in.pools.push_back({"node", "", {1000 * cores, 0, 0, 0}, 1, NodeDraw{0, 0, 0}});
  return in;
}

void job(ReplayInput& in, double at, double seconds, std::int64_t cores, int priority = 0) {
  in.shapes.push_back({{1000 * cores, 0, 0, 0}, 1, {0}});
  in.jobs.push_back({at, seconds, static_cast<std::uint32_t>(in.shapes.size() - 1), priority});
}

TEST(ReplayedPolicies, BackfillLetsPassWhoDelaysNobody) {
  auto in = one_node(4);
  job(in, 0, 100, 3);
  job(in, 1, 10, 4);   // waits until 100
  job(in, 2, 200, 1);  // would delay it
  job(in, 3, 50, 1);   // is done before
  const auto out = with(in, "backfill");
  EXPECT_EQ(out.jobs[3].started, 3);
  EXPECT_EQ(out.jobs[1].started, 100);
  EXPECT_EQ(out.jobs[2].started, 110);
  EXPECT_EQ(with(in, "first-fit").jobs[1].started, 202);
  in.shapes[1].part.milli_cores = 3000;  // leaves one core free all the while: the long one may pass
  EXPECT_EQ(with(in, "backfill").jobs[2].started, 2);
  EXPECT_EQ(with(in, "backfill").jobs[1].started, 100);
}

// Nobody is in front of the first that waits, so it starts as it does when nobody may pass.
TEST(ReplayedPolicies, BackfillNeverDelaysTheFirst) {
  int blocked = 0, delayed_by_first_fit = 0, passed = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed, 4);
    auto in = one_node(8);
    in.pools[0].count = 3;
    double at = 0;
    for (int i = 0; i < 60; ++i)
      job(in, at += random.uniform(0, 4), random.uniform(1, 60),
          static_cast<std::int64_t>(1 + random.below(8)));
    const auto strict = with(in, "fifo"), backfill = with(in, "backfill"), loose = with(in, "first-fit");
    std::size_t first = 0;
    while (first < in.jobs.size() && strict.jobs[first].started == in.jobs[first].submitted) ++first;
    if (first == in.jobs.size()) continue;
    ++blocked;
    EXPECT_EQ(backfill.jobs[first].started, strict.jobs[first].started) << seed;
    delayed_by_first_fit += loose.jobs[first].started > strict.jobs[first].started;
    for (std::size_t i = first + 1; i < in.jobs.size(); ++i)
      passed += backfill.jobs[i].started < backfill.jobs[first].started;
  }
  EXPECT_GT(blocked, 25);
  EXPECT_GT(delayed_by_first_fit, 0);  // so there was something to keep from happening
  EXPECT_GT(passed, 0);
}

TEST(ReplayedPolicies, PriorityWithAndWithoutEviction) {
  auto in = one_node(2);
  job(in, 0, 100, 2, 0);
  job(in, 10, 5, 1, 1);
  job(in, 20, 5, 2, 2);
  const auto calm = with(in, "priority");
  EXPECT_EQ(calm.jobs[2].started, 100);
  EXPECT_EQ(calm.jobs[1].started, 105);
  EXPECT_EQ(calm.evictions, 0u);
  const auto restart = with(in, "preempt-restart");
  EXPECT_EQ(restart.jobs[1].started, 10);
  EXPECT_EQ(restart.jobs[2].started, 20);
  EXPECT_EQ(restart.jobs[0].ended, 25 + 100);
  EXPECT_EQ(restart.evictions, 2u);  // at 10 and, started again at 15, at 20
  EXPECT_DOUBLE_EQ(restart.lost_seconds, 10 + 5);
  const auto resume = with(in, "preempt-resume");
  EXPECT_NEAR(resume.jobs[0].ended, 25 + 100 - 15, 1e-9);
  EXPECT_EQ(resume.lost_seconds, 0);
}

TEST(ReplayedPolicies, OnlyThoseInTheWayAreEvicted) {
  auto in = one_node(4);
  job(in, 0, 100, 1, 0);
  job(in, 1, 100, 2, 0);
  job(in, 2, 100, 1, 0);
  job(in, 3, 10, 2, 1);  // the last two would do, the one of two cores alone does too
  const auto out = with(in, "preempt-restart");
  EXPECT_EQ(out.evictions, 1u);
  EXPECT_EQ(out.jobs[0].attempts, 1u);
  EXPECT_EQ(out.jobs[2].attempts, 1u);
  EXPECT_EQ(out.jobs[1].attempts, 2u);
}

TEST(ReplayedPolicies, WhatPlacesByObservationIsRefused) {
  auto in = one_node(4);
  job(in, 0, 100, 1, 0);
  EXPECT_NE(complaint([&] { with(in, "infra:readmit=no"); }).find("tandem serve"), std::string::npos);
}

// Work is conserved and capacity kept to under every policy; the same seed gives the same.
TEST(ReplayedPolicies, LawsHoldUnderEveryPolicy) {
  std::vector<std::string> names{"heats:H=0.5:x=3:cost=1", "heats:H=random:x=2:move=stateful:cost=0.5",
                                 "kit:filter=threshold@0.9:weigh=energy+time+free:nodes=random"};
  for (const auto& entry : place::policies())
    if (const auto policy = place::parse_policy(entry.name); !policy.dropping && !policy.infra)
      names.push_back(entry.name);
  for (const auto& name : names)
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      Random random(seed, 8);
      ReplayInput in;
      in.seed = seed;
      in.pools.push_back({"a", "", {8000, 0, 0, 0}, 2, NodeDraw{10, 80, 0}});
      in.pools.push_back({"b", "", {4000, 0, 0, 0}, 3, NodeDraw{5, 8, 0}});
      for (std::int64_t cores = 1; cores <= 3; ++cores)
        in.shapes.push_back({{1000 * cores, 0, 0, 0}, 1, {0, 1}});
      double at = 0;
      for (int i = 0; i < 200; ++i) {
        const double seconds = random.uniform(1, 20);
        in.jobs.push_back({at += random.uniform(0, 1), seconds, static_cast<std::uint32_t>(random.below(3)),
                           static_cast<int>(random.below(3))});
        in.by_pool.insert(in.by_pool.end(), {seconds, seconds * random.uniform(1, 3)});
      }
      in.sample = 1;
      const auto out = with(in, name);
      EXPECT_TRUE(out.never.empty());
      for (std::size_t i = 0; i < in.jobs.size(); ++i) {
        ASSERT_TRUE(std::isfinite(out.jobs[i].ended)) << name << " " << i;
        ASSERT_GE(out.jobs[i].started, in.jobs[i].submitted);
      }
      for (const auto& sample : out.samples)
        for (const float share : sample.cores) ASSERT_TRUE(share >= 0 && share <= 1) << name;
      EXPECT_LE(out.core_seconds, out.core_seconds_there);
      if (!name.starts_with("heats") && name != "preempt-resume") {
        double work = 0;  // where it ran from beginning to end
        for (std::size_t i = 0; i < in.jobs.size(); ++i)
          work += in.by_pool[2 * i + out.jobs[i].pool] * (1 + in.jobs[i].shape);
        EXPECT_GE(out.core_seconds, work - 1e-6) << name;
        if (out.evictions == 0) {
          EXPECT_NEAR(out.core_seconds, work, 1e-6) << name;
        }
      }
      const auto again = with(in, name);
      EXPECT_EQ(again.makespan, out.makespan) << name;
      EXPECT_EQ(*again.joules, *out.joules) << name;
    }
}

TEST(ReplayedPolicies, NodesMayFailWhileTasksMove) {
  ReplayInput in;
  in.pools.push_back({"a", "", {4000, 0, 0, 0}, 3, NodeDraw{10, 80, 0}});
  in.pools.push_back({"b", "", {4000, 0, 0, 0}, 3, NodeDraw{5, 8, 0}});
  in.shapes.push_back({{2000, 0, 0, 0}, 1, {0, 1}});
  in.failures = spec::Failures{Seconds{60}, Seconds{10}};
  in.checkpoint = 1;
  for (int i = 0; i < 200; ++i) {
    in.jobs.push_back({2.0 * i, 20, 0, i % 3});
    in.by_pool.insert(in.by_pool.end(), {20, 45});
  }
  for (const char* name : {"heats:H=1:x=2:cost=3", "heats:H=0:x=2:cost=3:move=stateful", "preempt-resume",
                           "preempt-restart", "backfill", "spread"}) {
    const auto out = with(in, name);
    EXPECT_GT(out.failures, 10u);
    for (const auto& fate : out.jobs) EXPECT_TRUE(std::isfinite(fate.ended)) << name;
  }
}

}  // namespace
}  // namespace tandem::sim
