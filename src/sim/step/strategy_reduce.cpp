#include <algorithm>
#include <map>

#include "sim/step/strategy_parts.h"

namespace tandem::sim {
namespace {

using Ring = std::vector<DeviceId>;

// All bytes go round a ring once (reduce-scatter, or gather) or twice (all-reduce); a link carries (n-1) / n
// of them each time. One long message a link takes as long as the 2 (n-1) short ones: each short one waits
// only for one of the same size from its neighbour.
TaskIndex add_ring(Plan& plan, const Ring& ring, double bytes, std::uint32_t rounds, TaskIndex earlier) {
  if (ring.size() < 2) return earlier;
  const auto others = static_cast<std::uint32_t>(ring.size() - 1);
  std::vector<TaskIndex> out;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    Task task;
    task.purpose = Purpose::reduce;
    task.device = ring[i];
    task.peer = ring[(i + 1) % ring.size()];
    task.amount = bytes * rounds * others / (others + 1.0);
    task.messages = rounds * others;
    out.push_back(plan.add(task, {earlier}));
  }
  return plan.join(out);
}

TaskIndex add_rings(Plan& plan, const std::vector<Ring>& rings, double bytes, std::uint32_t rounds,
                    TaskIndex earlier) {
  std::vector<TaskIndex> out;
  for (const Ring& ring : rings) out.push_back(add_ring(plan, ring, bytes, rounds, earlier));
  return plan.join(out);
}

// A bucket is ready when all workers have it.
TaskIndex add_ready(Plan& plan, const std::vector<Work>& works, std::size_t bucket, TaskIndex previous) {
  std::vector<TaskIndex> all{previous};
  for (const Work& work : works) all.push_back(work.ready[bucket]);
  return plan.join(all);
}

TaskIndex add_end(Plan& plan, const Setting& setting, const std::vector<Work>& works, TaskIndex reduced) {
  auto ends = ends_of(works);
  ends.push_back(reduced);
  const TaskIndex end = plan.join(ends);
  if (setting.options.launch <= 0 || works.size() < 2) return end;
  Task task;
  task.purpose = Purpose::launch;
  task.device = setting.placement.workers.front().device;
  task.amount = setting.options.launch * static_cast<double>(works.size() - 1);
  return plan.add(task, {end});
}

struct Rings {
  std::vector<Ring> within{};  // a node each
  std::vector<Ring> across{};  // the first workers of all nodes, the second ones...
};

Rings rings_of(const Placement& placement) {
  std::map<std::uint32_t, Ring> nodes;
  for (const DeviceSlot& worker : placement.workers) nodes[worker.node].push_back(worker.device);
  Rings out;
  std::size_t fewest = placement.workers.size();
  for (const auto& [node, ring] : nodes) {
    out.within.push_back(ring);
    fewest = std::min(fewest, ring.size());
  }
  for (std::size_t i = 0; i < fewest; ++i) {
    Ring ring;
    for (const Ring& node : out.within) ring.push_back(node[i]);
    out.across.push_back(ring);
  }
  return out;
}

// One worker's copies to and from all others, in order for each pair.
class Copies {
 public:
  Copies(Plan& plan, const std::vector<DeviceSlot>& workers)
      : plan_(plan), workers_(workers), last_(workers.size() * workers.size(), kNoTask) {}

  TaskIndex add(Purpose purpose, std::size_t from, std::size_t to, double bytes, TaskIndex earlier) {
    TaskIndex& last = last_[from * workers_.size() + to];
    last = plan_.copy(purpose, workers_[from].device, workers_[to].device, bytes, {earlier, last});
    return last;
  }

 private:
  Plan& plan_;
  const std::vector<DeviceSlot>& workers_;
  std::vector<TaskIndex> last_;
};

}  // namespace

Plan plan_all_reduce(const Setting& setting, const Step& step) {
  Plan plan;
  const auto buckets = make_buckets(setting, setting.options.bucket);
  const auto works = add_all_work(plan, setting, step, buckets);
  Ring ring;
  for (const DeviceSlot& worker : setting.placement.workers) ring.push_back(worker.device);
  TaskIndex previous = kNoTask;
  for (std::size_t i = 0; i < buckets.size(); ++i)
    previous = add_ring(plan, ring, buckets[i].bytes, 2, add_ready(plan, works, i, previous));
  plan.trained = add_end(plan, setting, works, previous);
  return plan;
}

Plan plan_hierarchical(const Setting& setting, const Step& step) {
  Plan plan;
  const auto buckets = make_buckets(setting, setting.options.bucket);
  const auto works = add_all_work(plan, setting, step, buckets);
  const Rings rings = rings_of(setting.placement);
  const auto lanes = static_cast<double>(rings.across.size());
  TaskIndex scattered = kNoTask, summed = kNoTask, gathered = kNoTask;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const double bytes = buckets[i].bytes;
    scattered = add_rings(plan, rings.within, bytes, 1, add_ready(plan, works, i, scattered));
    summed = add_rings(plan, rings.across, bytes / lanes, 2, plan.join({scattered, summed}));
    gathered = add_rings(plan, rings.within, bytes, 1, plan.join({summed, gathered}));
  }
  plan.trained = add_end(plan, setting, works, gathered);
  return plan;
}

Plan plan_replicated(const Setting& setting, const Step& step) {
  Plan plan;
  const auto& workers = setting.placement.workers;
  const auto buckets = make_buckets(setting, setting.options.copy_bucket);
  const auto works = add_all_work(plan, setting, step, buckets);
  auto ends = ends_of(works);
  Copies in(plan, workers), out(plan, workers);
  for (std::size_t i = 0; i < buckets.size() && workers.size() > 1; ++i) {
    const std::size_t owner = i % workers.size();
    std::vector<TaskIndex> arrived;
    for (std::size_t worker = 0; worker < workers.size(); ++worker)
      if (step.samples[worker] > 0)
        arrived.push_back(in.add(Purpose::push, worker, owner, buckets[i].bytes, works[worker].ready[i]));
    const DeviceSlot& slot = workers[owner];
    const TaskIndex sum =
        plan.compute(Purpose::update, slot.device,
                     update_cost(*slot.type, clock_share(setting, slot), buckets[i].bytes, arrived.size()));
    plan.after(sum, arrived);
    for (std::size_t worker = 0; worker < workers.size(); ++worker)
      ends.push_back(out.add(Purpose::pull, owner, worker, buckets[i].bytes, sum));
  }
  plan.trained = plan.join(ends);
  return plan;
}

}  // namespace tandem::sim
