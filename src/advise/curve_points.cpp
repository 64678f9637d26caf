#include "advise/curve_points.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace tandem::advise {
namespace {

double positive_or_one(const Setting& setting, const char* name) {
  const auto found = setting.hyper.find(name);
  const auto number = found == setting.hyper.end() ? std::nullopt : as_number(found->second);
  return number && *number > 0 ? *number : 1;
}

// 1 to 10, then each about 15 % further on.
bool kept(std::int64_t epoch, std::int64_t last_kept) {
  return epoch <= 10 || static_cast<double>(epoch) >= 1.15 * static_cast<double>(last_kept);
}

struct Mean {
  double sum = 0;
  int count = 0;
};
using Curve = std::map<std::int64_t, Mean>;  // by epoch

void add_curve(const Curve& curve, double batch, double learning_rate, std::size_t run,
               std::vector<CurvePoint>& out) {
  std::int64_t last_kept = 0;
  for (const auto& [epoch, mean] : curve) {
    if (!kept(epoch, last_kept) && epoch != curve.rbegin()->first) continue;
    last_kept = epoch;
    out.push_back({batch, learning_rate, static_cast<double>(epoch), mean.sum / mean.count, run});
  }
}

// What a curve does not know of: runs that differ in it are curves of their own, so that it counts as error.
Values without_axes(Values hyper) {
  std::erase_if(hyper, [](const auto& one) { return one.first == "batch_size" || one.first == "learning_rate"; });
  return hyper;
}

}  // namespace

std::vector<ToldMetric> every_metric(const PastRun& run, const std::string& metric) {
  std::vector<ToldMetric> out;
  for (const auto& told : run.metrics)
    if (const auto found = told.values.find(metric);
        found != told.values.end() && std::isfinite(found->second) && told.epoch >= 1)
      out.push_back({told.epoch, found->second});
  return out;
}

std::optional<ToldMetric> last_metric(const PastRun& run, const std::string& metric) {
  const auto all = every_metric(run, metric);
  const auto last =
      std::max_element(all.begin(), all.end(), [](auto& a, auto& b) { return a.epoch < b.epoch; });
  return last == all.end() ? std::nullopt : std::optional(*last);
}

double curve_batch(const Setting& setting) {
  return positive_or_one(setting, "batch_size");
}

double curve_learning_rate(const Setting& setting) {
  return positive_or_one(setting, "learning_rate");
}

std::vector<CurvePoint> curve_points(std::span<const PastRun* const> runs, const std::string& metric) {
  std::map<std::tuple<double, double, Values>, Curve> curves;
  for (const auto* run : runs)
    for (const auto& told : every_metric(*run, metric)) {
      auto& mean = curves[{curve_batch(run->setting), curve_learning_rate(run->setting),
                           without_axes(run->setting.hyper)}][told.epoch];
      mean.sum += told.value;
      ++mean.count;
    }
  std::size_t total = 0, number = 0;
  for (const auto& [setting, curve] : curves) total += std::min<std::size_t>(curve.size(), 40);
  const std::size_t stride = std::max<std::size_t>(1, (total + kMostPoints - 1) / kMostPoints);
  std::vector<CurvePoint> out;
  for (const auto& [setting, curve] : curves)
    if (number++ % stride == 0) add_curve(curve, std::get<0>(setting), std::get<1>(setting), number, out);
  return out;
}

}  // namespace tandem::advise
