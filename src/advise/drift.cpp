#include "advise/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace tandem::advise {
namespace {

constexpr double kSmallestError = 0.01;  // nothing is predicted better than to 1 %: no alarm about less

std::string changed(const Fingerprint& learnt, const Fingerprint& now) {
  std::vector<std::string> out;
  for (const auto& [name, value] : learnt) {
    const auto found = now.find(name);
    if (found == now.end())
      out.push_back(fmt::format("{} was {}, and is not known now", name, value));
    else if (found->second != value)
      out.push_back(fmt::format("{} was {}, is {}", name, value, found->second));
  }
  for (const auto& [name, value] : now)
    if (!learnt.contains(name)) out.push_back(fmt::format("{} is {}, and was not known", name, value));
  return join(out, "; ");
}

}  // namespace

Drift::Drift(double usual_error, std::size_t runs, Fingerprint machine)
    : usual_error_(std::max(usual_error, kSmallestError)), trained_on_(runs), machine_(std::move(machine)) {
  if (!std::isfinite(usual_error))
    throw UserError("the usual error of a model is not a number: train it anew");
}

void Drift::add(const FinishedPrediction& run) {
  const double ratio = run.actual / run.predicted;
  if (!(run.actual.value > 0) || !(run.predicted.value > 0) || !std::isfinite(ratio))
    throw UserError(fmt::format("run {} took {} s and was predicted to take {} s: no error follows from that",
                                run.run, run.actual.value, run.predicted.value));
  const double error = std::log(ratio), units = std::clamp(error / usual_error_, -kLargest, kLargest);
  ++count_;
  sum_ += error;
  absolute_ += std::abs(ratio - 1);
  slower_ = std::max(0.0, slower_ + units - kAllowance);
  faster_ = std::max(0.0, faster_ - units - kAllowance);
  since_slower_ = slower_ > 0 ? since_slower_ + 1 : 0;
  since_faster_ = faster_ > 0 ? since_faster_ + 1 : 0;
}

double Drift::mean_error() const {
  return count_ ? std::expm1(sum_ / static_cast<double>(count_)) : 0;
}

double Drift::mean_absolute_error() const {
  return count_ ? absolute_ / static_cast<double>(count_) : 0;
}

DriftVerdict Drift::verdict(const Fingerprint& machine_now) const {
  DriftVerdict out;
  const auto drifted = [&](double sum, std::size_t runs, const char* how) {
    if (sum > kThreshold)
      out.reasons.push_back(
          fmt::format("the last {} runs took {} than predicted by more than chance explains (CUSUM {:.1f}, "
                      "threshold {:.0f}; usual error {:.1f} %)",
                      runs, how, sum, kThreshold, 100 * usual_error_));
  };
  drifted(slower_, since_slower_, "longer");
  drifted(faster_, since_faster_, "less time");
  if (const auto what = changed(machine_, machine_now); !what.empty())
    out.reasons.push_back("the machine changed: " + what);
  if (count_ > 0 && static_cast<double>(trained_on_ + count_) >= kGrowth * static_cast<double>(trained_on_))
    out.reasons.push_back(fmt::format("{} runs finished since it learnt from {}", count_, trained_on_));
  out.retrain = !out.reasons.empty();
  return out;
}

nlohmann::json Drift::written() const {
  return {{"usual_error", usual_error_},
          {"slower", slower_},
          {"faster", faster_},
          {"sum", sum_},
          {"absolute", absolute_},
          {"trained_on", trained_on_},
          {"count", count_},
          {"since_slower", since_slower_},
          {"since_faster", since_faster_},
          {"machine", machine_}};
}

Drift Drift::read(const nlohmann::json& written) {
  Drift out(written.at("usual_error").get<double>(), written.at("trained_on").get<std::size_t>(),
            written.at("machine").get<Fingerprint>());
  written.at("slower").get_to(out.slower_);
  written.at("faster").get_to(out.faster_);
  written.at("sum").get_to(out.sum_);
  written.at("absolute").get_to(out.absolute_);
  written.at("count").get_to(out.count_);
  written.at("since_slower").get_to(out.since_slower_);
  written.at("since_faster").get_to(out.since_faster_);
  return out;
}

}  // namespace tandem::advise
