// What every sampler must do, whatever it thinks; how well each does is in the tests beside it.
#include "search/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "search/sampler_testing.h"

namespace tandem::search {
namespace {

spec::Space mixed_space() {
  return space_of({{"rate", log_real(1e-5, 1)},
                   {"batch", log_whole(8, 512)},
                   {"cores", whole(1, 8)},
                   {"kind", choice({"a", "b", "c"})},
                   {"dropout", real(0, 0.5), spec::Condition{"kind", {std::string("a"), std::string("b")}}},
                   {"flag", choice({true, false}), spec::Condition{"kind", {std::string("c")}}}},
                  {"batch % cores == 0", "dropout < 0.4"});
}

double mixed_loss(const Values& point) {
  double loss = std::abs(std::log10(number(point, "rate")) + 3) + 0.01 * number(point, "batch");
  return loss + (point.count("flag") ? 1 : number(point, "dropout"));
}

class EverySampler : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Samplers, EverySampler,
                         testing::Values("random", "quasirandom", "grid", "tpe", "tpe-multivariate", "nsga2"),
                         [](const auto& named) {
                           std::string name = named.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(EverySampler, KeepsToDomainsConditionsAndConstraints) {
  const auto space = mixed_space();
  const auto points = search_points(GetParam(), space, mixed_loss, 120, {.population = 10, .trials = 120});
  ASSERT_EQ(points.size(), 120u);
  for (const auto& point : points) expect_fits(space, point);
}

TEST_P(EverySampler, GivesTheSamePointsForTheSameSeedAndOthersForAnother) {
  const auto space = mixed_space();
  const SamplerOptions options{.population = 10, .seed = 7, .trials = 60};
  SamplerOptions other = options;
  other.seed = 8;
  const auto points = search_points(GetParam(), space, mixed_loss, 60, options);
  EXPECT_EQ(points, search_points(GetParam(), space, mixed_loss, 60, options));
  EXPECT_NE(points, search_points(GetParam(), space, mixed_loss, 60, other));
}

// A resumed job tells the sampler what happened without asking it again.
TEST_P(EverySampler, KnowsOnlyWhatItWasTold) {
  const auto space = mixed_space();
  const SamplerOptions options{.population = 10, .seed = 3, .trials = 80};
  const auto points = search_points(GetParam(), space, mixed_loss, 60, options);
  Asker resumed(GetParam(), space, options);
  for (std::size_t i = 0; i < 40; ++i) {
    resumed.sampler->began(resumed.asked++, points[i]);
    resumed.sampler->observe(static_cast<TrialId>(i), 1, {mixed_loss(points[i])});
  }
  for (std::size_t i = 40; i < 60; ++i) {
    const auto point = resumed.ask();
    ASSERT_EQ(point, points[i]) << i;
    resumed.sampler->observe(static_cast<TrialId>(i), 1, {mixed_loss(*point)});
  }
}

TEST_P(EverySampler, GivesDifferentPointsToManyInFlight) {
  const auto space = space_of({{"x", real(0, 1)}, {"y", log_real(1, 100)}, {"n", whole(1, 1000)}});
  Asker asker(GetParam(), space, {.population = 10, .trials = 200});
  std::set<Values> seen;
  for (int i = 0; i < 60; ++i) {
    const auto point = asker.ask();
    seen.insert(*point);
    if (i < 30) asker.sampler->observe(i, 1, {number(*point, "x")});
  }
  EXPECT_EQ(seen.size(), 60u);
}

TEST_P(EverySampler, SaysWhenNoPointMeetsTheConstraints) {
  const auto space = space_of({{"a", whole(1, 5)}, {"b", whole(1, 5)}}, {"a * b > 25"});
  Asker asker(GetParam(), space, {.trials = 10});
  EXPECT_THROW(asker.ask(), UserError);
}

TEST_P(EverySampler, WorksWithOneParameterOfOneValue) {
  const auto space = space_of({{"only", choice({"this"})}, {"x", whole(1, 40)}});
  for (const auto& point : search_points(GetParam(), space, [](const Values& p) { return number(p, "x"); },
                                         40, {.population = 8}))
    EXPECT_EQ(point.at("only"), Value(std::string("this")));
}

TEST_P(EverySampler, WorksWithSeventyParameters) {
  std::vector<spec::Parameter> parameters;
  for (int i = 0; i < 70; ++i) parameters.push_back({"p" + std::to_string(i), real(0, 1)});
  const auto space = space_of(std::move(parameters));
  for (const auto& point :
       search_points(GetParam(), space, [](const Values& p) { return number(p, "p7"); }, 25, {.trials = 25}))
    expect_fits(space, point);
}

// The right half of the space fails always.
TEST(Samplers, ThatLearnAvoidWhatFailed) {
  const auto space = space_of({{"x", real(0, 1)}, {"y", real(0, 1)}});
  const Loss half = [](const Values& point) {
    return number(point, "x") > 0.5 ? std::numeric_limits<double>::infinity() : number(point, "y");
  };
  for (const char* name : {"tpe", "tpe-multivariate", "nsga2"}) {
    const auto points = search_points(name, space, half, 120, {.population = 12});
    int failures = 0;
    for (std::size_t i = 60; i < points.size(); ++i) failures += number(points[i], "x") > 0.5;
    EXPECT_LT(failures, 12) << name;
  }
}

}  // namespace
}  // namespace tandem::search
