#include "sim/trace/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "sim/trace/replay_run.h"

namespace tandem::sim {
namespace {

void check_input(const ReplayInput& input) {
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

// What the trace and the pools say, taken as known.
class Declared final : public place::Predictor {
 public:
  explicit Declared(const ReplayInput& input) : input_(input) {}
  place::Prediction predict(std::uint32_t job, std::uint32_t pool) override {
    const auto& what = input_.jobs[job];
    const double seconds =
        input_.by_pool.empty() ? what.seconds : input_.by_pool[job * input_.pools.size() + pool];
    const auto& shape = input_.shapes[what.shape];
    return {seconds, added_joules(shape, input_.pools[pool], seconds),
            idle_joules(shape, input_.pools[pool], seconds)};
  }

 private:
  const ReplayInput& input_;
};

void require_draw(const ReplayInput& input, const place::Policy& policy) {
  if (!policy.heats || (policy.heats->h == 0 && !policy.heats->random_h)) return;
  for (const auto& pool : input.pools)
    if (!pool.draw)
      throw UserError(fmt::format(
          "policy {} weighs energy, and the power of nodes '{}' is not known; use H=0, or nodes whose power "
          "is known",
          policy.name, pool.name));
}

// A trace says nothing of what others do on the nodes meanwhile, nor of other sizes than a job had.
void require_told_by_a_trace(const place::Policy& policy) {
  if (policy.malleable)
    throw UserError(
        fmt::format("policy {}: a job of a trace has one size, so there is nothing to resize: leave "
                    ":malleable out, or use "
                    "it with `tandem serve`",
                    policy.name));
  if (policy.infra)
    throw UserError(fmt::format(
        "policy {} places by what is observed of nodes while they run, and a trace says nothing of that: use "
        "it with `tandem serve`, or compare the others here",
        policy.name));
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

Replay::Replay(const ReplayInput& input, const place::Policy& policy, place::Predictor* predictor)
    : input_(input), policy_(policy), queue_(*policy.order), predictor_(predictor) {
  require_told_by_a_trace(policy);
  for (const auto& pool : input.pools) {
    first_node_.push_back(nodes_);
    pools_.emplace_back(pool.node, pool.count);
    nodes_ += pool.count;
  }
  out_.jobs.resize(input.jobs.size());
  usable_.resize(input.shapes.size());
  const bool partly = input.failures || policy.heats || policy.preemption != place::Preemption::none;
  left_.assign(partly ? input.jobs.size() : 0, 1.0);
  begin_ = now_ = input.jobs.empty() ? 0 : input.jobs.front().submitted;
  next_sample_ = begin_;
  if (input.failures) plan_failures();
  if (!policy.kit && !policy.heats && !policy.backfill && policy.preemption == place::Preemption::none)
    return;
  for (const auto& pool : input.pools)
    types_.push_back(
        {pool.name, pool.architecture, pool.gpu_type, pool.node, pool.count, pool.labels, pool.slowness});
  if (!predictor_) {
    require_draw(input, policy);
    declared_ = std::make_unique<Declared>(input);
    predictor_ = declared_.get();
  }
  ranking_ = std::make_unique<place::Ranking>(policy, types_, predictor_, input.seed);
  needs_.resize(input.shapes.size());
  allowed_.resize(input.shapes.size());
  needs_made_.resize(input.shapes.size(), false);
  place::EngineHost& host = *this;
  engine_ = std::make_unique<place::Engine>(policy_, pools_, host);
  slot_of_.resize(input.jobs.size());
}

Replayed Replay::run() {
  while ((next_job_ < input_.jobs.size() || !running_.empty() || waiting() > 0) && advance()) serve();
  out_.makespan = std::max(0.0, last_end_ - begin_);
  account();
  return std::move(out_);
}

void Replay::serve() {
  if (engine_) return serve_by_engine();
  queue_.serve([&](std::uint32_t job) { return start_plain(job); });
}

double Replay::seconds(std::uint32_t job, std::uint32_t pool, bool spread) const {
  const auto& table = spread && !input_.by_pool_spread.empty() ? input_.by_pool_spread : input_.by_pool;
  return table.empty() ? input_.jobs[job].seconds : table[job * input_.pools.size() + pool];
}

// Pools that could hold such a job if they were empty, and that no filter refuses.
const std::vector<std::uint32_t>& Replay::usable(std::uint32_t job) {
  const std::uint32_t index = input_.jobs[job].shape;
  if (ranking_) {
    requirements_of(job);
    return allowed_[index];
  }
  if (!usable_[index]) {
    const auto& shape = input_.shapes[index];
    usable_[index].emplace();
    for (const auto pool : shape.pools)
      if (place::Pool::could_ever(pools_[pool].node(), pools_[pool].size(), shape.part, shape.parts,
                                  shape.apart))
        usable_[index]->push_back(pool);
  }
  return *usable_[index];
}

// Those by how fast the job is in them; equals in their order.
const std::vector<std::uint32_t>& Replay::preferred(std::uint32_t job) {
  const auto& pools = usable(job);
  if (input_.by_pool.empty() || pools.size() < 2) return pools;
  order_ = pools;
  std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return seconds(job, a, false) < seconds(job, b, false);
  });
  return order_;
}

bool Replay::possible(std::uint32_t job) {
  const auto& pools = usable(job);
  return std::any_of(pools.begin(), pools.end(),
                     [&](std::uint32_t pool) { return std::isfinite(seconds(job, pool, false)); });
}

bool Replay::start_plain(std::uint32_t job) {
  const place::Where rule{.apart = shape_of(job).apart};
  for (const auto pool : preferred(job))
    if (std::isfinite(seconds(job, pool, false)) && start_in(job, pool, rule)) return true;
  return false;
}

bool Replay::start_in(std::uint32_t job, std::uint32_t pool, const place::Where& where) {
  const auto& shape = shape_of(job);
  if (!pools_[pool].take(shape.part, shape.parts, taken_, where)) return false;
  begin(job, pool);
  return true;
}

void Replay::begin(std::uint32_t job, std::uint32_t pool) {
  const double lasts = seconds(job, pool, taken_.size() > 1) * share_left(job);
  const std::uint32_t slot = last_slot_ = take_slot();
  Running& running = slots_[slot];
  running.job = job, running.pool = pool, running.since = now_, running.seconds = lasts;
  running.standing = running.joules = 0, running.settled = false, running.whole = share_left(job) == 1;
  running.shares.swap(taken_);
  running_.set(slot, now_ + lasts);
  if (input_.keep_steps) {
    out_.steps.push_back({now_, true, job, pool, {}});
    for (const auto& share : running.shares) out_.steps.back().nodes.push_back(share.node);
  }
  JobFate& fate = out_.jobs[job];
  fate.started = now_, fate.pool = pool, ++fate.attempts;
}

std::uint32_t Replay::take_slot() {
  if (free_slots_.empty()) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const auto slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

// To the next moment at which something happens, and everything that happens then. False: nothing will.
bool Replay::advance() {
  double next = std::numeric_limits<double>::infinity();
  if (!running_.empty()) next = running_.first_time();
  if (next_job_ < input_.jobs.size()) next = std::min(next, input_.jobs[next_job_].submitted);
  if (!outages_.empty()) next = std::min(next, outages_.first_time());
  if (!arrivals_there_.empty()) next = std::min(next, arrivals_there_.first_time());
  if (freed_ && !running_.empty()) next = std::min(next, next_reschedule());
  if (!std::isfinite(next)) return false;
  for (; input_.sample > 0 && next_sample_ < next; next_sample_ += input_.sample) sample();
  now_ = next;
  while (!running_.empty() && running_.first_time() <= now_) end(running_.pop());
  while (!outages_.empty() && outages_.first_time() <= now_) change_node(outages_.pop());
  while (!arrivals_there_.empty() && arrivals_there_.first_time() <= now_)
    arrive_there(arrivals_there_.pop());
  while (next_job_ < input_.jobs.size() && input_.jobs[next_job_].submitted <= now_) arrive(next_job_++);
  return true;
}

void Replay::arrive(std::uint32_t job) {
  ++out_.events;
  if (possible(job))
    wait(job);
  else
    out_.never.push_back(job);
}

void Replay::wait(std::uint32_t job) {
  const auto& what = input_.jobs[job];
  double fastest = what.seconds;
  if (!input_.by_pool.empty()) fastest = seconds(job, preferred(job).front(), false);
  const auto parts = static_cast<double>(input_.shapes[what.shape].parts);
  const place::JobFacts facts{what.submitted, fastest, parts, what.priority};
  if (engine_) return wait_in_engine(job, facts);
  queue_.add(job, line_of(job), facts);
}

// Jobs that the queue may treat alike: what one finds no room for, the other does not. Where a job can run
// depends on more than its shape when some pools are closed to it.
std::uint32_t Replay::line_of(std::uint32_t job) {
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

void Replay::release(std::uint32_t slot) {
  Running& running = slots_[slot];
  const auto& part = shape_of(running.job).part;
  if (engine_)
    engine_->release(running.job);
  else
    for (const auto& share : running.shares) pools_[running.pool].give_back(part, share);
  running.shares.clear();
  free_slots_.push_back(slot);
  note_room();
}

double Replay::count_use(std::uint32_t job, std::uint32_t pool, double since) {
  const auto& shape = shape_of(job);
  const double ran = (now_ - since) * static_cast<double>(shape.parts);
  out_.core_seconds += ran * static_cast<double>(shape.part.milli_cores) / 1000;
  out_.gpu_seconds += ran * (shape.part.gpus + shape.part.gpu_share / 1000.0);
  const double joules = added_joules(shape, input_.pools[pool], now_ - since);
  added_joules_ += joules;
  return joules;
}

void Replay::end(std::uint32_t slot) {
  ++out_.events;
  undo_move(slot);
  Running& running = slots_[slot];
  running.joules += count_use(running.job, running.pool, running.since);
  out_.jobs[running.job].ended = last_end_ = now_;
  if (predictor_ && running.whole)
    predictor_->ended(running.job, running.pool, {now_ - running.since, running.joules}, now_);
  release(slot);
}

void Replay::stop_slot(std::uint32_t slot) {
  undo_move(slot);
  const Running& running = slots_[slot];
  count_use(running.job, running.pool, running.since);
  running_.erase(slot);
  out_.jobs[running.job].started = JobFate::kNever;
  release(slot);
}

void Replay::plan_failures() {
  failures_ = Failures::drawn(input_.failures->between, input_.failures->repair, input_.seed);
  down_.assign(nodes_, false);
  planned_.resize(nodes_);
  for (std::size_t node = 0; node < nodes_; ++node) plan_failure(node, begin_);
}

void Replay::plan_failure(std::size_t node, double from) {
  planned_[node] = failures_.next(static_cast<NodeId>(node), Seconds{from}).value();
  outages_.set(static_cast<std::uint32_t>(node), planned_[node].from.value);
}

void Replay::change_node(std::uint32_t node) {
  ++out_.events;
  const auto pool = static_cast<std::uint32_t>(
      std::upper_bound(first_node_.begin(), first_node_.end(), node) - first_node_.begin() - 1);
  const auto place = static_cast<std::uint32_t>(node - first_node_[pool]);
  down_[node] = !down_[node];
  if (engine_)
    engine_->set_up(pool, place, !down_[node]);
  else
    pools_[pool].set_up(place, !down_[node]);
  note_room();
  if (!down_[node]) return plan_failure(node, now_);
  ++out_.failures;
  const double until = planned_[node].until.value;
  down_seconds_.emplace_back(pool, std::pair{now_, until});
  outages_.set(node, until);
  lose(pool, place);
}

void Replay::lose(std::uint32_t pool, std::uint32_t node) {
  const auto is_on = [&](const auto& shares) {
    return std::any_of(shares.begin(), shares.end(), [&](const auto& share) { return share.node == node; });
  };
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (!running_.contains(slot)) continue;
    if (arrivals_there_.contains(slot) && moving_[slot].pool == pool && is_on(moving_[slot].shares))
      undo_move(slot);
    const Running running = slots_[slot];
    if (running.pool != pool || !is_on(running.shares)) continue;
    const std::uint32_t job = running.job;
    const double ran = std::max(0.0, now_ - running.since - running.standing);
    const double kept = input_.checkpoint > 0 ? std::floor(ran / input_.checkpoint) * input_.checkpoint : 0;
    out_.lost_seconds += (now_ - running.since - kept) * static_cast<double>(shape_of(job).parts);
    if (running.seconds > running.standing) left_[job] *= 1 - kept / (running.seconds - running.standing);
    stop_slot(slot);
    if (out_.jobs[job].attempts < kMostAttempts)
      wait(job);
    else
      out_.given_up.push_back(job);
  }
}

void Replay::sample() {
  NodeSample out{next_sample_, {}, {}};
  const auto used = [](double free, double all) {
    return all > 0 ? static_cast<float>(1 - free / all) : 0.0F;
  };
  for (const auto& pool : pools_)
    for (std::uint32_t node = 0; node < pool.size(); ++node) {
      const auto free = pool.free_on(node);
      out.cores.push_back(
          used(static_cast<double>(free.milli_cores), static_cast<double>(pool.node().milli_cores)));
      out.memory.push_back(used(static_cast<double>(free.memory), static_cast<double>(pool.node().memory)));
    }
  out_.samples.push_back(std::move(out));
}

// What was there to be used, and what idle nodes drew: from the first submission to the last end.
void Replay::account() {
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

double added_joules(const ReplayShape& shape, const ReplayPool& pool, double seconds) {
  if (!pool.draw) return 0;
  const double all = static_cast<double>(pool.node.milli_cores), parts = static_cast<double>(shape.parts);
  const double cores = all > 0 ? static_cast<double>(shape.part.milli_cores) / all * pool.draw->cores : 0;
  const double gpus = (shape.part.gpus + shape.part.gpu_share / 1000.0) * pool.draw->a_gpu;
  return seconds * parts * (cores + gpus);
}

double idle_joules(const ReplayShape& shape, const ReplayPool& pool, double seconds) {
  if (!pool.draw) return 0;
  const auto share = [](double part, double all) { return all > 0 ? part / all : 0; };
  const double cores =
      share(static_cast<double>(shape.part.milli_cores), static_cast<double>(pool.node.milli_cores));
  const double memory = share(static_cast<double>(shape.part.memory), static_cast<double>(pool.node.memory));
  const double gpus = share(shape.part.gpus + shape.part.gpu_share / 1000.0, pool.node.gpus);
  return seconds * static_cast<double>(shape.parts) * std::max({cores, memory, gpus}) * pool.draw->idle;
}

Replayed replay(const ReplayInput& input, const place::Policy& policy, place::Predictor* predictor) {
  check_input(input);
  if (policy.dropping)
    throw UserError(
        "policy dias drops work of jobs that say what loss they tolerate; a trace does not say so (see "
        "bench/run dias for DiAS in the simulator)");
  return Replay(input, policy, predictor).run();
}

Replayed replay(const ReplayInput& input, const place::OrderEntry& order) {
  return replay(input, place::policy_of(order));
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
