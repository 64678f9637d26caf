#include "bench/slo/curves.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "advise/learning_curve.h"

namespace tandem::bench {
namespace {

const std::vector<std::pair<std::string, std::vector<int>>> kApplications = {
    {"cifar10", {128, 256, 512, 1024, 2048, 4096}},
    {"deepspeech2", {20, 40, 80, 160, 320, 640}},
    {"imagenet", {200, 400, 800, 1600, 3200, 6400, 12800}},
};

// Metric by row; rows are equally far apart in progress, so a row is an epoch.
std::vector<double> read_curve(const std::string& path) {
  std::ifstream in(path);
  std::vector<double> out;
  std::string line, field;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    for (int i = 0; i < 3; ++i) std::getline(fields, field, ',');
    out.push_back(std::stod(field));
  }
  return out;
}

using Curves = std::map<int, std::vector<double>>;  // by batch size

Curves read_curves(const std::string& folder, const std::vector<int>& batches) {
  Curves out;
  for (const int batch : batches)
    if (auto curve = read_curve(fmt::format("{}/validation-{}.csv", folder, batch)); !curve.empty())
      out[batch] = std::move(curve);
  return out;
}

std::vector<advise::CurvePoint> points_without(const Curves& curves, int left_out) {
  std::vector<advise::CurvePoint> out;
  for (const auto& [batch, curve] : curves)
    for (std::size_t i = 0; i < curve.size() && batch != left_out; ++i)
      out.push_back({static_cast<double>(batch), 1, static_cast<double>(i + 1), curve[i],
                     static_cast<std::size_t>(batch)});
  return out;
}

int nearest_batch(const Curves& curves, int batch) {
  int out = 0;
  for (const auto& [other, curve] : curves)
    if (other != batch &&
        (out == 0 || std::abs(std::log(1.0 * other / batch)) < std::abs(std::log(1.0 * out / batch))))
      out = other;
  return out;
}

struct Score {
  double all = 0, end = 0, nearest = 0, nearest_end = 0;  // sums of |error|
  int points = 0, runs = 0, inside = 0;
  std::map<std::string, int> shapes;
};

Score score(const Curves& curves) {
  Score out;
  for (const auto& [batch, truth] : curves) {
    const auto curve = advise::LearningCurve::fit(points_without(curves, batch));
    const auto& beside = curves.at(nearest_batch(curves, batch));
    ++out.shapes[curve->forecast(batch, 1, 1).said_by];
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const auto forecast = curve->forecast(batch, 1, static_cast<double>(i + 1));
      const auto [low, high] = forecast.interval(0.9);
      const double error = std::abs(forecast.value() - truth[i]), other = std::abs(beside.at(i) - truth[i]);
      out.all += error;
      out.nearest += other;
      out.inside += truth[i] >= low && truth[i] <= high;
      ++out.points;
      if (i + 1 == truth.size()) out.end += error, out.nearest_end += other, ++out.runs;
    }
  }
  return out;
}

std::string digits(double value) {
  return fmt::format("{:.3g}", value);
}

}  // namespace

Section curves_section(const std::string& data) {
  Section out;
  out.title = "Learning curves, each batch size left out";
  Table table{
      "mean of |error|, in units of the metric",
      {"application", "ours", "ours at the end", "nearest batch", "at the end", "inside 90 %", "shape"},
      {}};
  int inside = 0, points = 0;
  for (const auto& [name, batches] : kApplications) {
    const auto curves = read_curves(data + "/sia/" + name, batches);
    if (curves.size() < 3) continue;
    const auto s = score(curves);
    inside += s.inside;
    points += s.points;
    const auto most = std::max_element(s.shapes.begin(), s.shapes.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    table.rows.push_back({name, digits(s.all / s.points), digits(s.end / s.runs),
                          digits(s.nearest / s.points), digits(s.nearest_end / s.runs),
                          percent(static_cast<double>(s.inside) / s.points), most->first});
  }
  out.show(table);
  out.summary = points == 0 ? "no curves here"
                            : fmt::format("{} of {} points inside their 90 % interval",
                                          percent(static_cast<double>(inside) / points), points);
  out.verdict = points == 0 ? Verdict::absent : Verdict::not_judged;
  return out;
}

}  // namespace tandem::bench
