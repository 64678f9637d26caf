#include "stats/queues/marked_model.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace tandem::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Matrix2 operator+(const Matrix2& x, const Matrix2& y) {
  return {x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d};
}
Matrix2 operator*(Complex by, const Matrix2& x) {
  return {by * x.a, by * x.b, by * x.c, by * x.d};
}
Matrix2 operator*(const Matrix2& x, const Matrix2& y) {
  return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
}
Row2 operator*(const Row2& v, const Matrix2& x) {
  return {v[0] * x.a + v[1] * x.c, v[0] * x.b + v[1] * x.d};
}
Row2 operator+(const Row2& v, const Row2& w) {
  return {v[0] + w[0], v[1] + w[1]};
}
Row2 operator*(Complex by, const Row2& v) {
  return {by * v[0], by * v[1]};
}
Complex row_sum(const Row2& v) {
  return v[0] + v[1];
}
Complex determinant(const Matrix2& x) {
  return x.a * x.d - x.b * x.c;
}
Row2 solve_row(const Row2& right, const Matrix2& x) {  // v x = right
  const Complex det = determinant(x);
  return {(right[0] * x.d - right[1] * x.c) / det, (right[1] * x.a - right[0] * x.b) / det};
}

const Matrix2 kOne{1, 0, 0, 1};

// The roots of det(x - e): both eigenvalues, held apart so that what follows may divide by their difference.
std::array<Complex, 2> eigenvalues(const Matrix2& x) {
  const Complex half = (x.a + x.d) / 2.0, root = std::sqrt(half * half - determinant(x));
  std::array<Complex, 2> out{half + root, half - root};
  if (std::abs(root) < 1e-9 * std::abs(half)) out[1] = out[0] * (1 + 1e-7);
  return out;
}

// The matrix that is 1 on the first eigenvalue's direction and 0 on the second's.
Matrix2 projector(const Matrix2& x, Complex own, Complex other) {
  return 1.0 / (own - other) * (x + (-other) * kOne);
}

Matrix2 rates_matrix(const Rates& rates) {
  if (rates.size() == 1) return {rates[0][0], 0, 0, rates[0][0]};  // one phase: two that are alike
  return {rates[0][0], rates[0][1], rates[1][0], rates[1][1]};
}

double matrix_distance(const Matrix2& x, const Matrix2& y) {
  return std::abs(x.a - y.a) + std::abs(x.b - y.b) + std::abs(x.c - y.c) + std::abs(x.d - y.d);
}

}  // namespace

MarkedModel::MarkedModel(const MarkedArrivals& arrivals, std::vector<ServiceTime> services,
                         Discipline discipline)
    : services_(std::move(services)), discipline_(discipline) {
  check(arrivals, "the arrivals");
  if (arrivals.phases() > 2)
    throw UserError(fmt::format("arrivals of {} phases have no model here, only one or two: simulate them",
                                arrivals.phases()));
  if (discipline == Discipline::preemptive_restart)
    throw UserError("restarting has a model for Poisson arrivals only: use PriorityModel, or simulate");
  if (arrivals.classes() != services_.size())
    throw UserError(fmt::format("{} classes arrive, {} are served", arrivals.classes(), services_.size()));
  rates_ = mean_rates(arrivals);
  quiet_ = arrivals.phases() == 1 ? Matrix2{0, 1, 1, 0} : rates_matrix(arrivals.hidden);
  quiet_.a = quiet_.d = 0;
  Matrix2 leaves = quiet_;
  for (const auto& rates : arrivals.marked)
    marked_.push_back(rates_matrix(rates)), leaves = leaves + marked_.back();
  quiet_.a = -leaves.a - leaves.b, quiet_.d = -leaves.c - leaves.d;
  for (std::size_t k = 0; k < services_.size(); ++k)
    load_to_.push_back(load_ += rates_[k] * services_[k].mean);
  for (std::size_t k = 0; k < services_.size(); ++k) {
    idle_.push_back(load_to_[k] < 1 ? idle_shares(k + 1) : Row2{});
    below_.push_back({});
  }
  for (std::size_t k = 0; k < services_.size(); ++k)
    if (discipline == Discipline::non_preemptive && load_ < 1) below_[k] = below(k);
}

bool MarkedModel::settles(std::size_t which) const {
  return (discipline_ == Discipline::non_preemptive ? load_ : load_to_[which]) < 1;
}

double MarkedModel::mean_response(std::size_t which) const {
  if (!settles(which)) return kInfinity;
  return mean_of([&](Complex s) { return response_transform(which, s); }, services_[which].mean);
}

double MarkedModel::percentile(std::size_t which, double p) const {
  if (!settles(which)) return kInfinity;
  return quantile_of([&](Complex s) { return response_transform(which, s); }, p, mean_response(which));
}

// Q with exp(x Q): the time to work x off while the first `above` classes keep arriving, by phase.
Matrix2 MarkedModel::passage(std::size_t above, Complex s) const {
  Matrix2 steady = quiet_ + (-s) * kOne;
  for (std::size_t k = above; k < marked_.size(); ++k) steady = steady + marked_[k];
  Matrix2 now = steady;
  for (int round = 0; round < 20000 && above > 0; ++round) {
    const auto [one, two] = eigenvalues(now);
    const Matrix2 first = projector(now, one, two), second = projector(now, two, one);
    Matrix2 next = steady;
    for (std::size_t k = 0; k < above; ++k) {
      const auto& transform = services_[k].transform;
      next = next + marked_[k] * (transform(-one) * first + transform(-two) * second);
    }
    const double moved = matrix_distance(next, now);
    now = next;
    if (moved <= 1e-13 * matrix_distance(now, {})) break;
  }
  return now;
}

// The work of the first `with` classes, in transforms: (work's transform) · this = what flows in at its edge.
Matrix2 MarkedModel::balance(std::size_t with, Complex s) const {
  Matrix2 out = quiet_ + s * kOne;
  for (std::size_t k = 0; k < marked_.size(); ++k)
    out = out + (k < with ? services_[k].transform(s) : Complex(1)) * marked_[k];
  return out;
}

Row2 MarkedModel::idle_shares(std::size_t with) const {
  const Matrix2 q = passage(with, 0);  // a generator: the phase as work goes by
  const double there = q.b.real(), back = q.c.real();
  const double free = 1 - load_to_[with - 1];
  return {free * back / (there + back), free * there / (there + back)};
}

// Where the balance has no inverse, right of 0: its determinant is below 0 from 0 to there and above 0
// beyond.
double MarkedModel::singular_point(std::size_t with) const {
  const auto below_it = [&](double s) { return determinant(balance(with, s)).real() <= 0; };
  double low = 1;
  while (!below_it(low) && low > 1e-14) low /= 2;
  double high = 2 * low;
  while (below_it(high)) low = high, high *= 2;
  for (double middle = (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2)
    (below_it(middle) ? low : high) = middle;
  return high;
}

// How often lower jobs start, by phase: as often as they must on the whole, and such that the work's
// transform has no pole on the right, where the balance is singular.
MarkedModel::Below MarkedModel::below(std::size_t which) const {
  Below out;
  out.idle = idle_.back();
  out.idles = -1.0 * (out.idle * quiet_);
  out.hits = out.idles;
  double starts = 0;
  for (std::size_t l = which + 1; l < services_.size(); ++l) {
    out.mix.push_back(rates_[l] - row_sum(out.idle * marked_[l]).real());
    starts += out.mix.back();
  }
  if (out.mix.empty() || !(starts > 0)) return out;
  for (double& share : out.mix) share /= starts;
  const double pole = singular_point(which + 1);
  const Matrix2 singular = balance(which + 1, pole);
  // A direction it sends to 0, from its larger row.
  const bool upper =
      std::abs(singular.a) + std::abs(singular.b) > std::abs(singular.c) + std::abs(singular.d);
  const double r0 = (upper ? -singular.b : -singular.d).real(), r1 = (upper ? singular.a : singular.c).real();
  Complex through = 0;
  for (std::size_t l = which + 1; l < services_.size(); ++l)
    through += out.mix[l - which - 1] * services_[l].transform(pole);
  Row2 known = through * out.idles;
  for (std::size_t k = 0; k < services_.size(); ++k)
    known = known + (-services_[k].transform(pole)) * (out.idle * marked_[k]);
  // hits · r (1 - through) = -known · r and hits · 1 = starts + idles · 1.
  const double along = -(known[0] * r0 + known[1] * r1).real() / (1 - through.real());
  const double all = starts + row_sum(out.idles).real();
  out.hits = {(along - all * r1) / (r0 - r1), (all * r0 - along) / (r0 - r1)};
  return out;
}

Complex MarkedModel::mixed_below(std::size_t which, Complex s) const {
  Complex out = 0;
  for (std::size_t i = 0; i < below_[which].mix.size(); ++i)
    out += below_[which].mix[i] * services_[which + 1 + i].transform(s);
  return out;
}

Row2 MarkedModel::work_non_preemptive(std::size_t which, Complex s) const {
  const Below& b = below_[which];
  const Complex through = mixed_below(which, s);
  Row2 inflow = (1.0 - through) * b.hits + through * b.idles;
  for (std::size_t k = 0; k < services_.size(); ++k)
    inflow = inflow + (-services_[k].transform(s)) * (b.idle * marked_[k]);
  return solve_row(inflow, balance(which + 1, s));
}

Row2 MarkedModel::work_resume(std::size_t which, Complex s) const {
  return solve_row(s * idle_[which], balance(which + 1, s));
}

Complex MarkedModel::response_transform(std::size_t which, Complex s) const {
  const bool stays = discipline_ == Discipline::non_preemptive;
  const auto& service = services_[which].transform;
  const Matrix2 q = passage(which, s);
  const auto values = eigenvalues(q);
  Complex out = 0;
  for (int i = 0; i < 2; ++i) {
    const Complex own = values[static_cast<std::size_t>(i)], other = values[static_cast<std::size_t>(1 - i)];
    const Row2 work = stays ? work_non_preemptive(which, -own) : work_resume(which, -own);
    const Complex part = row_sum(work * (marked_[which] * projector(q, own, other)));
    out += stays ? part : part * service(-own);
  }
  if (stays) out = (out + row_sum(below_[which].idle * marked_[which])) * service(s);
  return out / rates_[which];
}

}  // namespace tandem::stats
