#include "stats/queues/phase_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace tandem::stats {
namespace {

constexpr double kRounding = 1e-9;         // sums of probabilities may miss 1 by this
constexpr double kTail = 1e-13;            // Poisson weights left out
constexpr std::size_t kUsualPhases = 256;  // what fitted() makes at most unless asked for more

// 1 / z without the standard library's care for infinities, which costs more than the division.
Complex inverse(Complex z) {
  const double square = z.real() * z.real() + z.imag() * z.imag();
  return {z.real() / square, -z.imag() / square};
}
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

void check_phase(const PhaseType::Phase& phase, std::size_t at, std::size_t count) {
  if (!(phase.rate > 0) || !std::isfinite(phase.rate))
    throw UserError(fmt::format("phase {} has the rate {}: it must be above 0", at, phase.rate));
  double sum = 0;
  for (const auto& jump : phase.jumps) {
    if (jump.to <= at || jump.to >= count)
      throw UserError(fmt::format("phase {} jumps to {}: only later phases (below {})", at, jump.to, count));
    if (!(jump.probability >= 0))
      throw UserError(fmt::format("phase {} jumps with probability {}", at, jump.probability));
    sum += jump.probability;
  }
  if (sum > 1 + kRounding) throw UserError(fmt::format("the jumps of phase {} sum up to {}", at, sum));
}

}  // namespace

PhaseType::PhaseType(std::vector<double> start, const std::vector<Phase>& phases) : start_(std::move(start)) {
  if (start_.size() != phases.size())
    throw UserError(fmt::format("{} starts for {} phases: one each", start_.size(), phases.size()));
  double sum = 0;
  for (const double p : start_) {
    if (!(p >= 0)) throw UserError(fmt::format("a start has the probability {}", p));
    sum += p;
  }
  if (sum > 1 + kRounding) throw UserError(fmt::format("the starts sum up to {}, beyond 1", sum));
  for (std::size_t i = 0; i < phases.size(); ++i) {
    check_phase(phases[i], i, phases.size());
    first_jump_.push_back(jumps_.size());
    rate_.push_back(phases[i].rate);
    double leaves = 0;
    for (const auto& jump : phases[i].jumps) {
      jumps_.push_back(jump);
      leaves += jump.probability;
    }
    end_.push_back(std::max(0.0, 1 - leaves));
  }
  first_jump_.push_back(jumps_.size());
}

PhaseType PhaseType::zero() {
  return PhaseType({}, {});
}

PhaseType PhaseType::exponential(double mean) {
  return PhaseType({1}, {{1 / mean, {}}});
}

PhaseType PhaseType::erlang(int phases, double mean) {
  return chain(std::vector<double>(static_cast<std::size_t>(phases), phases / mean));
}

PhaseType PhaseType::chain(std::span<const double> rates) {
  std::vector<double> start(rates.size(), 0.0);
  std::vector<Phase> phases;
  if (!start.empty()) start[0] = 1;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    phases.push_back({rates[i], {}});
    if (i + 1 < rates.size()) phases.back().jumps.push_back({i + 1, 1});
  }
  return PhaseType(std::move(start), phases);
}

PhaseType PhaseType::fitted(double mean, double squared_variation, int most_phases) {
  if (!(mean > 0) || squared_variation > 1 + kRounding)
    throw UserError(
        fmt::format("no Erlang mix has the mean {} and the squared variation {}", mean, squared_variation));
  const double c = std::clamp(squared_variation, 1.0 / most_phases, 1.0);
  const int k = std::max(2, static_cast<int>(std::ceil(1 / c - kRounding)));
  const double p = std::max(0.0, (k * c - std::sqrt(k * (1 + c) - k * k * c)) / (1 + c));
  const double rate = (k - p) / mean;
  PhaseType out = chain(std::vector<double>(static_cast<std::size_t>(k), rate));
  out.start_[0] = 1 - p;  // with probability p it skips the first phase
  out.start_[1] = p;
  return out;
}

double PhaseType::squared_variation() const {
  const double first = moment(1);
  return moment(2) / (first * first) - 1;
}

double PhaseType::moment(int order) const {
  return moment_from(start_, order);
}

double PhaseType::moment_from(std::span<const double> start, int order) const {
  assert(start.size() == size() && (order == 1 || order == 2));
  std::vector<double> one(size()), two(size());
  double out = 0;
  for (std::size_t i = size(); i-- > 0;) {
    one[i] = 1 / rate_[i];
    two[i] = 0;
    for (std::size_t j = first_jump_[i]; j < first_jump_[i + 1]; ++j) {
      one[i] += jumps_[j].probability * one[jumps_[j].to];
      two[i] += jumps_[j].probability * two[jumps_[j].to];
    }
    two[i] += 2 / rate_[i] * one[i];
    out += start[i] * (order == 1 ? one[i] : two[i]);
  }
  return out;
}

Complex PhaseType::transform(Complex s) const {
  const double at_once = 1 - std::accumulate(start_.begin(), start_.end(), 0.0);
  return transform_from(start_, s) + std::max(0.0, at_once);
}

Complex PhaseType::transform_from(std::span<const double> start, Complex s) const {
  assert(start.size() == size());
  // Real and imaginary parts by turns, not initialised: called millions of times, so no allocation for usual
  // sizes.
  std::array<double, 2 * kUsualPhases> usual;
  std::vector<double> more(size() > kUsualPhases ? 2 * size() : 0);
  double* const from = more.empty() ? usual.data() : more.data();
  Complex out = 0;
  for (std::size_t i = size(); i-- > 0;) {
    Complex rest = end_[i];
    for (std::size_t j = first_jump_[i]; j < first_jump_[i + 1]; ++j)
      rest += jumps_[j].probability * Complex(from[2 * jumps_[j].to], from[2 * jumps_[j].to + 1]);
    const Complex here = times(rate_[i] * inverse(rate_[i] + s), rest);
    from[2 * i] = here.real();
    from[2 * i + 1] = here.imag();
    out += start[i] * here;
  }
  return out;
}

// One jump of the chain that jumps at the uniform rate, and stays where it is when it jumps too often. Later
// phases first, so that it can be done in place.
void PhaseType::step(std::vector<double>& now, double uniform_rate) const {
  for (std::size_t i = size(); i-- > 0;) {
    const double leaves = now[i] * rate_[i] / uniform_rate;
    now[i] -= leaves;
    for (std::size_t j = first_jump_[i]; j < first_jump_[i + 1]; ++j)
      now[jumps_[j].to] += leaves * jumps_[j].probability;
  }
}

std::vector<double> PhaseType::after(double time) const {
  if (size() == 0 || time <= 0) return start_;
  const double rate = *std::max_element(rate_.begin(), rate_.end());
  const double expected = rate * time;
  std::vector<double> now = start_, out(size(), 0.0);
  double counted = 0;
  for (int n = 0; counted < 1 - kTail; ++n) {
    const double weight = std::exp(n * std::log(expected) - expected - std::lgamma(n + 1.0));
    counted += weight;
    if (weight > 0)
      for (std::size_t i = 0; i < size(); ++i) out[i] += weight * now[i];
    if (n > expected && weight < 1e-18) break;  // rounding keeps the sum below 1
    step(now, rate);
  }
  return out;
}

PhaseType::Endings PhaseType::endings() const {
  Endings out{size() ? *std::max_element(rate_.begin(), rate_.end()) : 1, {}};
  auto now = start_;
  double ended = 0;
  while (out.by_jump.empty() || ended < 1 - kTail) {
    const double under_way = std::accumulate(now.begin(), now.end(), 0.0);
    ended = std::max(ended, 1 - under_way);
    out.by_jump.push_back(ended);
    if (size()) step(now, out.rate);
  }
  return out;
}

double PhaseType::Endings::cdf(double time) const {
  if (time < 0) return 0;
  if (time == 0) return by_jump[0];
  const double expected = rate * time;
  const auto ended = [&](double jumps) {
    return jumps < static_cast<double>(by_jump.size()) ? by_jump[static_cast<std::size_t>(jumps)] : 1.0;
  };
  // Poisson weights from the likeliest number of jumps outwards.
  const double middle = std::floor(expected);
  const double most = std::exp(middle * std::log(expected) - expected - std::lgamma(middle + 1));
  double out = most * ended(middle), all = most;
  double weight = most;
  for (double n = middle; n >= 1 && weight > 1e-18; --n) {
    weight *= n / expected;
    out += weight * ended(n - 1), all += weight;
  }
  weight = most;
  for (double n = middle + 1; weight > 1e-18; ++n) {
    weight *= expected / n;
    out += weight * ended(n), all += weight;
  }
  return std::clamp(out / all, 0.0, 1.0);
}

double PhaseType::Endings::quantile(double probability) const {
  assert(probability >= 0 && probability < 1);
  if (cdf(0) >= probability) return 0;
  double low = 0, high = 1 / rate;
  while (cdf(high) < probability) low = high, high *= 2;
  while (high - low > 1e-9 * high) {
    const double middle = (low + high) / 2;
    (cdf(middle) < probability ? low : high) = middle;
  }
  return high;
}

double PhaseType::cdf(double time) const {
  return endings().cdf(time);
}

double PhaseType::quantile(double probability) const {
  return endings().quantile(probability);
}

std::vector<PhaseType::Slice> PhaseType::slices(int count) const {
  const Endings all = endings();
  const auto tail_from = [count](double at) { return std::pow(1 - at / count, 3); };
  std::vector<Slice> out;
  for (int i = 0; i < count; ++i)
    out.push_back({all.quantile(1 - tail_from(i + 0.5)), tail_from(i) - tail_from(i + 1)});
  return out;
}

std::vector<PhaseType::Phase> PhaseType::phases() const {
  std::vector<Phase> out;
  for (std::size_t i = 0; i < size(); ++i)
    out.push_back({rate_[i],
                   {jumps_.begin() + static_cast<std::ptrdiff_t>(first_jump_[i]),
                    jumps_.begin() + static_cast<std::ptrdiff_t>(first_jump_[i + 1])}});
  return out;
}

PhaseType PhaseType::faster(double by) const {
  PhaseType out = *this;
  for (double& rate : out.rate_) rate *= by;
  return out;
}

PhaseType PhaseType::then(const PhaseType& next) const {
  auto joined = phases();
  const std::size_t count = joined.size();
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < next.size() && end_[i] > 0; ++j)
      if (next.start_[j] > 0) joined[i].jumps.push_back({count + j, end_[i] * next.start_[j]});
  const double at_once = std::max(0.0, 1 - std::accumulate(start_.begin(), start_.end(), 0.0));
  auto start = start_;
  for (std::size_t j = 0; j < next.size(); ++j) start.push_back(at_once * next.start_[j]);
  for (auto phase : next.phases()) {
    for (auto& jump : phase.jumps) jump.to += count;
    joined.push_back(std::move(phase));
  }
  return PhaseType(std::move(start), joined);
}

PhaseType PhaseType::mixture(std::span<const double> weights, std::span<const PhaseType> parts) {
  assert(weights.size() == parts.size());
  std::vector<double> start;
  std::vector<Phase> joined;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::size_t offset = joined.size();
    for (const double from : parts[p].start_) start.push_back(weights[p] * from);
    for (auto phase : parts[p].phases()) {
      for (auto& jump : phase.jumps) jump.to += offset;
      joined.push_back(std::move(phase));
    }
  }
  return PhaseType(std::move(start), joined);
}

}  // namespace tandem::stats
