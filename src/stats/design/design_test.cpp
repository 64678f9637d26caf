#include "stats/design/design.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/complaint_for_test.h"
#include "base/random.h"
#include "stats/design/latin_hypercube.h"

namespace tandem::stats {
namespace {

template <class Action>
void expect_complaint(Action action, const std::string& part) {
  const auto said = complaint(action);
  EXPECT_TRUE(mentions(said, part)) << said;
}

std::vector<DesignFactor> courier() {  // table 1 of the paper
  return {{"cpu", {1, 2, 4, 8}},
          {"batch", {64, 128, 256, 512}},
          {"njobs", {1, 3, 5}},
          {"topology", {std::string("shallow"), std::string("deep")}}};
}

std::set<Values> points_of(const Design& design) {
  std::set<Values> out;
  for (const auto& run : design.runs) out.insert(run.at);
  return out;
}

TEST(Designs, OfThePaperHaveItsCounts) {  // Courier, sections 3.2 and 3.3: 48 and 288 runs
  DesignOptions options{.kind = "two-level", .replications = 3};
  auto design = make_design(courier(), options);
  EXPECT_EQ(design.runs.size(), 48U);
  EXPECT_EQ(design.counted, "2 x 2 x 2 x 2 = 16 points, 3 replications: 48 runs");
  EXPECT_EQ(points_of(design).size(), 16U);
  options.kind = "full";
  design = make_design(courier(), options);
  EXPECT_EQ(design.runs.size(), 288U);
  EXPECT_EQ(points_of(design).size(), 96U);
  options.kind = "one-at-a-time";
  design = make_design(courier(), options);
  EXPECT_EQ(design.counted, "1 + 3 + 3 + 2 + 1 = 10 points, 3 replications: 30 runs");
}

TEST(Designs, TwoLevelTakesTheExtremesWhateverTheOrderWritten) {
  const std::vector<DesignFactor> factors{{"batch", {256, 64, 512, 128}},
                                          {"rate", {}, 0.001, 0.1, false, true}};
  for (const auto& run : make_design(factors, {.kind = "two-level"}).runs) {
    EXPECT_TRUE(run.at.at("batch") == Value(64) || run.at.at("batch") == Value(512));
    EXPECT_TRUE(run.at.at("rate") == Value(0.001) || run.at.at("rate") == Value(0.1));
  }
}

TEST(Designs, OneAtATimeVariesOneFactorAroundTheUsualPoint) {
  auto factors = courier();
  factors[1].usual = 96;  // not a level of its own: still the centre
  const auto design = make_design(factors, {.shuffled = false});
  const auto& usual = design.runs.front();
  EXPECT_EQ(usual.varied, "");
  EXPECT_EQ(usual.at.at("batch"), Value(96));
  EXPECT_EQ(design.points, 1U + 3 + 4 + 2 + 1);
  for (const auto& run : design.runs) {
    int different = 0;
    for (const auto& [name, value] : run.at) different += value != usual.at.at(name);
    EXPECT_EQ(different, run.varied.empty() ? 0 : 1);
    EXPECT_TRUE(run.varied.empty() || run.at.at(run.varied) != usual.at.at(run.varied));
  }
}

TEST(Designs, EveryReplicationIsABlockInAnOrderOfItsOwn) {
  const DesignOptions options{.kind = "full", .replications = 2, .seed = 7};
  const auto design = make_design(courier(), options), again = make_design(courier(), options);
  std::vector<std::size_t> first, second;
  for (std::size_t i = 0; i < design.runs.size(); ++i) {
    EXPECT_EQ(design.runs[i].at, again.runs[i].at);
    EXPECT_EQ(design.runs[i].replication, i / 96);
    (i < 96 ? first : second).push_back(design.runs[i].point);
  }
  EXPECT_NE(first, second);
  EXPECT_EQ(std::set(first.begin(), first.end()), std::set(second.begin(), second.end()));
  EXPECT_NE(make_design(courier(), {.kind = "full", .seed = 8}).runs[0].point, design.runs[0].point);
}

TEST(Designs, RangesAreCutByTheirKind) {
  DesignFactor rate{"rate", {}, 0.001, 0.1, false, true};
  const auto levels = levels_of(rate);
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_NEAR(std::get<double>(levels[1]), 0.01, 1e-12);
  EXPECT_EQ(std::get<double>(levels[2]), 0.1);
  EXPECT_EQ(levels_of({"cores", {}, 1, 2, true}), (std::vector<Value>{1, 2}));  // no third whole number
  EXPECT_EQ(levels_of({"cores", {}, 4, 4, true}), std::vector<Value>{4});
  EXPECT_EQ(usual_of({"cores", {}, 1, 9, true}), Value(5));
}

TEST(Designs, AFactorThatCannotVaryStaysWhereItIs) {
  const std::vector<DesignFactor> factors{{"cores", {2}}, {"batch", {32, 64}}};
  for (const char* kind : {"one-at-a-time", "two-level", "full"})
    EXPECT_EQ(make_design(factors, {.kind = kind}).runs.size(), 2U) << kind;
}

TEST(Designs, SpaceFillingCoversEverySliceOfEveryAxis) {
  const std::vector<DesignFactor> factors{{"rate", {}, 1, 2},
                                          {"cores", {}, 1, 4, true},
                                          {"optimizer", {std::string("sgd"), std::string("adam")}}};
  const auto design = make_design(factors, {.kind = "space-filling", .points = 8, .seed = 3});
  ASSERT_EQ(points_of(design).size(), 8U);
  std::map<Value, int> cores, optimizers;
  std::set<int> slices;
  for (const auto& run : design.runs) {
    ++cores[run.at.at("cores")], ++optimizers[run.at.at("optimizer")];
    slices.insert(static_cast<int>((std::get<double>(run.at.at("rate")) - 1) * 8));
  }
  EXPECT_EQ(slices.size(), 8U);
  EXPECT_EQ(cores.size(), 4U);
  for (const auto& [value, times] : cores) EXPECT_EQ(times, 2) << text(value);
  for (const auto& [value, times] : optimizers) EXPECT_EQ(times, 4) << text(value);
}

TEST(Designs, SpaceFillingFindsEveryPointOfASmallGrid) {
  const std::vector<DesignFactor> factors{{"a", {1, 2, 3}}, {"b", {1, 2, 3, 4}}};
  for (std::size_t points = 1; points <= 12; ++points)
    EXPECT_EQ(points_of(make_design(factors, {.kind = "space-filling", .points = points})).size(), points);
  expect_complaint([&] { make_design(factors, {.kind = "space-filling", .points = 13}); },
                   "there are only 12");
}

TEST(Designs, SpreadPointsFurtherApartThanAtRandom) {
  const std::vector<std::size_t> steps{0, 0, 0};
  const auto closest = [&](const std::vector<std::vector<double>>& points) {
    double out = HUGE_VAL;
    for (std::size_t a = 0; a < points.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) out = std::min(out, distance(points[a], points[b], steps));
    return std::sqrt(out);
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Random random(seed);
    double best = 0;
    for (int i = 0; i < 50; ++i) {
      std::vector<std::vector<double>> points(20, std::vector<double>(3));
      for (auto& point : points)
        for (auto& x : point) x = random.uniform();
      best = std::max(best, closest(points));
    }
    EXPECT_GT(closest(latin_hypercube(20, steps, seed)), best);
  }
}

TEST(Designs, OfThousandsOfPointsAreStillMade) {
  const std::vector<DesignFactor> factors{{"a", {}, 0, 1}, {"b", {}, 1, 1000, true}};
  const auto design =
      make_design(factors, {.kind = "space-filling", .points = 1000, .allowed = [](const Values& at) {
                              return std::get<double>(at.at("a")) < 0.9;
                            }});
  EXPECT_EQ(points_of(design).size(), 1000U);
}

TEST(Designs, LeaveOutWhatIsNotAllowedAndSaySo) {
  DesignOptions options{.kind = "full", .allowed = [](const Values& at) {
                          return std::get<std::int64_t>(at.at("a")) <= std::get<std::int64_t>(at.at("b"));
                        }};
  const std::vector<DesignFactor> factors{{"a", {1, 2, 3}}, {"b", {1, 2, 3}}};
  EXPECT_EQ(make_design(factors, options).counted,
            "3 x 3 = 9 points, 3 left out by the constraints: 6, 1 replication: 6 runs");
  options.kind = "space-filling", options.points = 6;
  EXPECT_EQ(points_of(make_design(factors, options)).size(), 6U);
  options.points = 7;
  expect_complaint([&] { make_design(factors, options); }, "only 6 different ones");
  options.kind = "full", options.allowed = [](const Values&) { return false; };
  expect_complaint([&] { make_design(factors, options); }, "none of the 9 points");
}

TEST(Designs, AreRefusedWithTheirCountWhenTooLarge) {
  std::vector<DesignFactor> factors;
  for (int i = 0; i < 40; ++i) factors.push_back({"f" + std::to_string(i), {1, 2, 3, 4}});
  expect_complaint([&] { make_design(factors, {.kind = "full"}); }, "10000 is the most");
  expect_complaint([&] { make_design(courier(), {.kind = "full", .replications = 200}); }, "19200 runs");
}

TEST(Designs, OfNonsenseAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto make = [](DesignFactor factor) { return make_design(std::vector{std::move(factor)}, {}); };
  expect_complaint([&] { make_design({}, {}); }, "at least one factor");
  expect_complaint([&] { make({"a", {1, 2, 1.0}}); }, "twice");
  expect_complaint([&] { make({"a", {1.0, nan}}); }, "not finite");
  expect_complaint([&] { make({"a", {}, 2, 1}); }, "is none");
  expect_complaint([&] { make({"a", {}, nan, 1}); }, "is none");
  expect_complaint([&] { make({"a", {}, 0, 1, false, true}); }, "above 0");
  expect_complaint([&] { make({"a", {}, 0.5, 2, true}); }, "whole numbers");
  expect_complaint([&] { make_design(std::vector<DesignFactor>{{"a", {1}}, {"a", {2}}}, {}); }, "twice");
  expect_complaint([&] { make_design(courier(), {.kind = "ful"}); }, "did you mean 'full'");
  expect_complaint([&] { make_design(courier(), {.replications = 0}); }, "one replication");
  expect_complaint([&] { make_design(courier(), {.kind = "space-filling"}); }, "number of its points");
}

}  // namespace
}  // namespace tandem::stats
