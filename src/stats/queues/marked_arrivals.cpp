#include "stats/queues/marked_arrivals.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tandem::stats {

void check(const MarkedArrivals& arrivals, const std::string& where) {
  const std::size_t phases = arrivals.phases();
  if (phases == 0) throw UserError(fmt::format("{}: arrivals need at least one phase", where));
  const auto square = [&](const Rates& rates) {
    if (rates.size() != phases) return false;
    for (const auto& row : rates) {
      if (row.size() != phases) return false;
      for (const double rate : row)
        if (!(rate >= 0)) return false;
    }
    return true;
  };
  if (!square(arrivals.hidden))
    throw UserError(fmt::format("{}: hidden jumps need {} × {} rates, none below 0", where, phases, phases));
  for (std::size_t k = 0; k < arrivals.classes(); ++k)
    if (!square(arrivals.marked[k]))
      throw UserError(
          fmt::format("{}: arrivals of class {} need {} × {} rates, none below 0", where, k, phases, phases));
}

MarkedArrivals poisson(const std::vector<double>& rates) {
  MarkedArrivals out{{{0}}, {}};
  for (const double rate : rates) out.marked.push_back({{rate}});
  return out;
}

MarkedArrivals bursty(const std::vector<double>& rates, double burst, double first_lasts,
                      double second_lasts) {
  MarkedArrivals out{{{0, 1 / first_lasts}, {1 / second_lasts, 0}}, {}};
  const double first = first_lasts / (first_lasts + second_lasts);
  for (const double rate : rates) {
    const double quiet = rate / (first + burst * (1 - first));
    out.marked.push_back({{quiet, 0}, {0, burst * quiet}});
  }
  return out;
}

std::vector<double> phase_shares(const MarkedArrivals& arrivals) {
  if (arrivals.phases() == 1) return {1};
  if (arrivals.phases() != 2)
    throw UserError(fmt::format("shares of {} phases: only one or two are supported", arrivals.phases()));
  double there = arrivals.hidden[0][1], back = arrivals.hidden[1][0];
  for (const auto& rates : arrivals.marked) there += rates[0][1], back += rates[1][0];
  if (there + back == 0) throw UserError("arrivals of two phases that never change: use one phase");
  return {back / (there + back), there / (there + back)};
}

std::vector<double> mean_rates(const MarkedArrivals& arrivals) {
  const auto shares = phase_shares(arrivals);
  std::vector<double> out;
  for (const auto& rates : arrivals.marked) {
    double sum = 0;
    for (std::size_t i = 0; i < rates.size(); ++i)
      for (const double rate : rates[i]) sum += shares[i] * rate;
    out.push_back(sum);
  }
  return out;
}

}  // namespace tandem::stats
