#include "bench/sim_validation/sia_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "sim/strategy.h"

namespace tandem::bench {
namespace {

constexpr double kForward = 1.0 / 3;
constexpr double kSharp = 3;       // of net and bus: almost the slower of both
constexpr double kQuantile = 0.4;  // what a fit aims at: stalls only ever add time
constexpr double kStalled = 1.25, kOftenStalled = 0.25;
constexpr int kRounds = 80;

double overlap() {
  return sim::StrategyOptions{}.interference;
}

// How often all bytes cross each part of a ring.
double ring(int gpus) {
  return 2.0 * (gpus - 1) / gpus;
}

double step(double computing, double transfer) {
  const double backward = computing * (1 - kForward);
  if (transfer <= 0) return computing;
  return computing * kForward + std::max(backward, transfer) + overlap() * std::min(backward, transfer);
}

// The transfer that makes a step take so long; 0 when it takes no longer than computing.
double transfer_of(double computing, double seconds) {
  const double backward = computing * (1 - kForward), rest = seconds - computing * kForward;
  if (rest <= backward) return 0;
  return rest <= backward * (1 + overlap()) ? (rest - backward) / overlap() : rest - overlap() * backward;
}

// Of a measured time and a predicted one: least in sum where the prediction is the wanted quantile.
double loss(double measured, double predicted) {
  const double off = std::log(measured / predicted);
  return off > 0 ? kQuantile * off : (kQuantile - 1) * off;
}

double largest_of(std::size_t nodes) {
  return std::sqrt(2 * std::log(static_cast<double>(nodes)));
}

}  // namespace

Network network_of(const std::string& cluster) {
  // Two hosts of a cloud without RDMA share one flow's limit for both directions of their ring.
  if (cluster.starts_with("aws")) return {0.67, 0.05};
  return {};
}

std::optional<StepModel> StepModel::fit(const SiaSet& set, std::string& why) {
  const auto& rows = set.rows;
  if (std::none_of(rows.begin(), rows.end(), [](const SiaRow& row) { return row.one_node(); })) {
    why = "no one-node rows to calibrate on";
    return std::nullopt;
  }
  if (std::none_of(rows.begin(), rows.end(), [](const SiaRow& row) { return row.two_singles(); })) {
    why = "no two-node `11` rows to calibrate the network on";
    return std::nullopt;
  }
  StepModel model;
  model.network_ = network_of(set.cluster);
  model.fit_computing(rows);
  model.fit_across(rows);
  std::vector<Fitting> one_node;
  for (const SiaRow& row : rows)
    if (row.one_node() && row.gpus() > 1)
      one_node.push_back({model.computing(row.batch), row.seconds, row.gpus()});
  model.fit_bus(one_node);
  model.find_loader(rows);
  return model;
}

// The lower envelope: a step with others is never faster than its computing.
void StepModel::fit_computing(const std::vector<SiaRow>& rows) {
  for (const SiaRow& row : rows) {
    if (!row.one_node() && !row.two_singles()) continue;
    const auto [place, added] = computing_.try_emplace(row.batch, row.seconds);
    if (!added) place->second = std::min(place->second, row.seconds);
  }
  double least = std::numeric_limits<double>::infinity();
  for (auto each = computing_.rbegin(); each != computing_.rend(); ++each)
    each->second = least = std::min(least, each->second);
}

// Between the two nearest batches, or on from the last two.
double StepModel::computing(int batch) const {
  if (computing_.size() == 1) return computing_.begin()->second;
  auto right = computing_.upper_bound(batch);
  if (right == computing_.begin()) ++right;
  if (right == computing_.end()) --right;
  const auto left = std::prev(right);
  return left->second + (right->second - left->second) * (batch - left->first) /
                            static_cast<double>(right->first - left->first);
}

void StepModel::fit_across(const std::vector<SiaRow>& rows) {
  std::vector<Fitting> pairs;
  for (const SiaRow& row : rows)
    if (row.two_singles()) pairs.push_back({computing(row.batch), row.seconds, 2});
  std::vector<double> candidates{0};
  for (const Fitting& pair : pairs) candidates.push_back(transfer_of(pair.computing, pair.seconds) / ring(2));
  std::sort(candidates.begin(), candidates.end());
  double best = std::numeric_limits<double>::infinity();
  for (const double unit : candidates) {
    double sum = 0;
    for (const Fitting& pair : pairs) sum += loss(pair.seconds, step(pair.computing, unit * ring(2)));
    if (sum >= best) continue;
    best = sum;
    across_ = unit;
  }
}

// A pattern search: two numbers, and the loss has one valley.
void StepModel::fit_bus(const std::vector<Fitting>& rows) {
  double scale = 0;
  for (const Fitting& row : rows)
    scale = std::max(scale, transfer_of(row.computing, row.seconds) / ring(row.gpus));
  if (scale <= 0) return;
  const auto cost = [&](double two, double each) {
    double sum = 0;
    for (const Fitting& row : rows)
      sum += loss(row.seconds, step(row.computing, ring(row.gpus) * (two + each * (row.gpus - 2))));
    return sum;
  };
  bus_of_two_ = scale / 2;
  double best = cost(bus_of_two_, bus_each_), wide = scale / 2, high = scale / 6;
  for (int round = 0; round < kRounds; ++round) {
    const std::array<std::pair<double, double>, 6> moves{
        {{wide, 0}, {-wide, 0}, {0, high}, {0, -high}, {wide, -high / 2}, {-wide, high / 2}}};
    const bool better = std::any_of(moves.begin(), moves.end(), [&](const auto& move) {
      const double two = std::max(0.0, bus_of_two_ + move.first),
                   each = std::max(0.0, bus_each_ + move.second);
      const double tried = cost(two, each);
      if (tried >= best - 1e-12) return false;
      best = tried;
      bus_of_two_ = two;
      bus_each_ = each;
      return true;
    });
    if (better) continue;
    wide *= 0.6;
    high *= 0.6;
  }
}

// Where many one-node rows wait for something else, nodes without a warm cache wait for their data.
void StepModel::find_loader(const std::vector<SiaRow>& rows) {
  std::size_t all = 0, stalled = 0;
  double slowest = std::numeric_limits<double>::infinity();
  for (const SiaRow& row : rows) {
    if (!row.one_node() || row.gpus() < 2) continue;
    ++all;
    if (row.seconds <= kStalled * seconds(row.nodes, row.batch)) continue;
    ++stalled;
    slowest = std::min(slowest, row.batch / row.seconds);
  }
  if (static_cast<double>(stalled) > kOftenStalled * static_cast<double>(all)) loader_ = slowest;
}

double StepModel::seconds(const std::vector<int>& nodes, int batch) const {
  const std::size_t many = nodes.size();
  int gpus = 0;
  for (const int each : nodes) gpus += each;
  if (gpus < 2) return computing(batch);
  const double fullest = bus(*std::max_element(nodes.begin(), nodes.end()));
  const double net = many < 2 ? 0 : across_ * (many > 2 ? network_.beyond_two : 1);
  double transfer = ring(gpus) * std::pow(std::pow(net, kSharp) + std::pow(fullest, kSharp), 1 / kSharp);
  if (many > 2) transfer += network_.jitter * (largest_of(many) - largest_of(2));
  const double took = step(computing(batch), transfer);
  return loader_ && many > 2 ? std::max(took, batch / *loader_) : took;
}

}  // namespace tandem::bench
