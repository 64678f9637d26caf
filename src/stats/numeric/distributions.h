// Probabilities of the normal, Student's t and F distributions, for tests and intervals. Tails are computed
// as such, so that small ones do not drown in rounding. Pure.
//
// Degrees of freedom must be positive and probabilities strictly between 0 and 1 (asserted).
#pragma once

namespace tandem::stats {

double normal_cdf(double x);
double normal_quantile(double probability);

double t_cdf(double t, double df);
double t_quantile(double probability, double df);
// The probability of a t at least as far from 0, either way.
double t_two_sided(double t, double df);

double f_cdf(double f, double df_above, double df_below);
double f_quantile(double probability, double df_above, double df_below);
// The probability of a larger F.
double f_tail(double f, double df_above, double df_below);

}  // namespace tandem::stats
