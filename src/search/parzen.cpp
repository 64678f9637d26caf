#include "search/parzen.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "search/gauss.h"

namespace tandem::search {
namespace {

constexpr double kPrior = 1;  // the weight of the kernel as wide as the space, in trials
constexpr double kPriorMean = 0.5, kPriorDeviation = 1;
// How much of the flat distribution is in the widths, in trials. What is fitted one parameter at a time,
// blind for the others, narrows with more care.
constexpr double kFlatJoint = 0.5, kFlatSeparate = 1;
constexpr double kLeastDeviation = 0.005, kBadDeviation = 0.5;
constexpr std::size_t kExact = 128;

// Scott's rule.
double deviation(double variance, double n, double dimensions, double flat) {
  const double mixed = (variance * n + flat / 12) / (n + flat);
  return std::sqrt(mixed) * std::pow(std::max(n, 1.0), -1 / (dimensions + 4));
}

double bounded(double deviation) {
  return std::clamp(deviation, kLeastDeviation, 1.0);
}

std::size_t bin_of(double coordinate) {
  return std::min(static_cast<std::size_t>(coordinate * kBins), kBins - 1);
}

double sum_of_exp(const std::vector<double>& logs, double relative_to) {
  double out = 0;
  for (const double each : logs) out += std::exp(each - relative_to);
  return out;
}

double log_sum_of_exp(const std::vector<double>& logs) {
  const double most = *std::max_element(logs.begin(), logs.end());
  return most + std::log(sum_of_exp(logs, most));
}

}  // namespace

struct Parzen::Fit {
  std::vector<std::size_t> good;                       // trials
  std::vector<double> weights, log_weights;            // theirs
  double weight = 0, bad = 0;                          // of all good ones; the number of bad ones
  std::vector<double> deviations, bad_deviations;      // by axis
  std::vector<std::vector<double>> means, log_masses;  // by axis, of the good ones
};

Parzen::Parzen(std::vector<Axis> axes, bool joint)
    : axes_(std::move(axes)),
      joint_(joint),
      columns_(axes_.size()),
      sums_(axes_.size(), 0),
      squares_(axes_.size(), 0) {
  for (const auto& axis : axes_)
    bins_.emplace_back(axis.is_choice() ? static_cast<std::size_t>(axis.choices()) : kBins, 0.0);
}

void Parzen::add(const Point& point) {
  assert(point.size() == axes_.size());
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const double x = point[a];
    if (size_ % kBlock == 0) columns_[a].resize(size_ + kBlock, 0.0);
    columns_[a][size_] = x;
    sums_[a] += x;
    squares_[a] += x * x;
    ++bins_[a][axes_[a].is_choice() ? static_cast<std::size_t>(x) : bin_of(x)];
  }
  ++size_;
}

Parzen::Fit Parzen::fit(const std::vector<Good>& good) const {
  Fit out;
  for (const auto& each : good) {
    out.good.push_back(each.trial);
    out.weights.push_back(each.weight);
    out.log_weights.push_back(std::log(each.weight));
  }
  out.weight = std::accumulate(out.weights.begin(), out.weights.end(), 0.0);
  out.bad = static_cast<double>(size_ - good.size());
  const double n = static_cast<double>(good.size()), flat = joint_ ? kFlatJoint : kFlatSeparate;
  const double dimensions = joint_ ? static_cast<double>(axes_.size()) : 1;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    std::vector<double> means, log_masses;
    double mean = 0, variance = 0, bad_sum = sums_[a], bad_squares = squares_[a];
    for (const auto& each : good) {
      const double x = columns_[a][each.trial];
      means.push_back(x);
      mean += each.weight * x / out.weight;
      bad_sum -= x;
      bad_squares -= x * x;
    }
    for (const auto& each : good) {
      const double off = columns_[a][each.trial] - mean;
      variance += each.weight * off * off / out.weight;
    }
    const double bad_mean = out.bad > 0 ? bad_sum / out.bad : 0;
    const double bad_variance = out.bad > 0 ? std::max(0.0, bad_squares / out.bad - bad_mean * bad_mean) : 0;
    out.deviations.push_back(bounded(deviation(variance, n, dimensions, flat)));
    out.bad_deviations.push_back(bounded(kBadDeviation * deviation(bad_variance, out.bad, dimensions, flat)));
    if (!axes_[a].is_choice())
      for (const double each : means) log_masses.push_back(std::log(mass_inside(each, out.deviations[a])));
    out.means.push_back(std::move(means));
    out.log_masses.push_back(std::move(log_masses));
  }
  return out;
}

std::vector<Parzen::Point> Parzen::candidates(const std::vector<Good>& good, std::size_t count,
                                              Random& random) const {
  const Fit fitted = fit(good);
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i) points.push_back(draw(fitted, random));
  const auto score = scores(fitted, points);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
  std::vector<Point> out;
  for (const auto i : order) out.push_back(std::move(points[i]));
  return out;
}

Parzen::Point Parzen::draw(const Fit& fit, Random& random) const {
  const double n = static_cast<double>(fit.good.size());
  std::size_t chosen = 0;
  Point out(axes_.size());
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    if (a == 0 || !joint_) {  // a joint kernel gives all coordinates
      double left = random.uniform() * (fit.weight + kPrior);
      for (chosen = 0; chosen < fit.good.size() && left >= fit.weights[chosen]; ++chosen)
        left -= fit.weights[chosen];
    }
    const Axis& axis = axes_[a];
    const bool prior = chosen == fit.good.size();
    const double mean = prior ? kPriorMean : fit.means[a][chosen];
    if (!axis.is_choice())
      out[a] = axis.snapped(draw_inside(mean, prior ? kPriorDeviation : fit.deviations[a], random));
    else if (prior || random.uniform() < ChoiceKernel(axis.choices(), n).leaving)
      out[a] = static_cast<double>(random.below(static_cast<std::uint64_t>(axis.choices())));
    else
      out[a] = mean;
  }
  return out;
}

std::vector<double> Parzen::scores(const std::vector<Good>& good, const std::vector<Point>& points) const {
  return scores(fit(good), points);
}

std::vector<double> Parzen::scores(const Fit& fit, const std::vector<Point>& points) const {
  if (joint_) return joint_scores(fit, points);
  std::vector<double> out(points.size(), 0), log_heights;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const auto bad_here = bad(fit, a, points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      log_heights = fit.log_weights;
      add_log_heights(fit, a, points[i][a], log_heights);
      const double prior = kPrior * std::exp(log_prior(a, points[i][a]));
      out[i] += std::log((sum_of_exp(log_heights, 0) + prior) / (fit.weight + kPrior)) -
                std::log((bad_here[i] + prior) / (fit.bad + kPrior));
    }
  }
  return out;
}

std::vector<double> Parzen::joint_scores(const Fit& fit, const std::vector<Point>& points) const {
  const auto log_bad = log_bad_jointly(fit, points);
  std::vector<double> out, log_heights;
  for (std::size_t i = 0; i < points.size(); ++i) {
    double prior = std::log(kPrior);
    log_heights = fit.log_weights;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      add_log_heights(fit, a, points[i][a], log_heights);
      prior += log_prior(a, points[i][a]);
    }
    log_heights.push_back(prior);
    out.push_back(log_sum_of_exp(log_heights) - std::log(fit.weight + kPrior) -
                  log_sum_of_exp({log_bad[i], prior}) + std::log(fit.bad + kPrior));
  }
  return out;
}

// The logarithms of the heights of the good trials' kernels at x.
void Parzen::add_log_heights(const Fit& fit, std::size_t axis, double x,
                             std::vector<double>& log_heights) const {
  const auto& means = fit.means[axis];
  if (axes_[axis].is_choice()) {
    const ChoiceKernel kernel(axes_[axis].choices(), static_cast<double>(means.size()));
    const double same = std::log(kernel.same), other = std::log(kernel.other);
    for (std::size_t i = 0; i < means.size(); ++i) log_heights[i] += means[i] == x ? same : other;
    return;
  }
  const double wide = widened(fit.deviations[axis], axes_[axis].cell(x)), top = log_normal_top(wide);
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double off = (x - means[i]) / wide;
    log_heights[i] += top - 0.5 * off * off - fit.log_masses[axis][i];
  }
}

double Parzen::log_prior(std::size_t axis, double x) const {
  if (axes_[axis].is_choice()) return 0;
  static const double log_mass = std::log(mass_inside(kPriorMean, kPriorDeviation));
  const double wide = widened(kPriorDeviation, axes_[axis].cell(x)), off = (x - kPriorMean) / wide;
  return log_normal_top(wide) - 0.5 * off * off - log_mass;
}

// The sum of the bad trials' kernels on one axis.
std::vector<double> Parzen::bad(const Fit& fit, std::size_t axis, const std::vector<Point>& points) const {
  if (axes_[axis].is_choice()) return bad_choices(fit, axis, points);
  if (size_ <= kExact) return bad_exactly(fit, axis, points);
  const double deviation = fit.bad_deviations[axis];
  auto bins = bins_[axis];
  for (const double each : fit.means[axis]) --bins[bin_of(each)];
  divide_by_mass_inside(bins, deviation);
  std::vector<double> out;
  for (const auto& point : points)
    out.push_back(binned_density(bins, point[axis], widened(deviation, axes_[axis].cell(point[axis]))));
  return out;
}

std::vector<double> Parzen::bad_choices(const Fit& fit, std::size_t axis,
                                        const std::vector<Point>& points) const {
  auto counts = bins_[axis];
  for (const double each : fit.means[axis]) --counts[static_cast<std::size_t>(each)];
  const ChoiceKernel kernel(axes_[axis].choices(), fit.bad);
  std::vector<double> out;
  for (const auto& point : points) {
    const double here = counts[static_cast<std::size_t>(point[axis])];
    out.push_back(here * kernel.same + (fit.bad - here) * kernel.other);
  }
  return out;
}

std::vector<double> Parzen::bad_exactly(const Fit& fit, std::size_t axis,
                                        const std::vector<Point>& points) const {
  const auto& column = columns_[axis];
  const double deviation = fit.bad_deviations[axis];
  std::vector<double> weights(size_), out;
  for (std::size_t i = 0; i < size_; ++i) weights[i] = 1 / mass_inside(column[i], deviation);
  for (const auto trial : fit.good) weights[trial] = 0;
  for (const auto& point : points) {
    const double wide = widened(deviation, axes_[axis].cell(point[axis]));
    double total = 0;
    for (std::size_t i = 0; i < size_; ++i)
      if (weights[i] > 0) total += weights[i] * normal_density(point[axis] - column[i], wide);
    out.push_back(total);
  }
  return out;
}

// What is added to the squared distance from a trial: less where its kernel reaches out of the space, as it
// is higher inside; good ones are left out.
std::vector<double> Parzen::joint_offsets(const Fit& fit) const {
  std::vector<double> out(columns_.front().size(), JointArgument::kNowhere);  // so is the padding
  std::fill_n(out.begin(), size_, 0.0);
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    if (axes_[a].is_choice()) continue;
    const LogMassInside log_mass(fit.bad_deviations[a]);
    for (std::size_t i = 0; i < size_; ++i) out[i] += 2 * log_mass(columns_[a][i]);
  }
  for (const auto trial : fit.good) out[trial] = JointArgument::kNowhere;
  return out;
}

std::vector<double> Parzen::log_bad_jointly(const Fit& fit, const std::vector<Point>& points) const {
  std::vector<JointArgument> arguments;
  std::vector<double> out;  // first the logarithm of a kernel's height at its top
  for (const auto& point : points) {
    auto& axes = arguments.emplace_back().axes;
    double& top = out.emplace_back(0);
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      if (axes_[a].is_choice()) {
        const ChoiceKernel kernel(axes_[a].choices(), fit.bad);
        axes.push_back({point[a], 0, 2 * std::log(kernel.same / kernel.other)});
        top += std::log(kernel.same);
      } else {
        const double wide = widened(fit.bad_deviations[a], axes_[a].cell(point[a]));
        axes.push_back({point[a], 1 / wide, 0});
        top += log_normal_top(wide);
      }
    }
  }
  add_joint_kernels(columns_, joint_offsets(fit), arguments);
  for (std::size_t i = 0; i < points.size(); ++i) out[i] += arguments[i].log_sum();
  return out;
}

}  // namespace tandem::search
