#include "search/nsga2.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "search/pareto.h"
#include "search/sampler_testing.h"

namespace tandem::search {
namespace {

spec::Space zdt_space(int dimensions) {
  std::vector<spec::Parameter> parameters;
  for (int i = 0; i < dimensions; ++i)
    parameters.push_back({std::string(1, static_cast<char>('a' + i)), real(0, 1)});
  return space_of(std::move(parameters));
}

// Zitzler, Deb and Thiele's first: the front is y = 1 - sqrt(x), where all parameters but the first are 0.
Losses zdt1(const Values& point) {
  double rest = 0;
  for (const auto& [name, value] : point)
    if (name != "a") rest += *as_number(value);
  const double x = number(point, "a"), g = 1 + 9 * rest / static_cast<double>(point.size() - 1);
  return {x, g * (1 - std::sqrt(x / g))};
}

std::vector<Losses> losses_of(const std::string& sampler, const spec::Space& space, int trials,
                              std::uint64_t seed) {
  Asker asker(sampler, space, {.goals = 2, .population = 40, .seed = seed});
  std::vector<Losses> out;
  for (int i = 0; i < trials; ++i) {
    out.push_back(zdt1(*asker.ask()));
    asker.sampler->observe(i, 1, out.back());
  }
  return out;
}

// The share of the front near which (0.05 in each goal) something was found.
double covered(const std::vector<Losses>& found) {
  int hits = 0;
  for (int i = 0; i <= 20; ++i) {
    const double x = i / 20.0, y = 1 - std::sqrt(x);
    hits += std::any_of(found.begin(), found.end(), [&](const Losses& each) {
      return std::abs(each[0] - x) < 0.05 && each[1] - y < 0.05 && each[1] - y > -0.25;
    });
  }
  return hits / 21.0;
}

TEST(Nsga2, FindsMostOfTheFront) {
  const auto space = zdt_space(8);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_GT(covered(losses_of("nsga2", space, 2000, seed)), 0.8) << seed;
    EXPECT_LT(covered(losses_of("random", space, 2000, seed)), 0.2) << seed;
  }
}

TEST(Nsga2, ImprovesWithOneGoalAndMixedParameters) {
  const auto space = conditional_space();
  const Loss loss = [](const Values& point) {
    double out = std::abs(std::log10(number(point, "rate")) + 2) + std::abs(number(point, "layers") - 3);
    if (point.count("momentum")) out += std::abs(number(point, "momentum") - 0.9);
    if (point.count("decay")) out += 0.1 * std::abs(std::log10(number(point, "decay")) + 4);
    return out + (point.at("optimizer") == Value(std::string("sgd")) ? 0 : 1);
  };
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    EXPECT_LT(best_loss("nsga2", space, loss, 300, seed), 0.5 * best_loss("random", space, loss, 300, seed));
}

TEST(Nsga2, TriesNoPointTwiceWhileThereAreOthers) {
  const auto space = space_of({{"a", whole(0, 9)}, {"b", whole(0, 9)}, {"c", choice({"x", "y"})}});
  const auto points =
      search_points("nsga2", space, [](const Values& p) { return number(p, "a") + number(p, "b"); }, 60,
                    {.population = 10});
  EXPECT_GE(std::set<Values>(points.begin(), points.end()).size(),
            57u);  // the last resort is a draw at random
}

TEST(Nsga2, BetterMembersHaveMoreChildren) {
  std::vector<spec::Parameter> parameters{{"member", choice({0, 1, 2, 3, 4, 5, 6, 7, 8, 9})}};
  for (int i = 0; i < 9; ++i) parameters.push_back({"p" + std::to_string(i), real(0, 1)});
  const auto space = space_of(std::move(parameters));
  Nsga2 sampler(space, {.population = 10});
  Random start(1);
  for (TrialId i = 0; i < 10; ++i) {
    Values point{{"member", i}};
    for (int p = 0; p < 9; ++p) point["p" + std::to_string(p)] = start.uniform();
    sampler.began(i, point);
    sampler.observe(i, 1, {static_cast<double>(i)});
  }
  int better = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    Random random(2, i);
    better += number(*sampler.sample(10, random), "member") < 5;
  }
  EXPECT_GT(better, 260);  // three quarters, but for mutations; half without a tournament
}

// The best report of all is forgotten when its trial fails: children no longer come from there.
TEST(Nsga2, ForgetsWhatFailedAfterAGoodReport) {
  const auto space = space_of({{"x", real(0, 1)}});
  const auto children_near_zero = [&](bool fails) {
    Nsga2 sampler(space, {.population = 6});
    for (TrialId i = 0; i < 12; ++i) {
      const double x = i == 0 ? 0.01 : 0.5 + 0.04 * static_cast<double>(i);
      sampler.began(i, {{"x", x}});
      sampler.observe(i, 1, {x});
    }
    if (fails) sampler.failed(0);
    int near = 0;
    for (TrialId i = 12; i < 62; ++i) {
      Random random(1, static_cast<std::uint64_t>(i));
      near += number(*sampler.sample(i, random), "x") < 0.2;
    }
    return near;
  };
  EXPECT_GT(children_near_zero(false), 5);
  EXPECT_EQ(children_near_zero(true), 0);
}

}  // namespace
}  // namespace tandem::search
