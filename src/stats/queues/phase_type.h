// Phase-type times: how long a Markov chain takes to pass through its phases to the end.
//
// Each phase lasts an exponential time and then jumps to a later phase, or ends the whole. Only later phases:
// chains without loops are enough for bags of tasks, and make every question below one sweep over the phases.
// The class is closed under adding up (one after the other) and mixing, and dense: any positive time can be
// approached. Values are immutable. Pure.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace tandem::stats {

using Complex = std::complex<double>;

class PhaseType {
 public:
  struct Jump {
    std::size_t to = 0;      // a later phase
    double probability = 1;  // what the jumps of a phase leave of 1 ends the time
  };
  struct Phase {
    double rate = 1;  // 1 / the mean time in the phase
    std::vector<Jump> jumps{};
  };

  // `start`: with which probability the time begins in each phase; what is missing to 1 is a time of 0.
  // UserError where that is no chain (rates that are not above 0, jumps back, probabilities beyond 1).
  PhaseType(std::vector<double> start, const std::vector<Phase>& phases);

  static PhaseType zero();  // takes no time
  static PhaseType exponential(double mean);
  static PhaseType erlang(int phases, double mean);
  static PhaseType chain(std::span<const double> rates);  // one phase after the other
  // With this mean and squared coefficient of variation at most 1: a mix of two Erlang chains that differ by
  // a phase (Tijms). Variation below 1 / most_phases cannot be reached and becomes that.
  static PhaseType fitted(double mean, double squared_variation, int most_phases = 256);

  std::size_t size() const { return rate_.size(); }
  const std::vector<double>& start() const { return start_; }
  double mean() const { return moment(1); }
  double squared_variation() const;  // variance / mean²
  double moment(int order) const;    // 1 or 2
  double cdf(double time) const;     // by uniformization, to 1e-12
  double quantile(double probability) const;
  // The time cut into `count` slices, finer towards its tail: for averages over it of what has no transform.
  struct Slice {
    double time = 0, probability = 0;
  };
  std::vector<Slice> slices(int count) const;
  // Where the chain is after this time; what is missing to 1 has ended.
  std::vector<double> after(double time) const;
  // E[exp(-s T)].
  Complex transform(Complex s) const;

  // The same from another start, for what is left of a time; where the start's sum is below 1, only of those
  // that are still under way (E[exp(-s T); under way], E[T^n; under way]).
  Complex transform_from(std::span<const double> start, Complex s) const;
  double moment_from(std::span<const double> start, int order) const;

  PhaseType faster(double by) const;            // everything takes 1 / by of the time
  PhaseType then(const PhaseType& next) const;  // one after the other
  static PhaseType mixture(std::span<const double> weights, std::span<const PhaseType> parts);

 private:
  // Uniformization: the chain seen at the jumps of a clock, which are Poisson.
  struct Endings {
    double rate = 1;              // of the clock
    std::vector<double> by_jump;  // the probability of having ended by each jump, until it is nearly 1

    double cdf(double time) const;
    double quantile(double probability) const;
  };

  PhaseType() = default;
  Endings endings() const;
  void step(std::vector<double>& now, double uniform_rate) const;
  std::vector<Phase> phases() const;

  std::vector<double> start_, rate_, end_;  // end: the probability that a phase is the last
  std::vector<std::size_t> first_jump_;     // of each phase, and one past the last
  std::vector<Jump> jumps_;
};

}  // namespace tandem::stats
