// A number that is not known yet: its middle, and how far off such forecasts were before.
//
// Errors are those of predictions of runs that the model had not seen (out of fold), divided by how large
// errors usually are at such a setting; their ranks give intervals and probabilities that hold for any model
// (split conformal; a probability counts n + 1, so it never promises more than n errors can). Relative
// errors are log(actual / predicted), absolute ones actual - predicted. Below kFewErrors there is no rank to
// trust: Student's t with a wide prior takes over, and `wide` says so. Values; pure.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tandem::advise {

inline constexpr std::size_t kFewErrors = 40;
// What errors are taken to be where nothing was seen: a deviation of this (relative: a factor of 1.6), which
// counts as much as kPriorErrors errors.
inline constexpr double kPriorDeviation = 0.5;
inline constexpr double kPriorErrors = 2;
inline constexpr double kPriorShare = 0.1;  // of absolute errors: this share of what is predicted

inline constexpr double kNoBound = std::numeric_limits<double>::infinity();

enum class ErrorKind { relative, absolute };

// How errors are spread around 0, in units of their usual size.
class ErrorLaw {
 public:
  ErrorLaw() = default;
  // `prior`: the deviation assumed where there are few errors.
  ErrorLaw(std::vector<double> errors, double prior);

  double below(double error) const;           // the probability that an error is at most this
  double quantile(double probability) const;  // infinite where so few errors cannot say
  bool few() const { return errors_.size() < kFewErrors; }
  std::size_t size() const { return errors_.size(); }

  nlohmann::json written() const;
  static ErrorLaw read(const nlohmann::json&);

 private:
  std::vector<double> errors_;  // sorted
  double prior_ = kPriorDeviation, deviation_ = kPriorDeviation, freedom_ = kPriorErrors;
};

struct Interval {
  double low = 0, high = 0;
};

struct Forecast {
  double middle = 0;
  ErrorKind kind = ErrorKind::relative;
  double usual_error = 1;  // the law's unit here
  std::shared_ptr<const ErrorLaw> law;
  double more = 0;                            // what is certain and comes on top (start-up seconds)
  double least = -kNoBound, most = kNoBound;  // what can be: a share stays between 0 and 1
  // It is at most so many times another number: joules are no more than a machine's power times the seconds.
  std::shared_ptr<const Forecast> ceiling{};
  double per_unit = 1;
  bool wide = false;                          // few runs, or outside of what was measured
  std::string said_by;                        // the model: "physical", "learning curve"

  double value() const;
  double below(double value) const;  // the probability that it will be at most this
  double quantile(double probability) const;
  Interval interval(double level) const;  // of both sides the same: 0.9 leaves 5 % on each
};

}  // namespace tandem::advise
