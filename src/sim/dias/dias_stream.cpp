#include "sim/dias/dias_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace tandem::sim {
namespace {

// A gamma variable of mean `shape` by rejection (Marsaglia and Tsang); exact, and its cost does not grow.
double gamma(int shape, Random& random) {
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = random.normal(), root = 1 + c * x, v = root * root * root, u = 1 - random.uniform();
    if (u < 1 - 0.0331 * x * x * x * x && v > 0) return d * v;  // nearly always, without the logarithms
    if (v > 0 && std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
  }
}

double erlang(double mean, int shape, Random& random) {
  constexpr int kFew = 6;  // up to here drawing every phase is faster
  if (shape > kFew) return mean / shape * gamma(shape, random);
  double product = 1;
  for (int i = 0; i < shape; ++i) product *= 1 - random.uniform();
  return -mean / shape * std::log(product);
}

int draw_tasks(const place::DiasStage& stage, Random& random) {
  if (stage.counts.size() == 1) return stage.counts[0].tasks;
  double u = random.uniform();
  for (const auto& count : stage.counts)
    if ((u -= count.probability) < 0) return count.tasks;
  return stage.counts.back().tasks;
}

}  // namespace

double DiasSlots::run(const place::DiasJob& job, Random& random) {
  double takes = 0;
  for (const auto& stage : job.stages) {
    if (stage.setup > 0) takes += random.exponential(stage.setup);
    const int tasks = place::tasks_left(draw_tasks(stage, random), stage.droppable ? stage.drop : 0);
    takes += run_tasks(tasks, stage.task, stage.shape, random);
  }
  return takes;
}

// Slots are kept in the order they become free; a new end is put in by shifting all of them without a branch,
// which for tens of slots is faster than a heap.
double DiasSlots::run_tasks(int tasks, double mean, int shape, Random& random) {
  const auto used = static_cast<std::size_t>(std::min(tasks, slots_));
  free_.resize(used + 1);
  for (std::size_t i = 0; i < used; ++i) free_[i] = erlang(mean, shape, random);
  if (tasks <= slots_) return *std::max_element(free_.begin(), free_.end() - 1);
  std::sort(free_.begin(), free_.end() - 1);
  free_[used] = std::numeric_limits<double>::infinity();
  for (int i = slots_; i < tasks; ++i) {
    const double end = free_[0] + erlang(mean, shape, random);
    double here = 0;  // the slot that was free first is taken
    for (std::size_t at = 0; at < used; ++at) {
      const double next = free_[at + 1];
      free_[at] = std::max(here, std::min(end, next));
      here = next;
    }
  }
  return free_[used - 1];
}

DiasStream::DiasStream(stats::MarkedArrivals arrivals, std::vector<place::DiasJob> jobs, int slots,
                       std::uint64_t seed)
    : jobs_(std::move(jobs)),
      slots_(slots),
      arrivals_(seed, hash_name("dias arrivals")),
      lengths_(seed, hash_name("dias lengths")) {
  check(arrivals, "the arrivals");
  if (arrivals.classes() != jobs_.size())
    throw UserError(fmt::format("{} classes arrive, {} are described", arrivals.classes(), jobs_.size()));
  if (slots < 1) throw UserError(fmt::format("{} slots; at least 1", slots));
  for (std::size_t k = 0; k < jobs_.size(); ++k) check(jobs_[k], fmt::format("class {}", k));
  for (std::size_t i = 0; i < arrivals.phases(); ++i) {
    std::vector<Way> ways;
    double sum = 0;
    for (std::size_t j = 0; j < arrivals.phases(); ++j) {
      if (i != j && arrivals.hidden[i][j] > 0) ways.push_back({sum += arrivals.hidden[i][j], 0, j, true});
      for (std::size_t k = 0; k < jobs_.size(); ++k)
        if (const double rate = arrivals.marked[k][i][j]; rate > 0)
          ways.push_back({sum += rate, k, j, false});
    }
    if (ways.empty()) throw UserError(fmt::format("nothing ever happens in phase {} of the arrivals", i));
    ways_.push_back(std::move(ways));
  }
}

DiasArrival DiasStream::next() {
  while (true) {
    const auto& ways = ways_[phase_];
    now_ += arrivals_.exponential(1 / ways.back().up_to);
    const double u = arrivals_.uniform() * ways.back().up_to;
    const Way* way = &ways[0];
    while (way->up_to <= u) ++way;
    phase_ = way->to;
    if (!way->hidden) return {now_, way->which, slots_.run(jobs_[way->which], lengths_)};
  }
}

}  // namespace tandem::sim
