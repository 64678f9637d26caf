#include "stats/numeric/distributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tandem::stats {
namespace {

void expect_close(double found, double wanted) {
  EXPECT_NEAR(found / wanted, 1, 1e-9) << found << " for " << wanted;
}

// scipy.stats 1.10: norm.cdf, t.ppf, f.sf and so on.
TEST(Distributions, AgreeWithSciPy) {
  expect_close(normal_cdf(1.5), 0.9331927987311419);
  expect_close(normal_cdf(-9), 1.1285884059538324e-19);
  expect_close(normal_quantile(0.975), 1.959963984540054);
  expect_close(normal_quantile(1e-10), -6.361340902404056);
  expect_close(t_cdf(2.1, 4), 0.948173356841199);
  expect_close(t_quantile(0.975, 1), 12.706204736432095);
  expect_close(t_quantile(0.975, 17), 2.1098155778331806);
  expect_close(t_quantile(0.05, 250.5), -1.650959232993233);
  expect_close(t_two_sided(-30, 40), 4.8509076605901817e-29);
  expect_close(t_two_sided(0.2, 3), 0.854270329246279);
  expect_close(f_cdf(3.2, 2, 9), 0.9108239875581925);
  expect_close(f_quantile(0.95, 3, 20), 3.09839121214078);
  expect_close(f_tail(467.919, 1, 272), 4.733355896064298e-61);
  expect_close(f_tail(1562.2, 3, 240), 4.0023859330508234e-157);
  expect_close(f_tail(0.5, 1, 1), 0.6081734479693929);
}

TEST(Distributions, HaveEnds) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(normal_cdf(-infinity), 0);
  EXPECT_EQ(t_cdf(infinity, 3), 1);
  EXPECT_EQ(t_two_sided(infinity, 3), 0);
  EXPECT_EQ(f_tail(infinity, 2, 3), 0);
  EXPECT_EQ(f_tail(0, 2, 3), 1);
  EXPECT_EQ(f_cdf(-1, 2, 3), 0);
}

}  // namespace
}  // namespace tandem::stats
