#include "search/parzen.h"

#include <gtest/gtest.h>

#include <cmath>

#include "search/gauss.h"
#include "search/points.h"
#include "search/space_testing.h"

namespace tandem::search {
namespace {

TEST(Axis, CoordinatesComeBackAsValues) {
  for (const auto& domain : {choice({"a", "b", "c"}), whole(3, 9), log_whole(1, 100)})
    for (std::int64_t i = 0; i < *count(domain); ++i) {
      const Axis axis(domain);
      const Value value = axis.is_choice() ? domain.choices[static_cast<std::size_t>(i)]
                                           : Value(static_cast<std::int64_t>(domain.low) + i);
      EXPECT_EQ(axis.value(axis.coordinate(value)), value);
    }
  EXPECT_DOUBLE_EQ(Axis(whole(1, 4)).cell(0.1), 0.25);
  EXPECT_EQ(Axis(real(0, 1)).cell(0.1), 0);
}

TEST(Axis, CellsOfWholeNumbersFillTheInterval) {
  const Axis axis(log_whole(1, 30));
  double all = 0;
  for (std::int64_t i = 1; i <= 30; ++i) all += axis.cell(axis.coordinate(i));
  EXPECT_NEAR(all, 1, 1e-12);
}

TEST(Axis, TheQuantileUndoesTheDistribution) {
  for (double x = -7; x <= 7; x += 0.37) {
    const double back = normal_quantile(normal_cdf(x));
    EXPECT_NEAR(back, x, 1e-7 * std::max(1.0, std::exp(x * x / 2) * 1e-9)) << x;
  }
}

TEST(Axis, DrawsStayInsideAndFollowTheKernel) {
  Random random(1);
  double mean = 0;
  for (int i = 0; i < 20000; ++i) {
    const double x = draw_inside(0.05, 0.2, random);
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    mean += x / 20000;
  }
  double expected = 0, mass = 0;
  for (int i = 0; i < 10000; ++i) {
    const double x = (i + 0.5) / 10000, height = normal_density(x - 0.05, 0.2);
    expected += x * height;
    mass += height / 10000;
  }
  EXPECT_NEAR(mean, expected / 10000 / mass, 0.003);
  EXPECT_NEAR(mass, mass_inside(0.05, 0.2), 1e-6);
}

TEST(Gauss, BinsAreAsGoodAsTheSumOfAllKernels) {
  Random random(2);
  std::vector<double> points(5000), bins(kBins, 0);
  for (auto& x : points) {
    x = random.uniform() * random.uniform();
    ++bins[static_cast<std::size_t>(x * kBins)];
  }
  for (const double deviation : {0.01, 0.05, 0.3}) {
    auto corrected = bins;
    divide_by_mass_inside(corrected, deviation);
    for (const double x : {0.0, 0.003, 0.2, 0.5, 0.99}) {
      double exact = 0;
      for (const double mean : points)
        exact += normal_density(x - mean, deviation) / mass_inside(mean, deviation);
      EXPECT_NEAR(binned_density(corrected, x, deviation), exact, 0.05 * exact + 0.1)
          << deviation << " " << x;
    }
  }
}

TEST(Gauss, JointKernelsAreSummedAsTheFormulaSays) {
  const std::size_t n = 2 * kBlock;
  Random random(3);
  std::vector<std::vector<double>> columns(3, std::vector<double>(n));
  std::vector<double> offsets(n);
  for (std::size_t i = 0; i < n; ++i) {
    columns[0][i] = random.uniform();
    columns[1][i] = random.uniform();
    columns[2][i] = static_cast<double>(random.below(3));
    offsets[i] = i < 100 ? random.uniform() : JointArgument::kNowhere;
  }
  std::vector<JointArgument> arguments{{{{0.3, 1 / 0.2, 0}, {0.6, 1 / 0.1, 0}, {1, 0, 1.5}}}};
  add_joint_kernels(columns, offsets, arguments);
  double exact = 0;
  for (std::size_t i = 0; i < 100; ++i)
    exact += std::exp(-0.5 * (offsets[i] + std::pow((columns[0][i] - 0.3) / 0.2, 2) +
                              std::pow((columns[1][i] - 0.6) / 0.1, 2) + (columns[2][i] == 1 ? 0 : 1.5)));
  EXPECT_NEAR(arguments[0].log_sum(), std::log(exact), 1e-9);
}

TEST(Gauss, TheTableOfMassesIsRight) {
  for (const double deviation : {0.005, 0.1, 1.0}) {
    const LogMassInside table(deviation);
    for (const double mean : {0.0, 0.001, 0.3, 0.77, std::nextafter(1.0, 0.0)})
      EXPECT_NEAR(table(mean), std::log(mass_inside(mean, deviation)), 0.03) << deviation << " " << mean;
  }
}

// Good trials around 0.2 (and of the first choice), bad ones elsewhere.
Parzen two_camps(bool joint, int bad) {
  Parzen out({Axis(real(0, 1)), Axis(choice({"a", "b", "c"}))}, joint);
  Random random(4);
  for (int i = 0; i < 5; ++i) out.add({0.18 + 0.01 * i, 0});
  for (int i = 0; i < bad; ++i)
    out.add({0.4 + 0.6 * random.uniform(), static_cast<double>(1 + random.below(2))});
  return out;
}
const std::vector<Parzen::Good> kFirstFive{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}};

TEST(Parzen, ScoresAreHighWhereGoodTrialsAre) {
  for (const bool joint : {false, true})
    for (const int bad : {20, 500}) {
      const auto parzen = two_camps(joint, bad);
      const auto scores = parzen.scores(kFirstFive, {{0.2, 0}, {0.7, 1}, {0.2, 1}, {0.7, 0}});
      EXPECT_GT(scores[0], 1);
      EXPECT_LT(scores[1], -1);
      EXPECT_GT(scores[0], scores[2]);
      EXPECT_GT(scores[0], scores[3]);
    }
}

TEST(Parzen, CandidatesComeFromTheGoodBestFirst) {
  for (const bool joint : {false, true}) {
    const auto parzen = two_camps(joint, 100);
    Random random(5);
    const auto candidates = parzen.candidates(kFirstFive, 200, random);
    const auto scores = parzen.scores(kFirstFive, candidates);
    EXPECT_TRUE(std::is_sorted(scores.rbegin(), scores.rend()));
    int near = 0;
    for (const auto& point : candidates) near += std::abs(point[0] - 0.2) < 0.2 && point[1] == 0;
    EXPECT_GT(near, 100);
    EXPECT_LT(near, 195);  // the prior keeps an eye on the rest
  }
}

TEST(Parzen, JointDensitiesKnowWhatGoesTogether) {
  // Good where both are low or both are high.
  const auto filled = [](bool joint) {
    Parzen out({Axis(real(0, 1)), Axis(real(0, 1))}, joint);
    for (int i = 0; i < 10; ++i) out.add(i % 2 == 0 ? Parzen::Point{0.1, 0.1} : Parzen::Point{0.9, 0.9});
    Random random(1);
    for (int i = 0; i < 200; ++i) out.add({random.uniform(), random.uniform()});
    return out;
  };
  std::vector<Parzen::Good> good;
  for (std::size_t i = 0; i < 10; ++i) good.push_back({i, 1});
  const auto joint = filled(true).scores(good, {{0.1, 0.1}, {0.1, 0.9}});
  EXPECT_GT(joint[0], joint[1] + 1);
  const auto separate = filled(false).scores(good, {{0.1, 0.1}, {0.1, 0.9}});
  EXPECT_NEAR(separate[0], separate[1], 0.8);
}

// Products of hundreds of densities leave the range of numbers; their logarithms do not.
TEST(Parzen, HundredsOfAxesAreNoTrouble) {
  for (const bool joint : {false, true}) {
    Parzen parzen(std::vector<Axis>(500, Axis(real(0, 1))), joint);
    Random random(7);
    std::vector<Parzen::Good> good;
    for (std::size_t i = 0; i < 100; ++i) {
      const double centre = i < 10 ? 0.2 : 0.6;
      Parzen::Point point(500);
      for (auto& x : point) x = centre + 0.01 * random.uniform();
      parzen.add(point);
      if (i < 10) good.push_back({i, 1});
    }
    const auto scores = parzen.scores(good, {Parzen::Point(500, 0.2), Parzen::Point(500, 0.6)});
    EXPECT_TRUE(std::isfinite(scores[0]) && std::isfinite(scores[1])) << scores[0] << " " << scores[1];
    EXPECT_GT(scores[0], 10);
    EXPECT_LT(scores[1], -10);
  }
}

// The histogram takes over above 128 trials: nothing may jump there.
TEST(Parzen, TheHistogramAgreesWithTheExactSum) {
  Random random(6);
  Parzen exact({Axis(real(0, 1)), Axis(whole(1, 12))}, false), binned = exact;
  std::vector<Parzen::Good> good{{0, 1}, {1, 1}, {2, 1}};
  const Axis& steps = exact.axes()[1];
  for (int i = 0; i < 128; ++i) {
    const Parzen::Point point{random.uniform(), steps.snapped(random.uniform())};
    exact.add(point);
    binned.add(point);
  }
  binned.add({0.5, steps.snapped(0.5)});  // one more, so that the histogram is used
  const std::vector<Parzen::Point> points{
      {0.1, steps.snapped(0.1)}, {0.52, steps.snapped(0.9)}, {0.97, steps.snapped(0.6)}};
  const auto a = exact.scores(good, points), b = binned.scores(good, points);
  for (std::size_t i = 0; i < points.size(); ++i) EXPECT_NEAR(a[i], b[i], 0.06);
}

}  // namespace
}  // namespace tandem::search
