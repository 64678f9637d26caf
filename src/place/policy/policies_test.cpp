#include "place/policy/policies.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace tandem::place {
namespace {

struct Fixed final : Predictor {
  std::vector<Prediction> by_type{};
  Prediction predict(std::uint32_t, std::uint32_t type) override { return by_type[type]; }
};

struct Site {
  std::vector<MachineType> types{};
  std::vector<Pool> pools{};
  std::vector<std::uint32_t> all{};
  Fixed predictor{};

  void add(MachineType type, Prediction predicted = {1, 1}) {
    pools.emplace_back(type.node, type.count);
    all.push_back(static_cast<std::uint32_t>(types.size()));
    predictor.by_type.push_back(predicted);
    types.push_back(std::move(type));
  }
  std::vector<std::uint32_t> order(const std::string& policy, const TaskRequirements& needs) {
    Ranking ranking(parse_policy(policy), types, &predictor, 1);
    return ranking.rank(0, 0, needs, ranking.allowed(needs, all), pools);
  }
};

Site two() {
  Site site;
  site.add({"big", "x86", "", {8000, 8 * kGiB, 0, 0}, 2, {"ssd"}, 1}, {10, 1000});
  site.add({"small", "arm", "T4", {4000, 4 * kGiB, 2, 0}, 2, {"spot"}, 2}, {100, 100});
  return site;
}

TEST(Policies, EveryOneHasAOneLineDescriptionAndCanBeMade) {
  std::set<std::string> names;
  for (const auto& entry : policies()) {
    EXPECT_TRUE(names.insert(entry.name).second);
    EXPECT_FALSE(entry.description.empty());
    EXPECT_EQ(entry.description.find('\n'), std::string::npos);
    const auto policy = parse_policy(entry.name);
    EXPECT_NE(policy.order, nullptr);
    EXPECT_EQ(policy.name, entry.name);
  }
}

TEST(Policies, OptionsFollowColons) {
  const auto policy = parse_policy("heats:H=0.25:x=60:move=stateful:cost=7");
  ASSERT_TRUE(policy.heats.has_value());
  EXPECT_EQ(policy.heats->h, 0.25);
  EXPECT_EQ(policy.heats->every, 60);
  EXPECT_EQ(policy.heats->cost, 7);
  EXPECT_EQ(policy.heats->moves, HeatsOptions::Moves::stateful);
  EXPECT_TRUE(parse_policy("heats:H=random").heats->random_h);
  const auto infra = parse_policy("infra:readmit=no:tolerated=0.5:overloaded=0.95").infra.value();
  EXPECT_FALSE(infra.pick.readmit);
  EXPECT_EQ(infra.thresholds.tolerated, 0.5);
  EXPECT_EQ(infra.pick.stragglers.overloaded, 0.95);
  const auto kit = parse_policy("kit:filter=accelerator+threshold@0.5:weigh=energy@2+free:nodes=least");
  EXPECT_EQ(kit.kit->filters.size(), 2u);
  EXPECT_EQ(kit.kit->weighers[0].weight, 2);
  EXPECT_EQ(kit.kit->nodes, NodeRule::least_free);
}

TEST(Policies, RefusesWhatIsNotThere) {
  for (const char* wrong : {"heat", "heats:h=1", "heats:H=2", "heats:H=", "heats:x=-1", "heats:move=fly",
                            "fifo:x=1", "kit:weigh=fre", "kit:filter=threshold@2", "kit:filter=accelerator@1",
                            "kit:nodes=last", "heats:idle=maybe", "kit:weigh=free@much", "heats:H",
                            "infra:readmit=maybe", "infra:tolerated=0", "infra:overloaded=2", ""})
    EXPECT_THROW(parse_policy(wrong), UserError) << wrong;
}

TEST(Policies, SpreadTakesTheEmptierAndBinpackTheFuller) {
  auto site = two();
  std::vector<Share> taken;
  site.pools[0].take({2000, 2 * kGiB, 0, 0}, 1, taken);
  const TaskRequirements needs{{1000, kGiB, 0, 0}};
  EXPECT_EQ(site.order("spread", needs).front(), 0u);   // 7/8 of an empty big node stay free
  EXPECT_EQ(site.order("binpack", needs).front(), 0u);  // 5/8 of the used big node; the small one has 3/4
  site.pools[1].take({2000, 2 * kGiB, 0, 0}, 1, taken);
  EXPECT_EQ(site.order("binpack", needs).front(), 1u);  // 1/4
}

TEST(Policies, EachWeigherPrefersWhatItSays) {
  auto site = two();  // the big one is fast and thirsty
  std::vector<Share> taken;
  site.pools[0].take({6000, 0, 0, 0}, 1, taken);  // cores only, of both big nodes
  site.pools[0].take({6000, 0, 0, 0}, 1, taken);
  const TaskRequirements needs{{1000, kGiB, 0, 0}};
  const auto first = [&](const std::string& weigh) {
    return site.order("kit:weigh=" + weigh, needs).front();
  };
  EXPECT_EQ(first("time"), 0u);
  EXPECT_EQ(first("energy"), 1u);
  EXPECT_EQ(first("free"), 1u);  // (1/8 + 7/8) / 2 against 3/4
  EXPECT_EQ(first("full"), 0u);
  EXPECT_EQ(first("balance"), 1u);  // 1/8 and 7/8 free against 3/4 and 3/4
  EXPECT_EQ(first("energy@0.1+time"), 0u);
  EXPECT_EQ(first("energy+time@0.1"), 1u);
}

TEST(Policies, HeatsRanksByItsWeightAndKeepsFullTypesInTheRanking) {
  auto site = two();
  const TaskRequirements needs{{1000, kGiB, 0, 0}};
  EXPECT_EQ(site.order("heats:H=0", needs), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(site.order("heats:H=1", needs), (std::vector<std::uint32_t>{1, 0}));
  std::vector<Share> taken;
  site.pools[1].take({4000, 0, 0, 0}, 2, taken);
  Ranking ranking(parse_policy("heats:H=1"), site.types, &site.predictor, 1);
  const auto rows = ranking.explain(0, needs, site.all, site.pools);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].type, 1u);
  EXPECT_EQ(rows[0].refused, "no room now");
  EXPECT_NE(rows[0].why.find("energy"), std::string::npos);
  EXPECT_EQ(rows[1].refused, "");
}

TEST(Policies, FiltersSayWhy) {
  auto site = two();
  const std::string all = "kit:filter=resources+architecture+accelerator+stragglers+affinity:weigh=free";
  const auto refused = [&](const TaskRequirements& needs, std::uint32_t type) {
    Ranking ranking(parse_policy(all), site.types, &site.predictor, 1);
    for (const auto& row : ranking.explain(0, needs, site.all, site.pools))
      if (row.type == type) return row.refused;
    return std::string("not there");
  };
  TaskRequirements needs{{1000, 0, 0, 0}};
  EXPECT_EQ(refused(needs, 0), "");
  EXPECT_NE(refused(needs, 1).find("stragglers"), std::string::npos);
  needs.architecture = "arm|power";
  EXPECT_EQ(refused(needs, 0), "architecture: is not arm|power");
  needs.architecture = "", needs.labels = {"!ssd"};
  EXPECT_EQ(refused(needs, 0), "affinity: has ssd");
  needs.labels = {"nvme"};
  EXPECT_EQ(refused(needs, 0), "affinity: has no nvme");
  needs.labels = {}, needs.part.milli_cores = 9000;
  EXPECT_NE(refused(needs, 0).find("resources"), std::string::npos);
  needs.part = {1000, 0, 1, 0}, needs.accelerator = "V100";
  EXPECT_NE(refused(needs, 0), "");
  EXPECT_NE(refused(needs, 1).find("V100"), std::string::npos);
}

TEST(Policies, AThresholdKeepsAShareOfEachNodeFree) {
  Site site;
  site.add({"one", "", "", {10000, 0, 0, 0}, 1, {}, 1});
  Ranking ranking(parse_policy("kit:filter=threshold@0.7:weigh=free"), site.types, &site.predictor, 1);
  const TaskRequirements needs{{1000, 0, 0, 0}};
  const auto allowed = ranking.allowed(needs, site.all);
  std::vector<Share> taken;
  int placed = 0;
  while (placed < 20) {
    const auto& ranked = ranking.rank(0, 0, needs, allowed, site.pools);
    if (ranked.empty() || !site.pools[0].take(needs.part, 1, taken, ranking.where(0))) break;
    ++placed;
  }
  EXPECT_EQ(placed, 7);
  EXPECT_TRUE(ranking.allowed({{8000, 0, 0, 0}}, site.all).empty());
}

TEST(Policies, RandomIsTheSameForASeedAndUsesEveryNode) {
  Site site;
  site.add({"a", "", "", {1000000, 0, 0, 0}, 3, {}, 1});
  site.add({"b", "", "", {1000000, 0, 0, 0}, 1, {}, 1});
  const TaskRequirements needs{{1000, 0, 0, 0}};
  Ranking one(parse_policy("random"), site.types, &site.predictor, 5);
  Ranking same(parse_policy("random"), site.types, &site.predictor, 5);
  int in_a = 0;
  std::set<std::uint64_t> draws;
  for (std::uint32_t task = 0; task < 4000; ++task) {
    const auto ranked = one.rank(task, 0, needs, site.all, site.pools);
    EXPECT_EQ(ranked, same.rank(task, 0, needs, site.all, site.pools));
    in_a += ranked.front() == 0;
    draws.insert(one.where(0).random);
  }
  EXPECT_NEAR(in_a, 3000, 150);  // three of four nodes
  EXPECT_EQ(draws.size(), 4000u);
}

TEST(Policies, WhoPredictsMustBeThere) {
  auto site = two();
  EXPECT_THROW(Ranking(parse_policy("heats"), site.types, nullptr, 1), UserError);
  EXPECT_THROW(Ranking(parse_policy("kit:weigh=energy"), site.types, nullptr, 1), UserError);
  EXPECT_NO_THROW(Ranking(parse_policy("spread"), site.types, nullptr, 1));
}

}  // namespace
}  // namespace tandem::place
