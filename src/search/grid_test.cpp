#include "search/grid.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "search/sampler_testing.h"

namespace tandem::search {
namespace {

std::vector<Values> whole_grid(const spec::Space& space, SamplerOptions options = {}) {
  Asker asker("grid", space, options);
  std::vector<Values> out;
  while (const auto point = asker.ask()) out.push_back(*point);
  return out;
}

TEST(Grid, VisitsEveryCombinationExactlyOnce) {
  const auto space = space_of({{"a", whole(1, 7)}, {"b", choice({"x", "y", "z"})}, {"c", log_whole(1, 40)}});
  const auto points = whole_grid(space);
  EXPECT_EQ(points.size(), 7u * 3u * 40u);
  EXPECT_EQ(std::set<Values>(points.begin(), points.end()).size(), points.size());
  EXPECT_EQ(grid_size(space), 840);
}

TEST(Grid, GoesInStepsAndThroughStructures) {
  const auto space = space_of({{"a", in_steps(real(0, 1), 0.25)},
                               {"b", in_steps(whole(16, 64), 16)},
                               {"c", choice({Structure{"null"}, Structure{"[1,2]"}})}});
  const auto points = whole_grid(space);
  EXPECT_EQ(points.size(), 5u * 4u * 2u);
  EXPECT_EQ(std::set<Values>(points.begin(), points.end()).size(), points.size());
  for (const auto& point : points) expect_fits(space, point);
  EXPECT_EQ(grid_size(space), 40);
}

TEST(Grid, HasNoDuplicatesWhereParametersDoNotExist) {
  const auto space = space_of({{"kind", choice({"a", "b"})},
                               {"deep", choice({true, false}), spec::Condition{"kind", {std::string("a")}}},
                               {"width", whole(1, 5), spec::Condition{"deep", {true}}}});
  const auto points = whole_grid(space);
  EXPECT_EQ(points.size(), 5u + 1u + 1u);  // a deep × widths, a shallow, b
  EXPECT_EQ(std::set<Values>(points.begin(), points.end()).size(), points.size());
  EXPECT_EQ(grid_size(space), 7);
}

TEST(Grid, LeavesOutWhatConstraintsForbid) {
  const auto space =
      space_of({{"batch", choice({8, 12, 16})}, {"cores", whole(1, 4)}}, {"batch % cores == 0"});
  EXPECT_EQ(whole_grid(space).size(), 3u + 4u + 3u);
  EXPECT_EQ(grid_size(space), 10);
  EXPECT_THROW(grid_size(space_of({{"a", whole(1, 3)}}, {"a > 3"})), UserError);
}

TEST(Grid, GivesRealParametersEvenlySpacedLevelsWithTheEnds) {
  const auto space = space_of({{"x", real(0, 1)}, {"rate", log_real(1e-4, 1)}, {"kind", choice({"a", "b"})}});
  EXPECT_EQ(grid_size(space), std::nullopt);
  const auto points = whole_grid(space, {.trials = 45});
  std::set<double> x, rate;
  for (const auto& point : points) {
    x.insert(number(point, "x"));
    rate.insert(std::round(100 * std::log10(number(point, "rate"))) / 100);
  }
  EXPECT_EQ(points.size(), 5u * 4u * 2u);  // 5 × 5 × 2 would be more than 45
  EXPECT_EQ(x, (std::set<double>{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(rate, (std::set<double>{-4, -2.67, -1.33, 0}));
}

TEST(Grid, SpreadsItsFirstPointsOverTheSpace) {
  const auto space = space_of({{"a", whole(0, 31)}, {"b", whole(0, 31)}});
  Asker asker("grid", space);
  std::set<std::pair<int, int>> quarters;  // of 4 × 4
  for (int i = 0; i < 32; ++i) {
    const auto point = *asker.ask();
    quarters.insert({static_cast<int>(number(point, "a")) / 8, static_cast<int>(number(point, "b")) / 8});
  }
  EXPECT_GE(quarters.size(), 15u);
}

TEST(Grid, OverMoreThanCanBeListedIsWalkedWithoutListingIt) {
  std::vector<spec::Parameter> parameters;
  for (int i = 0; i < 20; ++i) parameters.push_back({"p" + std::to_string(i), whole(1, 1'000'000)});
  const auto space = space_of(std::move(parameters));
  EXPECT_GT(*grid_size(space), 1'000'000'000);
  Asker asker("grid", space);
  std::set<Values> seen;
  for (int i = 0; i < 100; ++i) seen.insert(*asker.ask());
  EXPECT_EQ(seen.size(), 100u);
}

// The last few of many are never met by chance alone.
TEST(Grid, OneTooLargeToBeListedIsVisitedWholeToo) {
  const auto space = space_of({{"a", whole(1, 450)},
                               {"kind", choice({"x", "y"})},
                               {"b", whole(1, 230), spec::Condition{"kind", {std::string("x")}}}});
  Asker asker("grid", space);
  std::set<Values> seen;
  while (const auto point = asker.ask()) EXPECT_TRUE(seen.insert(*point).second);
  EXPECT_EQ(seen.size(), 450u * (230u + 1u));
}

TEST(Grid, SaysHowManyPointsItHasAtMostForSoManyTrials) {
  const auto space = space_of({{"x", real(0, 1)}, {"kind", choice({"a", "b"})}});
  EXPECT_EQ(grid_size(space, 45), 22 * 2);
  EXPECT_EQ(grid_size(space), std::nullopt);
}

}  // namespace
}  // namespace tandem::search
