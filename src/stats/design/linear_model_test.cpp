#include "stats/design/linear_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/complaint_for_test.h"
#include "base/random.h"
#include "stats/design/textbook_for_test.h"

namespace tandem::stats {
namespace {

struct Wanted {
  std::string name;
  double estimate, error, t, p, low, high;
};

void expect_coefficients(const LinearModel& model, const std::vector<Wanted>& wanted) {
  ASSERT_EQ(model.coefficients.size(), wanted.size());
  // statsmodels has its quantiles of t from cdflib, good to nine digits
  const auto close = [](double found, double sought) { EXPECT_NEAR(found, sought, 1e-8 * std::abs(sought)); };
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& found = model.coefficients[i];
    EXPECT_EQ(found.name, wanted[i].name);
    close(found.estimate, wanted[i].estimate);
    close(found.sure.value().error, wanted[i].error);
    close(found.sure->t, wanted[i].t);
    close(found.sure->p, wanted[i].p);
    close(found.sure->low, wanted[i].low);
    close(found.sure->high, wanted[i].high);
  }
}

// statsmodels 0.13: ols('y ~ C(a) * b', tooth).fit(), and with C(a, Sum): params, bse, tvalues, pvalues,
// conf_int().
TEST(LinearModels, AgreeWithStatsmodelsOnBothCodings) {
  const auto data = textbook::tooth();
  const std::vector<Variable> of{factor("a", data.a), numeric("b", textbook::numbers(data.b))};
  const auto model = fit_linear(of, data.y, {.order = 2});
  expect_coefficients(
      model,
      {{"1", 11.55, 1.58139427228, 7.30368144269, 1.08955767307e-09, 8.38208660336, 14.7179133966},
       {"a=VC", -8.255, 2.23642922731, -3.69115190375, 0.000507339303179, -12.73510609, -3.77489391005},
       {"b", 7.81142857143, 1.19542170548, 6.53445435666, 2.02775256564e-08, 5.41671113643, 10.2061460064},
       {"a=VC:b", 3.90428571429, 1.69058158865, 2.30943347574, 0.0246313581345, 0.517643839658,
        7.29092758891}});
  EXPECT_NEAR(*model.r2, 0.7295543698475715, 1e-12);
  EXPECT_NEAR(*model.adjusted_r2, 0.7150662110894057, 1e-12);
  expect_coefficients(
      fit_linear(of, data.y, {.order = 2, .coding = Coding::sum}),
      {{"1", 7.4225, 1.11821461366, 6.63781344775, 1.37042431983e-08, 5.18244695502, 9.66255304498},
       {"a=OJ", 4.1275, 1.11821461366, 3.69115190375, 0.000507339303179, 1.88744695502, 6.36755304498},
       {"b", 9.76357142857, 0.845290794323, 11.5505474496, 1.90798546065e-16, 8.07025049126, 11.4568923659},
       {"a=OJ:b", -1.95214285714, 0.845290794323, -2.30943347574, 0.0246313581345, -3.64546379446,
        -0.258821919829}});
}

TEST(LinearModels, CoverTheTruthAsOftenAsTheySay) {
  int covered = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    std::vector<double> x, y;
    for (int i = 0; i < 8; ++i) {
      x.push_back(random.uniform(0, 10));
      y.push_back(3 - 2 * x.back() + random.normal());
    }
    const auto slope =
        fit_linear(std::vector{numeric("x", x)}, y, {.level = 0.9}).coefficients[1].sure.value();
    covered += slope.low <= -2 && -2 <= slope.high;
  }
  EXPECT_NEAR(covered, 900, 30);  // three standard deviations
}

TEST(LinearModels, SetAsideWhatSaysTheSameAndSayOnWhatItDepends) {
  Random random(1);
  std::vector<double> x, z, doubled, sum, same(20, 7.0), y;
  for (int i = 0; i < 20; ++i) {
    x.push_back(random.normal()), z.push_back(1e6 + random.normal());
    doubled.push_back(2 * x.back()), sum.push_back(x.back() + z.back());
    y.push_back(x.back() - z.back() + 0.1 * random.normal());
  }
  const auto model =
      fit_linear(std::vector{numeric("x", x), numeric("same", same), numeric("doubled", doubled),
                             numeric("z", z), numeric("sum", sum)},
                 y);
  EXPECT_EQ(model.notes,
            (std::vector<std::string>{"same never changes: left out", "doubled is aliased with 2 x: left out",
                                      "sum is aliased with x and z: left out"}));
  EXPECT_EQ(model.rank, 3U);
  EXPECT_NEAR(model.coefficients[1].estimate, 1, 0.2);
  EXPECT_NEAR(model.coefficients[4].estimate, -1, 0.2);
  EXPECT_TRUE(model.coefficients[2].aliased && model.coefficients[3].aliased &&
              model.coefficients[5].aliased);
  EXPECT_FALSE(model.coefficients[3].sure);
}

TEST(LinearModels, OfOneRowOrMoreColumnsThanRowsClaimNothing) {
  const auto one = fit_linear(std::vector{numeric("x", {3.0})}, std::vector{5.0});
  EXPECT_EQ(one.coefficients[0].estimate, 5);
  EXPECT_FALSE(one.coefficients[0].sure || one.r2 || one.adjusted_r2);
  std::vector<Variable> many;
  Random random(2);
  for (int c = 0; c < 9; ++c) {
    many.push_back(numeric("x" + std::to_string(c), {}));
    for (int r = 0; r < 5; ++r) many.back().values.push_back(random.normal());
  }
  const auto model = fit_linear(many, std::vector<double>{1, 2, 3, 4, 6});
  EXPECT_EQ(model.rank, 5U);
  EXPECT_EQ(model.residual_df(), 0U);
  for (const auto& coefficient : model.coefficients) EXPECT_FALSE(coefficient.sure);
  EXPECT_TRUE(mentions(model.notes[0], "x4 is aliased with"));
}

TEST(LinearModels, KeepTheirDigitsOnBadlyScaledColumns) {  // y = 1 + 2a + 3b, b huge and nearly constant
  std::vector<double> a, b, y;
  for (int i = 0; i < 10; ++i) {
    a.push_back(1e-6 * (i % 3)), b.push_back(1e6 + i);
    y.push_back(1 + 2e6 * a.back() + 3 * (b.back() - 1e6) + (i % 2 ? 1e-3 : -1e-3));
  }
  const auto model = fit_linear(std::vector{numeric("a", a), numeric("b", b)}, y);
  EXPECT_NEAR(model.coefficients[1].estimate, 2e6, 2e3);
  EXPECT_NEAR(model.coefficients[2].estimate, 3, 1e-3);
}

TEST(LinearModels, TakeAbsurdUnitsOrRefuseThem) {
  const std::vector<double> plain{1, 2, 3, 4, 5, 7}, y{2, 3, 5, 4, 6, 9};
  const auto wanted = fit_linear(std::vector{numeric("x", plain)}, y).coefficients[1];
  for (const double unit : {1e-200, 1e200}) {
    auto x = plain, huge = y;
    for (auto& value : x) value *= unit;
    const auto found = fit_linear(std::vector{numeric("x", x)}, y).coefficients[1];
    EXPECT_NEAR(found.estimate * unit, wanted.estimate, 1e-9);
    EXPECT_NEAR(found.sure->t, wanted.sure->t, 1e-9);
    for (auto& value : huge) value *= unit;
    EXPECT_TRUE(mentions(complaint([&] { fit_linear({}, huge); }), "another unit"));
  }
  const std::vector<Variable> large{numeric("a", {1e200, 2e200}), numeric("b", {1e200, 3e200})};
  EXPECT_TRUE(mentions(complaint([&] { fit_linear(large, std::vector{1.0, 2.0}, {.order = 2}); }), "a:b"));
}

TEST(LinearModels, RefuseALevelThatIsNone) {
  EXPECT_TRUE(mentions(complaint([] {
                         fit_linear({}, std::vector{1.0, 2.0}, {.level = 95});
                       }),
                       "level of 95"));
}

}  // namespace
}  // namespace tandem::stats
