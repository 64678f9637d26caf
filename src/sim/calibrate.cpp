#include "sim/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "sim/step/step_graph.h"

namespace tandem::sim {
namespace {

// What an epoch consists of: FLOPs, and how often an operation is started.
struct Parts {
  double flops = 0, starts = 0;
};

double passes_of(const graph::Model& model) {
  double out = 0;
  for (const auto& pass : training_graph(model).passes)
    out += model.operations[pass.operation].kind != graph::Kind::input;
  return out;
}

double flops_of(const graph::Model& model) {  // a sample; of passes that run
  double out = 0;
  for (const auto& pass : training_graph(model).passes) {
    const auto& operation = model.operations[pass.operation];
    if (operation.kind == graph::Kind::input) continue;
    out += pass.backward ? operation.backward_flops : operation.forward_flops;
  }
  return out;
}

Parts parts_of(const graph::Model& model, std::int64_t samples, std::int64_t batch) {
  const std::int64_t steps = (samples + batch - 1) / batch;
  return {static_cast<double>(samples) * flops_of(model), static_cast<double>(steps) * passes_of(model)};
}

double cores_at_work(int cores, double added) {
  return 1 + (cores - 1) * added;
}

// seconds = a · x + b · y in the sense of least relative error, neither below 0.
struct FittedLine {
  double a = 0, b = 0, error = 0;
};

FittedLine fit(const std::vector<std::pair<double, double>>& points, const std::vector<double>& seconds,
               bool both) {
  double xx = 0, xy = 0, yy = 0, xs = 0, ys = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double x = points[i].first / seconds[i], y = points[i].second / seconds[i];
    xx += x * x, xy += x * y, yy += y * y, xs += x, ys += y;
  }
  FittedLine out{xs / xx, 0, 0};
  const double determinant = xx * yy - xy * xy;
  if (both && determinant > 1e-12 * xx * yy) {
    const FittedLine two{(xs * yy - ys * xy) / determinant, (ys * xx - xs * xy) / determinant, 0};
    if (two.a > 0 && two.b >= 0) out = two;
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double relative = (out.a * points[i].first + out.b * points[i].second) / seconds[i] - 1;
    out.error += relative * relative;
  }
  return out;
}

struct Fitted {
  FittedLine line{};
  double added = 1;
};

Fitted fit_all(const graph::Model& model, std::int64_t samples, const std::vector<MeasuredEpoch>& epochs,
               bool batches_vary, bool cores_vary) {
  constexpr int kSteps = 200;  // of added_core, from 1 down to 0
  std::vector<double> seconds;
  for (const auto& epoch : epochs) seconds.push_back(epoch.seconds);
  Fitted best;
  for (int i = 0; i <= (cores_vary ? kSteps : 0); ++i) {
    const double added = 1 - static_cast<double>(i) / kSteps;
    std::vector<std::pair<double, double>> points;
    for (const auto& epoch : epochs) {
      const Parts parts = parts_of(model, samples, epoch.batch);
      points.emplace_back(parts.flops / cores_at_work(epoch.cores, added), parts.starts);
    }
    const FittedLine line = fit(points, seconds, batches_vary);
    if (i == 0 || line.error < best.line.error) best = {line, added};
  }
  return best;
}

void check_epochs(const std::vector<MeasuredEpoch>& epochs, std::int64_t samples,
                  const spec::DeviceType& device) {
  if (epochs.empty()) throw UserError("nothing was measured that a machine could be calibrated on");
  if (samples < 1) throw UserError("an epoch must have samples");
  for (const auto& epoch : epochs)
    if (epoch.batch < 1 || epoch.cores < 1 || !(epoch.seconds > 0) || !std::isfinite(epoch.seconds))
      throw UserError(fmt::format("an epoch of {} s with batch {} on {} cores cannot be", epoch.seconds,
                                  epoch.batch, epoch.cores));
  if (!(device.clock > 0) || !(device.flops_a_cycle > 0)) throw UserError("the device has no speed");
}

}  // namespace

double epoch_seconds(const spec::DeviceType& device, const graph::Model& model, std::int64_t samples,
                     std::int64_t batch, int cores) {
  const Parts parts = parts_of(model, samples, batch);
  const double one = device.clock * device.flops_a_cycle * device.efficiency;
  return parts.flops / (one * cores_at_work(cores, device.added_core)) + parts.starts * device.overhead;
}

Calibration calibrate(const graph::Model& model, std::int64_t samples,
                      const std::vector<MeasuredEpoch>& epochs, spec::DeviceType device) {
  check_epochs(epochs, samples, device);
  std::set<std::int64_t> batches;
  std::set<int> cores;
  for (const auto& epoch : epochs) batches.insert(epoch.batch), cores.insert(epoch.cores);
  const Fitted found = fit_all(model, samples, epochs, batches.size() > 1, cores.size() > 1);

  Calibration out;
  out.device = std::move(device);
  out.device.efficiency = 1 / (found.line.a * out.device.clock * out.device.flops_a_cycle);
  out.device.overhead = found.line.b;
  out.device.added_core = found.added;
  if (batches.size() < 2)
    out.notes.push_back(
        fmt::format("only batch size {} was measured: what starting operations takes is not known, "
                    "so other batch sizes are guesses",
                    *batches.begin()));
  if (cores.size() < 2)
    out.notes.push_back(
        fmt::format("only {} cores were measured: what further ones add is not known", *cores.begin()));
  std::vector<double> errors;
  for (const auto& epoch : epochs)
    errors.push_back(
        std::abs(epoch_seconds(out.device, model, samples, epoch.batch, epoch.cores) / epoch.seconds - 1));
  std::sort(errors.begin(), errors.end());
  out.worst_error = errors.back();
  out.median_error = (errors[(errors.size() - 1) / 2] + errors[errors.size() / 2]) / 2;
  return out;
}

}  // namespace tandem::sim
