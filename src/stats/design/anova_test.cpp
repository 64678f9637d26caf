#include "stats/design/anova.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/complaint_for_test.h"
#include "base/random.h"
#include "stats/design/textbook_for_test.h"

namespace tandem::stats {
namespace {

// The numbers below are statsmodels 0.13's, of the data in textbook_for_test.h as a frame with columns a, b
// and y:
//   model = statsmodels.formula.api.ols('y ~ C(a, Sum) * C(b, Sum)', frame).fit()   # tooth: b as a number
//   statsmodels.api.stats.anova_lm(model, typ=1)                                   # 2, 3
struct Wanted {
  double squares, df, f, p;
};

void expect_table(const AnovaTable& table, const std::vector<Wanted>& wanted, double residual,
                  std::size_t df) {
  ASSERT_EQ(table.rows.size(), wanted.size());
  const auto close = [](double found, double sought) { EXPECT_NEAR(found, sought, 1e-9 * std::abs(sought)); };
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    SCOPED_TRACE(table.rows[i].term);
    close(table.rows[i].sum_of_squares, wanted[i].squares);
    EXPECT_EQ(static_cast<double>(table.rows[i].df), wanted[i].df);
    close(table.rows[i].f.value(), wanted[i].f);
    close(table.rows[i].p.value(), wanted[i].p);
    close(table.rows[i].share, wanted[i].squares / table.total_ss);
  }
  close(table.residual_ss, residual);
  EXPECT_EQ(table.residual_df, df);
  EXPECT_TRUE(table.notes.empty()) << table.notes[0];
}

TEST(Anova, OfMontgomerysBatteriesAgreesWithStatsmodels) {
  const auto data = textbook::battery();
  const std::vector<Variable> of{factor("material", data.a),
                                 factor("temperature", textbook::numbers(data.b))};
  for (const int type : {1, 2, 3})  // balanced: the same for all
    expect_table(anova(of, data.y, {type}),
                 {{10683.7222222222, 2, 7.91137226938, 0.00197608259091},
                  {39118.7222222222, 2, 28.967691949, 1.90859589743e-07},
                  {9613.77777777778, 4, 3.55953540035, 0.0186111681889}},
                 18230.75, 27);
}

TEST(Anova, OfNumbersAndFactorsAgreesWithStatsmodels) {
  const auto data = textbook::tooth();
  const std::vector<Variable> of{factor("supplement", data.a), numeric("dose", textbook::numbers(data.b))};
  for (const int type : {1, 2})
    expect_table(anova(of, data.y, {type}),
                 {{205.35, 1, 12.3170199058, 0.000893645158872},
                  {2224.30429761905, 1, 133.415146386, 1.90798546065e-16},
                  {88.9201071428571, 1, 5.33348297885, 0.0246313581345}},
                 933.634928571429, 56);
  expect_table(anova(of, data.y, {3}),
               {{227.150083333333, 1, 13.6246023766, 0.000507339303179},
                {2224.30429761905, 1, 133.415146386, 1.90798546065e-16},
                {88.9201071428571, 1, 5.33348297885, 0.0246313581345}},
               933.634928571429, 56);
}

TEST(Anova, OfUnbalancedYarnAgreesWithStatsmodels) {
  const auto data = textbook::warpbreaks();
  const std::vector<Variable> of{factor("wool", data.a), factor("tension", data.b)};
  const Wanted tension{2309.03622466, 2, 10.3225220765, 0.000225742840424};
  const Wanted both{970.158219785, 2, 4.33708208408, 0.0193961986311};
  expect_table(anova(of, data.y, {1}), {{363, 1, 3.24557533898, 0.0787981280324}, tension, both},
               4697.47222222222, 42);
  expect_table(anova(of, data.y, {2}), {{539.209894127, 1, 4.82106428351, 0.0336902024503}, tension, both},
               4697.47222222222, 42);
  expect_table(anova(of, data.y, {3}),
               {{666.004040404, 1, 5.95472806942, 0.0189781882611},
                {2534.6706824, 2, 11.3312185389, 0.000116022348824},
                both},
               4697.47222222222, 42);
}

TEST(Anova, FindsWhatMattersAndOnlyThat) {
  Random random(3);
  std::vector<double> a, b, c, y;
  for (int i = 0; i < 400; ++i) {
    a.push_back(i % 4), b.push_back(i / 4 % 5), c.push_back(i / 20 % 2);
    y.push_back(2 * a.back() + 0.7 * a.back() * b.back() + random.normal());
  }
  const std::vector<Variable> of{factor("a", a), factor("b", b), factor("c", c)};
  const auto table = anova(of, y);
  EXPECT_LT(*table.find("a")->p, 1e-9);
  EXPECT_LT(*table.find("a:b")->p, 1e-9);
  EXPECT_GT(*table.find("c")->p, 0.01);
  EXPECT_GT(*table.find("b:c")->p, 0.01);
  EXPECT_EQ(table.find("c:d"), nullptr);
}

TEST(Anova, SaysWhichFactorCopiesAnother) {
  const auto data = textbook::battery();
  auto copy = factor("again", data.a);
  const std::vector<Variable> of{factor("material", data.a), copy, numeric("constant", std::vector(36, 5.0))};
  const auto table = anova(of, data.y, {2, 1});
  EXPECT_EQ(table.find("again")->df, 0U);
  EXPECT_FALSE(table.find("again")->f);
  EXPECT_FALSE(table.find("constant")->p);
  EXPECT_EQ(table.residual_df, 33U);
  ASSERT_EQ(table.notes.size(), 3U);
  EXPECT_EQ(table.notes[0], "again=1 is aliased with material=1: left out");
  EXPECT_EQ(table.notes[2], "constant never changes: left out");
}

TEST(Anova, OfCombinationsWithoutRowsSaysSo) {
  auto data = textbook::battery();
  for (std::size_t i = data.y.size(); i-- > 0;)
    if (data.a[i] == "2" && data.b[i] == "70")
      data.a.erase(data.a.begin() + static_cast<long>(i)),
          data.b.erase(data.b.begin() + static_cast<long>(i)),
          data.y.erase(data.y.begin() + static_cast<long>(i));
  const std::vector<Variable> of{factor("material", data.a), factor("temperature", data.b)};
  const auto table = anova(of, data.y, {3});
  EXPECT_EQ(table.find("material:temperature")->df, 3U);  // R drops one, too
  EXPECT_EQ(table.residual_df, 24U);
  EXPECT_EQ(table.notes[0], "1 of 9 combinations of material:temperature have no rows");
  EXPECT_TRUE(mentions(table.notes.back(), "prefer type 2"));
}

TEST(Anova, WithoutReplicationsHasNoTests) {
  const std::vector<Variable> of{factor("a", std::vector<double>{1, 1, 2, 2}),
                                 factor("b", std::vector<double>{1, 2, 1, 2})};
  const auto table = anova(of, std::vector<double>{1, 2, 3, 7});
  for (const auto& row : table.rows) EXPECT_FALSE(row.f || row.p) << row.term;
  EXPECT_TRUE(mentions(table.notes.at(0), "replicate"));
  EXPECT_NEAR(table.rows[0].share + table.rows[1].share + table.rows[2].share, 1, 1e-12);
}

TEST(Anova, OfNothingToExplainOrOneRowClaimsNothing) {
  const std::vector<Variable> of{factor("a", std::vector<double>{1, 1, 2, 2}), numeric("x", {1, 2, 3, 4})};
  for (const auto& row : anova(of, std::vector(4, 0.1), {2, 1}).rows) EXPECT_TRUE(!row.p && row.share == 0);
  const std::vector<Variable> one{factor("a", std::vector<std::string>{"only"}), numeric("x", {3})};
  const auto table = anova(one, std::vector{2.0});
  EXPECT_EQ(table.residual_df, 0U);
  EXPECT_EQ(table.notes.at(0), "factor 'a' has one level only (only): it explains nothing");
  const auto exact = anova(of, std::vector<double>{2, 4, 6, 8}, {2, 1});
  EXPECT_FALSE(exact.find("x")->f);
  EXPECT_TRUE(mentions(exact.notes.back(), "fits exactly"));
}

TEST(Anova, RefusesNonsense) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Variable> of{numeric("x", {1, 2, 3})};
  const auto said = [&](const std::vector<Variable>& variables, std::vector<double> y,
                        AnovaOptions options = {}) {
    return complaint([&] { anova(variables, y, options); });
  };
  EXPECT_TRUE(mentions(said(of, {}), "at least one row"));
  EXPECT_TRUE(mentions(said(of, {1, nan, 2}), "row 2"));
  EXPECT_TRUE(mentions(said(of, {1, 2}), "3 values for 2 rows"));
  EXPECT_TRUE(mentions(said({numeric("x", {1, nan, 3})}, {1, 2, 3}), "'x' has a value in row 2"));
  EXPECT_TRUE(mentions(said({of[0], of[0]}, {1, 2, 3}), "twice"));
  EXPECT_TRUE(mentions(said(of, {1, 2, 3}, {4}), "type 4"));
  std::vector<Variable> many;
  for (int i = 0; i < 30; ++i) many.push_back(numeric("x" + std::to_string(i), {1, 2, 3}));
  EXPECT_TRUE(mentions(said(many, {1, 2, 3}, {2, 30}), "lower order"));
}

}  // namespace
}  // namespace tandem::stats
