// Arrivals whose rates change with a hidden phase: a marked Markovian arrival process (MMAP).
//
// While the phase is i, hidden jumps to j come at the rate hidden[i][j] (D0 off its diagonal), and arrivals
// of class k that move the phase to j at the rate marked[k][i][j] (Dk). One phase is a Poisson process a
// class; with diagonal Dk the phase only modulates the rates (MMPP). Plain values; pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tandem::stats {

using Rates = std::vector<std::vector<double>>;

struct MarkedArrivals {
  Rates hidden{};
  std::vector<Rates> marked{};  // by class, the highest priority first

  std::size_t phases() const { return hidden.size(); }
  std::size_t classes() const { return marked.size(); }
};

void check(const MarkedArrivals&, const std::string& where);  // UserError

MarkedArrivals poisson(const std::vector<double>& rates);
// Two phases that last so long on average. In the second, every class arrives `burst` times as often as in
// the first; on the whole at the given rates.
MarkedArrivals bursty(const std::vector<double>& rates, double burst, double first_lasts,
                      double second_lasts);

std::vector<double> phase_shares(const MarkedArrivals&);  // of time; one or two phases
std::vector<double> mean_rates(const MarkedArrivals&);    // of each class

}  // namespace tandem::stats
