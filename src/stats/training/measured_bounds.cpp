#include "stats/training/measured_bounds.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/random.h"
#include "stats/numeric/median.h"

namespace tandem::stats {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kNeighbours = 6, kFewNeighbours = 3;

using Bounds = std::vector<std::pair<double, double>>;  // by distance

std::vector<double> nearest_of(Bounds& some) {
  const std::size_t count = std::min(some.size(), kNeighbours);
  std::partial_sort(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count), some.end());
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(some[i].second);
  std::sort(out.begin(), out.end());
  return out;
}

// What rows nearest by say although some of them may be wrong. Stalls make many of them too slow, hardly
// anything makes them too fast: of lower bounds it is their middle, of upper ones the second tightest.
double lower_of_nearest(Bounds some) {
  const auto bounds = nearest_of(some);
  return bounds[(bounds.size() - 1) / 2];
}

double upper_of_nearest(Bounds some) {
  const auto bounds = nearest_of(some);
  return bounds[std::min<std::size_t>(1, bounds.size() - 1)];
}

}  // namespace

void MeasuredBounds::set_columns(const std::vector<std::string>& names) {
  const Column only_up{0, kInfinite};
  const std::map<std::string, Column> known = {
      {"batch", of_jobs_ ? Column{-1, 0} : Column{0, 1}},
      {"replicas", only_up},
      {"nodes", only_up},
      {"largest", only_up},
      {"jobs", only_up},
      {"crowd", only_up},
      {"cores", {-1, kInfinite}},  // too many of them wait for each other
      {"records", {0, 1}},
      {"epochs", {0, 1}},
  };
  columns_.clear();
  replicas_ = static_cast<std::size_t>(-1);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = known.find(names[i]);
    columns_.push_back(found == known.end() ? Column{} : found->second);
    if (names[i] == "replicas") replicas_ = i;
  }
}

void MeasuredBounds::fit(const std::vector<std::string>& columns, std::span<const double> rows,
                         std::span<const double> seconds, bool of_jobs) {
  *this = {};
  of_jobs_ = of_jobs;
  set_columns(columns);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!(rows[i] > 0)) columns_[i % columns_.size()].ignored = true;
  keep(rows, seconds);
  drop_contradicted();
  note_extremes();
}

std::vector<double> MeasuredBounds::logarithms(std::span<const double> row) const {
  std::vector<double> out;
  for (std::size_t c = 0; c < columns_.size(); ++c)
    out.push_back(columns_[c].ignored || !(row[c] > 0) ? 0 : std::log(row[c]));
  return out;
}

double MeasuredBounds::replicas_of(std::span<const double> log_row) const {
  return of_jobs_ && replicas_ < log_row.size() ? log_row[replicas_] : 0;
}

// Repeats become one row, their median.
void MeasuredBounds::keep(std::span<const double> rows, std::span<const double> seconds) {
  std::map<std::vector<double>, std::vector<double>> repeats;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    repeats[logarithms(rows.subspan(i * columns_.size(), columns_.size()))].push_back(std::log(seconds[i]));
  std::vector<std::pair<std::vector<double>, double>> all;
  for (const auto& [row, times] : repeats) all.emplace_back(row, median(times) + replicas_of(row));
  Random random(1, hash_name("rows of measured bounds"));
  for (std::size_t i = 0; all.size() > kKept && i < kKept; ++i)
    std::swap(all[i], all[i + random.below(all.size() - i)]);
  all.resize(std::min(all.size(), kKept));
  for (const auto& [row, time] : all) {
    rows_.insert(rows_.end(), row.begin(), row.end());
    times_.push_back(time);
  }
}

MeasuredBounds::Candidate MeasuredBounds::candidate(std::size_t row, std::span<const double> query) const {
  Candidate out{times_[row], times_[row]};
  const auto measured = kept(row);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    const double ratio = query[c] - measured[c];
    if (column.ignored || ratio == 0) continue;
    out.distance += std::abs(ratio);
    out.low += std::min(column.least_power * ratio, column.most_power * ratio);
    out.high += std::max(column.least_power * ratio, column.most_power * ratio);
  }
  return out;
}

bool MeasuredBounds::contradicted(std::size_t i) const {
  Bounds below, above;
  for (std::size_t other = 0; other < times_.size(); ++other) {
    if (other == i) continue;
    const Candidate each = candidate(other, kept(i));
    if (!std::isinf(each.low)) below.emplace_back(each.distance, each.low);
    if (!std::isinf(each.high)) above.emplace_back(each.distance, each.high);
  }
  const double room = std::log(kContradicted);
  return (below.size() >= kFewNeighbours && times_[i] < lower_of_nearest(std::move(below)) - room) ||
         (above.size() >= kFewNeighbours && times_[i] > upper_of_nearest(std::move(above)) + room);
}

void MeasuredBounds::drop_contradicted() {
  std::vector<double> rows, times;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (contradicted(i)) continue;
    rows.insert(rows.end(), kept(i).begin(), kept(i).end());
    times.push_back(times_[i]);
  }
  if (!times.empty()) rows_ = std::move(rows), times_ = std::move(times);
}

void MeasuredBounds::note_extremes() {
  lowest_.assign(columns_.size(), kInfinite), highest_.assign(columns_.size(), -kInfinite);
  fastest_ = kInfinite, slowest_ = -kInfinite;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const double seconds = times_[i] - replicas_of(kept(i));
    fastest_ = std::min(fastest_, seconds), slowest_ = std::max(slowest_, seconds);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      lowest_[c] = std::min(lowest_[c], kept(i)[c]);
      highest_[c] = std::max(highest_[c], kept(i)[c]);
    }
  }
}

MeasuredBounds::Limits MeasuredBounds::at(std::span<const double> row) const {
  if (times_.empty()) return {};
  const std::vector<double> query = logarithms(row);
  Bounds below, above;
  double low = -kInfinite, high = kInfinite;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const Candidate each = candidate(i, query);
    if (!std::isinf(each.low)) below.emplace_back(each.distance, each.low);
    if (!std::isinf(each.high)) above.emplace_back(each.distance, each.high);
    low = std::max(low, each.low), high = std::min(high, each.high);
  }
  const double off = std::log(kOff), replicas = replicas_of(query);
  if (below.empty() && above.empty()) {
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (query[c] < lowest_[c] || query[c] > highest_[c]) return {};
    return {std::exp(fastest_ - off), std::exp(slowest_ + off), false};
  }
  // With nothing on the other side to contradict it, one row that is wrong must not decide.
  if (above.empty()) return {std::exp(lower_of_nearest(std::move(below)) - off - replicas), kInfinite, false};
  if (below.empty()) return {0, std::exp(upper_of_nearest(std::move(above)) + off - replicas), false};
  const double noise = std::log(kNoise);
  return {std::exp(std::min(high - off, low - noise) - replicas),
          std::exp(std::max(low + off, high + noise) - replicas), true};
}

nlohmann::json MeasuredBounds::written() const {
  std::vector<bool> ignored;
  for (const Column& column : columns_) ignored.push_back(column.ignored);
  return {{"rows", rows_}, {"times", times_}, {"of_jobs", of_jobs_}, {"ignored", ignored}};
}

void MeasuredBounds::read(const nlohmann::json& from, const std::vector<std::string>& columns) {
  *this = {};
  of_jobs_ = from.at("of_jobs").get<bool>();
  set_columns(columns);
  from.at("rows").get_to(rows_), from.at("times").get_to(times_);
  const auto ignored = from.at("ignored").get<std::vector<bool>>();
  if (rows_.size() != times_.size() * columns.size() || ignored.size() != columns.size())
    throw UserError("stored bounds of a model do not fit together: train the model anew");
  for (std::size_t c = 0; c < ignored.size(); ++c) columns_[c].ignored = ignored[c];
  note_extremes();
}

}  // namespace tandem::stats
