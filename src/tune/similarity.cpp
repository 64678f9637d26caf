#include "tune/similarity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/text.h"
#include "stats/numeric/kmeans.h"
#include "stats/numeric/median.h"
#include "tune/fingerprint.h"

namespace tandem::tune {
namespace {

// Calibrated on first epochs on a shared two-core machine without hardware counters: runs of one network and
// dataset lay up to 0.9 apart, with another optimizer up to 1.7, different networks at least 2.4 (but for two
// nearly equal tiny ones).
constexpr double kReach = 2.0;
// Up to this deviation (as a logarithm) a feature has full weight; a noisier one loses it by the square.
constexpr double kSteady = 0.2;
// What is known of a feature's noise in general counts as much as so many epochs of the work itself.
constexpr double kPriorEpochs = 2;
// Clusters up to this root mean squared distance, in deviations, are as narrow as one workload class.
constexpr double kNarrow = 1.5;

using Pool =
    std::map<std::string, double>;  // usual deviation of each feature between epochs of one workload class

double square(double x) {
  return x * x;
}

// Epochs the spread of a workload class was taken over.
double epochs_of(const KnownWorkload& workload) {
  for (const Measured& measured : workload.measured)
    if (same_speed(measured.system, workload.reference))
      return static_cast<double>(std::max<std::int64_t>(measured.epochs, 1));
  return kPriorEpochs;
}

// A workload class made ready for being compared.
struct Print {
  explicit Print(const KnownWorkload& workload)
      : has_cpu(has_cpu_time(workload)),
        epochs(epochs_of(workload)),
        per_wall(fingerprint(workload, false)),
        gpus(gpu_fingerprint(workload)) {
    if (has_cpu) per_cpu = fingerprint(workload, true);
  }
  bool has_cpu;
  double epochs;
  Fingerprint per_wall, per_cpu, gpus;
};

// The median over the workload classes: one noisy workload class shall not make the others look alike.
Pool pooled(std::span<const Print> prints, Fingerprint Print::*of) {
  std::map<std::string, std::vector<double>> seen;
  for (const Print& print : prints)
    for (const auto& [name, feature] : print.*of)
      if (feature.spread > 0) seen[name].push_back(feature.spread);
  Pool pool;
  for (auto& [name, spreads] : seen) pool[name] = stats::median(std::move(spreads));
  return pool;
}

double usual(const Pool& pool, const std::string& name) {
  const auto found = pool.find(name);
  return found == pool.end() ? 0 : found->second;
}

double feature_variance(const Feature& feature, double epochs, double usual) {
  if (feature.spread <= 0) return square(usual);
  if (usual <= 0) return square(feature.spread);
  return (epochs * square(feature.spread) + kPriorEpochs * square(usual)) / (epochs + kPriorEpochs);
}

double weight(double deviation) {
  return std::min(1.0, square(kSteady / deviation));
}

bool comparable(const KnownWorkload& a, const KnownWorkload& b) {
  return a.machine == b.machine && a.batch == b.batch && a.reference == b.reference;
}

// The root of the weighted mean squared difference, in deviations, of what both have. Nothing where they
// have little in common.
std::optional<double> apart(const Fingerprint& left, double left_epochs, const Fingerprint& right,
                            double right_epochs, const Pool& pool) {
  double sum = 0, weights = 0;
  std::size_t shared = 0;
  for (const auto& [name, mine] : left) {
    const auto found = right.find(name);
    if (found == right.end()) continue;
    ++shared;
    const Feature& theirs = found->second;
    if (mine.zero && theirs.zero) continue;
    const double usually = usual(pool, name);
    double noise =
        (feature_variance(mine, left_epochs, usually) + feature_variance(theirs, right_epochs, usually)) / 2;
    // A single epoch says nothing of its noise: then the other's counts alone.
    if (mine.spread <= 0) noise = feature_variance(theirs, right_epochs, usually);
    if (theirs.spread <= 0) noise = feature_variance(mine, left_epochs, usually);
    const double deviation = std::sqrt(noise + square(mine.floor));
    sum += weight(deviation) * square((mine.value - theirs.value) / deviation);
    weights += weight(deviation);
  }
  if (weights <= 0 || 2 * shared < std::min(left.size(), right.size())) return std::nullopt;
  return std::sqrt(sum / weights);
}

// All that is known, ready for being compared.
struct Known {
  explicit Known(std::span<const KnownWorkload> all) : workloads(all.begin(), all.end()) {
    for (const KnownWorkload& workload : workloads) prints.emplace_back(workload);
    cpu_pool = pooled(prints, &Print::per_cpu);
    wall_pool = pooled(prints, &Print::per_wall);
    gpu_pool = pooled(prints, &Print::gpus);
  }

  std::optional<double> distance(const Print& a, const Print& b) const {
    const bool per_cpu = a.has_cpu && b.has_cpu;
    const auto of = per_cpu ? &Print::per_cpu : &Print::per_wall;
    const auto cpu = apart(a.*of, a.epochs, b.*of, b.epochs, per_cpu ? cpu_pool : wall_pool);
    const auto gpus = gpu_distance(a, b);
    return cpu && gpus ? std::optional(std::max(*cpu, *gpus)) : std::nullopt;
  }
  // 0 where neither says anything of GPUs, or both that nothing ran there.
  std::optional<double> gpu_distance(const Print& a, const Print& b) const {
    if (a.gpus.empty() != b.gpus.empty()) return std::nullopt;
    const auto idle = [](const auto& feature) { return feature.second.zero; };
    if (std::all_of(a.gpus.begin(), a.gpus.end(), idle) && std::all_of(b.gpus.begin(), b.gpus.end(), idle))
      return 0;
    return apart(a.gpus, a.epochs, b.gpus, b.epochs, gpu_pool);
  }

  std::vector<KnownWorkload> workloads;
  std::vector<Print> prints;
  Pool cpu_pool, wall_pool, gpu_pool;
};

class Nearest final : public Similarity {
 public:
  explicit Nearest(std::span<const KnownWorkload> known) : known_(known) {}

  std::optional<Match> find(const KnownWorkload& workload) const override {
    const Print print(workload);
    std::optional<Match> best;
    for (std::size_t i = 0; i < known_.workloads.size(); ++i) {
      if (!comparable(workload, known_.workloads[i])) continue;
      const auto distance = known_.distance(print, known_.prints[i]);
      if (distance && (!best || *distance < best->distance)) best = Match{i, *distance, kReach};
    }
    return best;
  }

 private:
  Known known_;
};

// Workload classes as points in one space: the features all of them have, each divided by its deviation and
// weighted, so that Euclid's distance is the one above but for a common factor.
class FeatureSpace {
 public:
  explicit FeatureSpace(std::span<const Print> prints) {
    per_cpu_ = std::all_of(prints.begin(), prints.end(), [](const Print& print) { return print.has_cpu; });
    Pool pool = pooled(prints, per_cpu_ ? &Print::per_cpu : &Print::per_wall);
    pool.merge(pooled(prints, &Print::gpus));
    struct Seen {
      std::size_t times = 0;
      bool ever = false;
      double floor = 0;
    };
    std::map<std::string, Seen> seen;
    for (const Print& print : prints)
      for (const auto& [name, feature] : of(print)) {
        Seen& here = seen[name];
        ++here.times, here.ever |= !feature.zero, here.floor = feature.floor;
      }
    for (const auto& [name, here] : seen) {
      if (here.times < prints.size() || !here.ever) continue;
      const double deviation = std::sqrt(square(usual(pool, name)) + square(here.floor));
      names_.push_back(name);
      scales_.push_back(std::sqrt(weight(deviation)) / deviation);
      total_weight_ += weight(deviation);
    }
  }

  stats::Point point(const Print& print) const {
    const Fingerprint all = of(print);
    stats::Point out;
    for (std::size_t i = 0; i < names_.size(); ++i) out.push_back(all.at(names_[i]).value * scales_[i]);
    return out;
  }
  const std::vector<std::string>& names() const { return names_; }
  double total_weight() const { return total_weight_; }

 private:
  // Of CPU and GPUs together.
  Fingerprint of(const Print& print) const {
    Fingerprint out = per_cpu_ ? print.per_cpu : print.per_wall;
    out.insert(print.gpus.begin(), print.gpus.end());
    return out;
  }

  bool per_cpu_ = false;
  std::vector<std::string> names_;
  std::vector<double> scales_;
  double total_weight_ = 0;
};

// PipeTune's: clusters of comparable workload classes; within reach of a centre a workload class is like the
// members there.
class ByClusters final : public Similarity {
 public:
  explicit ByClusters(std::span<const KnownWorkload> known) : known_(known) {
    using Key = std::tuple<std::string, double, Bytes, Bytes, bool, decltype(speed_key({}))>;
    std::map<Key, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < known_.workloads.size(); ++i) {
      const KnownWorkload& workload = known_.workloads[i];
      const Resources& at = workload.reference;
      const bool knows_gpus = !known_.prints[i].gpus.empty();
      groups[{workload.machine, workload.batch, at.memory, at.gpu_memory, knows_gpus, speed_key(at)}]
          .push_back(i);
    }
    for (const auto& [key, members] : groups) add_clusters(members);
  }

  std::optional<Match> find(const KnownWorkload& workload) const override {
    const Print print(workload);
    const Cluster* nearest = nullptr;
    std::optional<Match> best;
    for (const Cluster& cluster : clusters_) {
      if (!comparable(known_.workloads[cluster.members.front()], workload)) continue;
      const auto distance = known_.distance(print, cluster.centre);
      if (!distance || (best && *distance >= best->distance)) continue;
      best = Match{0, *distance, kReach * std::max(1.0, cluster.width)};
      nearest = &cluster;
    }
    if (!best) return best;
    std::optional<double> least;
    for (const std::size_t member : nearest->members) {
      const auto distance = known_.distance(print, known_.prints[member]);
      if (distance && (!least || *distance < *least)) least = distance, best->known = member;
    }
    if (!least) return std::nullopt;
    // A wide cluster is one of CPUs' ways: what the GPUs do must be like that of the member itself.
    const auto gpus = known_.gpu_distance(print, known_.prints[best->known]);
    best->distance = std::max(best->distance, gpus.value_or(0) * best->limit / kReach);
    return best;
  }

 private:
  struct Cluster {
    std::vector<std::size_t> members;  // indices of known works
    Print centre;
    double width = 0;  // root mean squared distance of the members, in deviations
  };

  void add_clusters(const std::vector<std::size_t>& members) {
    std::vector<Print> prints;
    for (const std::size_t member : members) prints.push_back(known_.prints[member]);
    const FeatureSpace space(prints);
    std::vector<stats::Point> points;
    for (const Print& print : prints) points.push_back(space.point(print));
    const double total = std::max(space.total_weight(), std::numeric_limits<double>::min());
    const auto width = [&](double mean_squared) { return std::sqrt(mean_squared / total); };

    stats::Clusters found;
    // Every cluster that is wider than one workload class asks for one more.
    for (std::size_t k = 2, wide = 1; wide > 0; k += wide) {
      found = stats::kmeans(points, {.k = k, .starts = 4});
      wide = 0;
      if (k < points.size())
        for (const double squared : found.mean_squared) wide += width(squared) > kNarrow;
    }
    for (std::size_t c = 0; c < found.centres.size(); ++c) {
      std::vector<std::size_t> inside;
      for (std::size_t m = 0; m < members.size(); ++m)
        if (found.assignment[m] == c) inside.push_back(members[m]);
      clusters_.push_back({inside, Print(mean(inside)), width(found.mean_squared[c])});
    }
  }

  // Of what all of these have.
  KnownWorkload mean(const std::vector<std::size_t>& members) const {
    KnownWorkload out;
    out.reference = known_.workloads[members.front()].reference;
    std::map<std::string, std::size_t> counts;
    for (const std::size_t member : members)
      for (const auto& [name, rate] : known_.workloads[member].rates) {
        out.rates[name] += rate / static_cast<double>(members.size());
        ++counts[name];
      }
    std::erase_if(out.rates, [&](const auto& rate) { return counts[rate.first] < members.size(); });
    return out;
  }

  Known known_;
  std::vector<Cluster> clusters_;
};

}  // namespace

const std::vector<SimilarityEntry>& similarities() {
  static const std::vector<SimilarityEntry> all{
      {"nearest", "the most alike work, within what epochs of one work lie apart"},
      {"kmeans", "PipeTune's: the nearest cluster, within reach of its centre"},
  };
  return all;
}

std::unique_ptr<Similarity> make_similarity(const std::string& name, std::span<const KnownWorkload> known) {
  if (name == "nearest") return std::make_unique<Nearest>(known);
  if (name == "kmeans") return std::make_unique<ByClusters>(known);
  std::vector<std::string> names;
  for (const auto& entry : similarities()) names.push_back(entry.name);
  throw UserError("there is no similarity '" + printable(name, 80) + "'" + did_you_mean(name, names) +
                  "; they are " + join(names));
}

Features features(std::span<const KnownWorkload> workloads) {
  std::vector<Print> prints;
  for (const KnownWorkload& workload : workloads) prints.emplace_back(workload);
  const FeatureSpace space(prints);
  Features out{space.names(), {}};
  for (const Print& print : prints) out.rows.push_back(space.point(print));
  return out;
}

}  // namespace tandem::tune
