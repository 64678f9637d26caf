#include "sim/step/strategy_parts.h"

#include <algorithm>
#include <utility>

namespace tandem::sim {
namespace {

constexpr std::uint32_t kNoBucket = ~std::uint32_t{0};

// Puts passes into tasks: as many into one as nothing has to wait for in between.
class WorkPlanner {
 public:
  WorkPlanner(Plan& plan, const Setting& setting, const Step& step, std::size_t worker, const Before& before)
      : plan_(plan),
        setting_(setting),
        slot_(setting.placement.workers[worker]),
        samples_(step.samples[worker]),
        slowness_(slowness(step, worker)),
        before_(before),
        used_(before.pulled.size(), false),
        last_(before.begin) {}

  Work run(const std::vector<Bucket>& buckets) {
    std::vector<std::uint32_t> closes(setting_.model.operations.size(), kNoBucket);
    for (std::uint32_t i = 0; i < buckets.size(); ++i) closes[buckets[i].operations.back()] = i;
    Work work;
    work.ready.assign(buckets.size(), kNoTask);
    for (const std::uint32_t index : setting_.order) {
      const Pass& pass = setting_.training.passes[index];
      add(pass);
      const std::uint32_t bucket = pass.backward ? closes[pass.operation] : kNoBucket;
      if (bucket != kNoBucket || !setting_.options.fuse) flush();
      if (bucket != kNoBucket) work.ready[bucket] = last_;
    }
    flush();
    work.last = last_;
    return work;
  }

 private:
  // The parameters that this pass is the first to need; kNoTask: none.
  TaskIndex needed(const Pass& pass) {
    if (pass.backward || before_.pulled.empty() || setting_.model.operations[pass.operation].parameters <= 0)
      return kNoTask;
    const std::uint32_t owner = before_.owner[pass.operation];
    if (used_[owner]) return kNoTask;
    used_[owner] = true;
    return before_.pulled[owner];
  }

  void add(const Pass& pass) {
    const Purpose purpose = pass.backward ? Purpose::backward : Purpose::forward;
    const TaskIndex pulled = needed(pass);
    if (pulled != kNoTask || purpose != open_.purpose) flush();
    if (open_.operations == 0) {
      open_.purpose = purpose;
      open_.operation = pass.operation;
      pulled_ = pulled;
    }
    const Cost cost = pass_cost(*slot_.type, setting_.options.clock_share, setting_.model, pass.operation,
                                pass.backward, samples_);
    open_.amount += slowness_ * cost.seconds;
    open_.memory += slowness_ * cost.memory;
    ++open_.operations;
  }

  void flush() {
    if (open_.operations == 0) return;
    open_.device = slot_.device;
    open_.order = ++flushed_;
    last_ = plan_.add(open_, {last_, pulled_});
    open_ = {};
    pulled_ = kNoTask;
  }

  Plan& plan_;
  const Setting& setting_;
  const DeviceSlot& slot_;
  const std::int64_t samples_;
  const double slowness_;
  const Before& before_;
  std::vector<bool> used_;  // owners whose parameters are waited for already
  Task open_;
  TaskIndex pulled_ = kNoTask, last_;
  std::uint64_t flushed_ = 0;
};

}  // namespace

std::vector<Bucket> make_buckets(const Setting& setting, double least,
                                 const std::vector<std::uint32_t>& owner) {
  std::vector<Bucket> out, open;
  for (const std::uint32_t index : setting.order) {
    const Pass& pass = setting.training.passes[index];
    const double parameters = setting.model.operations[pass.operation].parameters;
    if (!pass.backward || parameters <= 0) continue;
    const std::uint32_t mine = owner.empty() ? 0 : owner[pass.operation];
    if (mine >= open.size()) open.resize(mine + std::size_t{1});
    Bucket& bucket = open[mine];
    bucket.owner = mine;
    bucket.bytes += graph::kBytesAnElement * parameters;
    bucket.operations.push_back(pass.operation);
    if (bucket.bytes < least) continue;
    out.push_back(std::move(bucket));
    bucket = {};
  }
  for (Bucket& rest : open)
    if (!rest.operations.empty()) out.push_back(std::move(rest));
  return out;
}

TaskIndex add_feed(Plan& plan, const Setting& setting, const Step& step, std::size_t worker,
                   TaskIndex earlier) {
  const DeviceSlot& slot = setting.placement.workers[worker];
  if (setting.workload.sample_bytes <= 0 || slot.node_type->feed <= 0 || step.samples[worker] == 0)
    return earlier;
  double elements = 0;
  for (const graph::Operation& operation : setting.model.operations)
    if (operation.kind == graph::Kind::input) elements += operation.outputs;
  Task task;
  task.purpose = Purpose::feed;
  task.device = slot.device;
  task.amount = graph::kBytesAnElement * elements * static_cast<double>(step.samples[worker]);
  return plan.add(task, {earlier});
}

TaskIndex add_read(Plan& plan, const Setting& setting, std::size_t worker, std::int64_t samples,
                   TaskIndex earlier) {
  if (setting.workload.sample_bytes <= 0 || samples == 0) return kNoTask;
  Task task;
  task.purpose = Purpose::read;
  task.device = setting.placement.workers[worker].device;
  task.amount = setting.workload.sample_bytes * static_cast<double>(samples);
  return plan.add(task, {earlier});
}

void add_reads(Plan& plan, const Setting& setting, const std::vector<std::int64_t>& samples) {
  for (std::size_t worker = 0; worker < samples.size(); ++worker)
    add_read(plan, setting, worker, samples[worker], kNoTask);
}

Work add_work(Plan& plan, const Setting& setting, const Step& step, std::size_t worker,
              const std::vector<Bucket>& buckets, const Before& before) {
  Work work;
  if (step.samples[worker] == 0) {
    work.last = plan.join({before.begin});
    work.ready.assign(buckets.size(), work.last);
    return work;
  }
  work = WorkPlanner(plan, setting, step, worker, before).run(buckets);
  if (!setting.workload.overlap) work.ready.assign(buckets.size(), work.last);
  return work;
}

std::vector<Work> add_all_work(Plan& plan, const Setting& setting, const Step& step,
                               const std::vector<Bucket>& buckets) {
  std::vector<Work> out;
  for (std::size_t worker = 0; worker < setting.placement.workers.size(); ++worker) {
    Before before;
    before.begin = add_feed(plan, setting, step, worker, kNoTask);
    out.push_back(add_work(plan, setting, step, worker, buckets, before));
  }
  return out;
}

std::vector<TaskIndex> ends_of(const std::vector<Work>& works) {
  std::vector<TaskIndex> out;
  for (const Work& work : works) out.push_back(work.last);
  return out;
}

double slowness(const Step& step, std::size_t worker) {
  return step.slowness.empty() ? 1 : step.slowness[worker];
}

double clock_share(const Setting& setting, const DeviceSlot& slot) {
  const auto& workers = setting.placement.workers;
  const bool lowered = std::any_of(workers.begin(), workers.end(),
                                   [&](const DeviceSlot& worker) { return worker.type == slot.type; });
  return lowered ? setting.options.clock_share : 1;
}

Plan plan_alone(const Setting& setting, const Step& step) {
  Plan plan;
  plan.trained = plan.join(ends_of(add_all_work(plan, setting, step, {})));
  return plan;
}

}  // namespace tandem::sim
