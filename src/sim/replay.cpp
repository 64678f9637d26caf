#include "sim/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "sim/failures.h"
#include "sim/heap.h"

namespace tandem::sim {
namespace {

void check(const ReplayInput& input) {
  if (input.pools.empty()) throw UserError("there are no nodes to run jobs on");
  for (const auto& shape : input.shapes) {
    if (shape.parts < 1) throw UserError("a job needs at least one part");
    for (const auto pool : shape.pools)
      if (pool >= input.pools.size()) throw UserError(fmt::format("there is no pool of nodes {}", pool));
  }
  const std::size_t cells = input.jobs.size() * input.pools.size();
  if ((!input.by_pool.empty() && input.by_pool.size() != cells) ||
      (!input.by_pool_spread.empty() && input.by_pool_spread.size() != cells))
    throw UserError("the seconds of jobs by pool do not fit the number of jobs and pools");
  double before = -std::numeric_limits<double>::infinity();
  for (const auto& job : input.jobs) {
    if (job.shape >= input.shapes.size()) throw UserError(fmt::format("there is no shape {}", job.shape));
    if (!std::isfinite(job.submitted) || job.submitted < before)
      throw UserError("jobs must be in the order of their submission");
    if (!std::isfinite(job.seconds) || job.seconds < 0) throw UserError("a job takes no finite time");
    before = job.submitted;
  }
}

class Replay {
 public:
  Replay(const ReplayInput& input, const place::OrderEntry& policy) : input_(input), queue_(policy) {
    for (const auto& pool : input.pools) {
      first_node_.push_back(nodes_);
      pools_.emplace_back(pool.node, pool.count);
      nodes_ += pool.count;
    }
    out_.jobs.resize(input.jobs.size());
    possible_.resize(input.shapes.size(), kUnknown);
    left_.assign(input.failures ? input.jobs.size() : 0, 1.0);
    if (input.failures) plan_failures();
  }

  Replayed run() {
    now_ = input_.jobs.empty() ? 0 : input_.jobs.front().submitted;
    const double begin = now_;
    while ((next_job_ < input_.jobs.size() || !running_.empty() || queue_.size() > 0) && advance())
      queue_.serve([&](std::uint32_t job) { return start(job); });
    out_.makespan = std::max(0.0, last_end_ - begin);
    account();
    return std::move(out_);
  }

 private:
  static constexpr std::int8_t kUnknown = -1;
  struct Running {
    std::uint32_t job = 0, pool = 0;
    double since = 0, seconds = 0;
    std::vector<place::Share> shares{};
  };

  double seconds(std::uint32_t job, std::uint32_t pool, bool spread) const {
    const auto& table = spread && !input_.by_pool_spread.empty() ? input_.by_pool_spread : input_.by_pool;
    return table.empty() ? input_.jobs[job].seconds : table[job * input_.pools.size() + pool];
  }

  // Pools by how fast the job is in them; equals in their order.
  const std::vector<std::uint32_t>& preferred(std::uint32_t job) {
    const auto& pools = input_.shapes[input_.jobs[job].shape].pools;
    if (input_.by_pool.empty() || pools.size() < 2) return pools;
    order_ = pools;
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return seconds(job, a, false) < seconds(job, b, false);
    });
    return order_;
  }

  bool possible(std::uint32_t job) {
    const auto index = input_.jobs[job].shape;
    const auto& shape = input_.shapes[index];
    if (!input_.by_pool.empty())  // depends on the job too
      return std::any_of(shape.pools.begin(), shape.pools.end(), [&](std::uint32_t pool) {
        return std::isfinite(seconds(job, pool, false)) && pools_[pool].could_ever(shape.part, shape.parts);
      });
    if (possible_[index] == kUnknown)
      possible_[index] = std::any_of(shape.pools.begin(), shape.pools.end(), [&](std::uint32_t pool) {
        return pools_[pool].could_ever(shape.part, shape.parts);
      });
    return possible_[index] == 1;
  }

  bool start(std::uint32_t job) {
    const auto& shape = input_.shapes[input_.jobs[job].shape];
    for (const auto pool : preferred(job)) {
      if (!std::isfinite(seconds(job, pool, false))) continue;
      if (!pools_[pool].take(shape.part, shape.parts, taken_)) continue;
      const double lasts = seconds(job, pool, taken_.size() > 1) * (left_.empty() ? 1 : left_[job]);
      const std::uint32_t slot = take_slot();
      Running& running = slots_[slot];
      running.job = job, running.pool = pool, running.since = now_, running.seconds = lasts;
      running.shares.swap(taken_);
      running_.set(slot, now_ + lasts);
      JobFate& fate = out_.jobs[job];
      fate.started = now_, fate.pool = pool, ++fate.attempts;
      return true;
    }
    return false;
  }

  std::uint32_t take_slot() {
    if (free_slots_.empty()) {
      slots_.emplace_back();
      return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const auto slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }

  // To the next moment at which something happens, and everything that happens then. False: nothing will.
  bool advance() {
    double next = std::numeric_limits<double>::infinity();
    if (!running_.empty()) next = running_.first_time();
    if (next_job_ < input_.jobs.size()) next = std::min(next, input_.jobs[next_job_].submitted);
    if (!outages_.empty()) next = std::min(next, outages_.first_time());
    if (!std::isfinite(next)) return false;
    now_ = next;
    while (!running_.empty() && running_.first_time() <= now_) end(running_.pop());
    while (!outages_.empty() && outages_.first_time() <= now_) change_node(outages_.pop());
    while (next_job_ < input_.jobs.size() && input_.jobs[next_job_].submitted <= now_) arrive(next_job_++);
    return true;
  }

  void arrive(std::uint32_t job) {
    ++out_.happenings;
    if (possible(job))
      wait(job);
    else
      out_.never.push_back(job);
  }

  void wait(std::uint32_t job) {
    const auto& what = input_.jobs[job];
    double fastest = what.seconds;
    if (!input_.by_pool.empty()) fastest = seconds(job, preferred(job).front(), false);
    const auto parts = static_cast<double>(input_.shapes[what.shape].parts);
    queue_.add(job, line_of(job), {what.submitted, fastest, parts, what.priority});
  }

  // Jobs that the queue may treat alike: what one finds no room for, the other does not. Where a job can run
  // depends on more than its shape when some pools are closed to it.
  std::uint32_t line_of(std::uint32_t job) {
    const std::uint32_t shape = input_.jobs[job].shape;
    if (input_.by_pool.empty()) return shape;
    std::uint64_t open = 0;
    for (const auto pool : input_.shapes[shape].pools)
      if (std::isfinite(seconds(job, pool, false))) open |= std::uint64_t{1} << (pool % 64);
    const auto key = std::pair{shape, open};
    const auto found = std::find(lines_.begin(), lines_.end(), key);
    if (found != lines_.end()) return static_cast<std::uint32_t>(found - lines_.begin());
    lines_.push_back(key);
    return static_cast<std::uint32_t>(lines_.size() - 1);
  }

  void release(std::uint32_t slot) {
    Running& running = slots_[slot];
    const auto& part = input_.shapes[input_.jobs[running.job].shape].part;
    for (const auto& share : running.shares) pools_[running.pool].give_back(part, share);
    running.shares.clear();
    free_slots_.push_back(slot);
  }

  void count_use(const Running& running) {
    const auto& shape = input_.shapes[input_.jobs[running.job].shape];
    const double ran = (now_ - running.since) * static_cast<double>(shape.parts);
    const double cores = static_cast<double>(shape.part.milli_cores) / 1000;
    const double gpus = shape.part.gpus + shape.part.gpu_share / 1000.0;
    out_.core_seconds += ran * cores;
    out_.gpu_seconds += ran * gpus;
    if (const auto& draw = input_.pools[running.pool].draw) {
      const double all = static_cast<double>(input_.pools[running.pool].node.milli_cores) / 1000;
      added_joules_ += ran * (gpus * draw->a_gpu + (all > 0 ? cores / all * draw->cores : 0));
    }
  }

  void end(std::uint32_t slot) {
    ++out_.happenings;
    const Running& running = slots_[slot];
    count_use(running);
    out_.jobs[running.job].ended = last_end_ = now_;
    release(slot);
  }

  void plan_failures() {
    failures_ = Failures::drawn(input_.failures->between, input_.failures->repair, input_.seed);
    down_.assign(nodes_, false);
    planned_.resize(nodes_);
    const double from = input_.jobs.empty() ? 0 : input_.jobs.front().submitted;
    for (std::size_t node = 0; node < nodes_; ++node) plan_failure(node, from);
  }

  void plan_failure(std::size_t node, double from) {
    planned_[node] = failures_.next(static_cast<NodeId>(node), Seconds{from}).value();
    outages_.set(static_cast<std::uint32_t>(node), planned_[node].from.value);
  }

  void change_node(std::uint32_t node) {
    ++out_.happenings;
    const auto pool = static_cast<std::uint32_t>(
        std::upper_bound(first_node_.begin(), first_node_.end(), node) - first_node_.begin() - 1);
    const auto place = static_cast<std::uint32_t>(node - first_node_[pool]);
    down_[node] = !down_[node];
    pools_[pool].set_up(place, !down_[node]);
    if (!down_[node]) return plan_failure(node, now_);
    ++out_.failures;
    const double until = planned_[node].until.value;
    down_seconds_.emplace_back(pool, std::pair{now_, until});
    outages_.set(node, until);
    lose(pool, place);
  }

  void lose(std::uint32_t pool, std::uint32_t node) {
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
      const Running& running = slots_[slot];
      if (running.pool != pool || !running_.contains(slot)) continue;
      if (std::none_of(running.shares.begin(), running.shares.end(),
                       [&](const auto& share) { return share.node == node; }))
        continue;
      const std::uint32_t job = running.job;
      count_use(running);
      const double ran = now_ - running.since;
      const double kept = input_.checkpoint > 0 ? std::floor(ran / input_.checkpoint) * input_.checkpoint : 0;
      out_.lost_seconds += (ran - kept) * static_cast<double>(input_.shapes[input_.jobs[job].shape].parts);
      if (running.seconds > 0) left_[job] *= 1 - kept / running.seconds;
      running_.erase(slot);
      release(slot);
      out_.jobs[job].started = JobFate::kNever;
      if (out_.jobs[job].attempts < kMostAttempts)
        wait(job);
      else
        out_.given_up.push_back(job);
    }
  }

  // What was there to be used, and what idle nodes drew: from the first submission to the last end.
  void account() {
    double idle_joules = 0;
    bool known = true;
    for (std::size_t i = 0; i < input_.pools.size(); ++i) {
      const auto& pool = input_.pools[i];
      double up = static_cast<double>(pool.count) * out_.makespan;
      for (const auto& [where, times] : down_seconds_)
        if (where == i) up -= std::max(0.0, std::min(times.second, last_end_) - times.first);
      out_.core_seconds_there += up * static_cast<double>(pool.node.milli_cores) / 1000;
      out_.gpu_seconds_there += up * pool.node.gpus;
      known = known && pool.draw.has_value();
      if (pool.draw) idle_joules += up * pool.draw->idle;
    }
    if (known) out_.joules = idle_joules + added_joules_;
  }

  const ReplayInput& input_;
  place::Queue queue_;
  std::vector<place::Pool> pools_;
  std::vector<std::size_t> first_node_;  // of each pool, among all nodes
  std::size_t nodes_ = 0;
  double now_ = 0, last_end_ = 0, added_joules_ = 0;
  std::uint32_t next_job_ = 0;
  Heap running_;  // slots, by their end
  std::vector<Running> slots_;
  std::vector<std::uint32_t> free_slots_, order_;
  std::vector<place::Share> taken_;
  std::vector<std::int8_t> possible_;                           // by shape
  std::vector<std::pair<std::uint32_t, std::uint64_t>> lines_;  // shape and the pools open to it
  std::vector<double> left_;                                    // of each job: share still to be done
  Failures failures_;
  Heap outages_;  // nodes, by their next failure or repair
  std::vector<bool> down_;
  std::vector<Outage> planned_;
  std::vector<std::pair<std::size_t, std::pair<double, double>>> down_seconds_;  // pool, from and until
  Replayed out_;
};

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

Replayed replay(const ReplayInput& input, const place::OrderEntry& policy) {
  check(input);
  return Replay(input, policy).run();
}

Waits waits_of(const ReplayInput& input, const Replayed& replayed) {
  Waits out;
  std::vector<double> waited;
  for (std::size_t i = 0; i < input.jobs.size(); ++i) {
    const JobFate& fate = replayed.jobs[i];
    if (!std::isfinite(fate.ended)) continue;
    const double response = fate.ended - input.jobs[i].submitted;
    waited.push_back(fate.started - input.jobs[i].submitted);
    out.mean_response += response;
    out.mean_slowdown += std::max(1.0, response / std::max(kShortest, fate.ended - fate.started));
  }
  out.jobs = waited.size();
  if (waited.empty()) return out;
  std::sort(waited.begin(), waited.end());
  const auto n = static_cast<double>(waited.size());
  out.mean = std::accumulate(waited.begin(), waited.end(), 0.0) / n;
  out.median = quantile(waited, 0.5), out.p95 = quantile(waited, 0.95), out.p99 = quantile(waited, 0.99);
  out.most = waited.back();
  out.mean_response /= n;
  out.mean_slowdown /= n;
  return out;
}

}  // namespace tandem::sim
