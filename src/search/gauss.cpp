#include "search/gauss.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "search/axis.h"

namespace tandem::search {
namespace {

constexpr double kReach = 5;     // deviations, beyond which a kernel is nothing
constexpr double kFarAway = 60;  // squared distance, from the nearest kernel's: e^-30 of its height

void add_squares(const double* __restrict column, const JointArgument::OnAxis& axis,
                 double* __restrict distances) {
  if (axis.inverse_deviation > 0) {
    const double x = axis.x, inverse = axis.inverse_deviation;
    for (std::size_t i = 0; i < kBlock; ++i) {
      const double off = (column[i] - x) * inverse;
      distances[i] += off * off;
    }
  } else {
    const double x = axis.x, costs = axis.other_costs;
    for (std::size_t i = 0; i < kBlock; ++i) distances[i] += column[i] == x ? 0 : costs;
  }
}

}  // namespace

void divide_by_mass_inside(std::vector<double>& bins, double deviation) {
  for (std::size_t i = 0; i < kBins; ++i) {
    const double mean = (static_cast<double>(i) + 0.5) / kBins;
    if (bins[i] > 0 && std::min(mean, 1 - mean) < kReach * deviation) bins[i] /= mass_inside(mean, deviation);
  }
}

// On equidistant means a kernel's heights follow from each other by two multiplications.
double binned_density(const std::vector<double>& bins, double x, double deviation) {
  assert(bins.size() == kBins);
  const double low = std::max(0.0, (x - kReach * deviation) * kBins);
  const double high = std::min(static_cast<double>(kBins), (x + kReach * deviation) * kBins);
  const auto from = static_cast<std::size_t>(low), to = static_cast<std::size_t>(std::ceil(high));
  const double first = ((static_cast<double>(from) + 0.5) / kBins - x) / deviation;
  const double step = 1 / (kBins * deviation);
  double height = normal_density(first * deviation, deviation);
  double ratio = std::exp(-first * step - 0.5 * step * step);
  const double change = std::exp(-step * step);
  double sum = 0;
  for (std::size_t i = from; i < to; ++i) {
    sum += bins[i] * height;
    height *= ratio;
    ratio *= change;
  }
  return sum;
}

LogMassInside::LogMassInside(double deviation) : at_edge_(kBins + 2, 0.0) {
  std::vector<double> outside(kBins + 1, 0);  // beyond one end, by distance from it
  for (std::size_t i = 0; i <= kBins; ++i) {
    const double distance = static_cast<double>(i) / kBins / deviation;
    if (distance > 8) break;
    outside[i] = normal_cdf(-distance);
  }
  for (std::size_t i = 0; i <= kBins; ++i) at_edge_[i] = std::log(1 - outside[i] - outside[kBins - i]);
}

double JointArgument::log_sum() const {
  return sum > 0 ? std::log(sum) - 0.5 * nearest : -std::numeric_limits<double>::infinity();
}

void add_joint_kernels(const std::vector<std::vector<double>>& columns, const std::vector<double>& offsets,
                       std::vector<JointArgument>& arguments) {
  assert(offsets.size() % kBlock == 0);
  double distances[kBlock];
  for (std::size_t block = 0; block < offsets.size(); block += kBlock)
    for (auto& argument : arguments) {
      std::copy_n(offsets.data() + block, kBlock, distances);
      for (std::size_t a = 0; a < columns.size(); ++a)
        add_squares(columns[a].data() + block, argument.axes[a], distances);
      const double nearest = *std::min_element(distances, distances + kBlock);
      if (nearest >= JointArgument::kNowhere || nearest > argument.nearest + kFarAway) continue;
      if (nearest < argument.nearest) {
        argument.sum *= std::exp(-0.5 * (argument.nearest - nearest));
        argument.nearest = nearest;
      }
      for (std::size_t i = 0; i < kBlock; ++i) {
        const double further = distances[i] - argument.nearest;
        if (further < kFarAway) argument.sum += std::exp(-0.5 * further);
      }
    }
}

}  // namespace tandem::search
