// Sums of very many normal kernels, quickly: the inner loops of parzen.h.
//
// Plain loops of fixed length over doubles, which compilers vectorise without changing a bit of the result.
#pragma once

#include <cstddef>
#include <vector>

namespace tandem::search {

inline constexpr std::size_t kBins = 512;  // of the unit interval
inline constexpr std::size_t kBlock = 64;  // columns are padded to a multiple

// Each bin's count divided by how much of a kernel in its middle lies inside the unit interval.
void divide_by_mass_inside(std::vector<double>& bins, double deviation);
// The sum of kernels in the middles of the bins, at x, out to five deviations.
double binned_density(const std::vector<double>& bins, double x, double deviation);

// The logarithm of mass_inside of axis.h from a table, for one deviation.
class LogMassInside {
 public:
  explicit LogMassInside(double deviation);
  double operator()(double mean) const {
    const double place = mean * kBins;
    const auto cell = static_cast<std::size_t>(place);
    return at_edge_[cell] + (at_edge_[cell + 1] - at_edge_[cell]) * (place - static_cast<double>(cell));
  }

 private:
  std::vector<double> at_edge_;  // of the bins
};

// A point at which joint kernels are summed. On each axis either a number with the inverse of the kernels'
// deviation, or a choice with what another choice costs (as a squared distance).
struct JointArgument {
  struct OnAxis {
    double x, inverse_deviation, other_costs;
  };
  std::vector<OnAxis> axes;
  // Of exp(-distance²/2) over all kernels, relative to the nearest: hundreds of axes overflow nothing.
  double nearest = kNowhere;  // squared distance
  double sum = 0;
  double log_sum() const;  // -infinity when there are no kernels

  static constexpr double kNowhere = 1e300;
};
// `offsets` are added to the squared distances, one a kernel; kNowhere leaves the kernel out.
void add_joint_kernels(const std::vector<std::vector<double>>& columns, const std::vector<double>& offsets,
                       std::vector<JointArgument>&);

}  // namespace tandem::search
