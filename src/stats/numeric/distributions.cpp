#include "stats/numeric/distributions.h"

#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cassert>
#include <cmath>

namespace tandem::stats {
namespace {

using boost::math::complement;
// In doubles throughout: Boost's default goes through long double, whose digits differ between machines.
using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using Normal = boost::math::normal_distribution<double, Policy>;
using StudentT = boost::math::students_t_distribution<double, Policy>;
using F = boost::math::fisher_f_distribution<double, Policy>;

void check_probability([[maybe_unused]] double probability) {
  assert(probability > 0 && probability < 1);
}

}  // namespace

double normal_cdf(double x) {
  if (std::isinf(x)) return x > 0 ? 1 : 0;
  return cdf(Normal(), x);
}

double normal_quantile(double probability) {
  check_probability(probability);
  return quantile(Normal(), probability);
}

double t_cdf(double t, double df) {
  assert(df > 0);
  if (std::isinf(t)) return t > 0 ? 1 : 0;
  return cdf(StudentT(df), t);
}

double t_quantile(double probability, double df) {
  check_probability(probability);
  assert(df > 0);
  return quantile(StudentT(df), probability);
}

double t_two_sided(double t, double df) {
  return 2 * t_cdf(-std::abs(t), df);
}

double f_cdf(double f, double df_above, double df_below) {
  assert(df_above > 0 && df_below > 0);
  if (f <= 0) return 0;
  return std::isinf(f) ? 1 : cdf(F(df_above, df_below), f);
}

double f_quantile(double probability, double df_above, double df_below) {
  check_probability(probability);
  assert(df_above > 0 && df_below > 0);
  return quantile(F(df_above, df_below), probability);
}

double f_tail(double f, double df_above, double df_below) {
  assert(df_above > 0 && df_below > 0);
  if (f <= 0) return 1;
  return std::isinf(f) ? 0 : cdf(complement(F(df_above, df_below), f));
}

}  // namespace tandem::stats
