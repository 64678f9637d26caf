#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "sim/step/strategy_parts.h"

namespace tandem::sim {
namespace {

// Which server has which variables.
struct Shards {
  std::vector<std::uint32_t> owner{};  // of each operation
  std::vector<double> bytes{};         // of each server
  double all = 0;
};

Shards make_shards(const Setting& setting) {
  Shards out;
  out.bytes.assign(setting.placement.servers.size(), 0);
  for (const graph::Operation& operation : setting.model.operations) {
    const auto least = std::min_element(out.bytes.begin(), out.bytes.end());
    const double bytes = graph::kBytesAnElement * operation.parameters;
    out.owner.push_back(static_cast<std::uint32_t>(least - out.bytes.begin()));
    *least += bytes;
    out.all += bytes;
  }
  return out;
}

// A parameter server's part of a plan: what all its steps have in common.
class Servers {
 public:
  Servers(Plan& plan, const Setting& setting)
      : plan_(plan),
        setting_(setting),
        servers_(setting.placement.servers),
        shards_(make_shards(setting)),
        buckets_(make_buckets(setting, setting.options.copy_bucket, shards_.owner)) {}

  // One step of some workers together, from `earlier` until their gradients are in the variables.
  TaskIndex add_step(const Step& step, const std::vector<std::size_t>& workers, TaskIndex earlier) {
    std::vector<std::vector<TaskIndex>> arrived(buckets_.size());
    std::vector<TaskIndex> ends;
    for (const std::size_t worker : workers) {
      const DeviceId device = setting_.placement.workers[worker].device;
      Before before{add_feed(plan_, setting_, step, worker, earlier), shards_.owner};
      before.pulled = pull(device, before.begin);
      const Work work = add_work(plan_, setting_, step, worker, buckets_, before);
      push(device, work.ready, arrived);
      ends.push_back(work.last);
    }
    update(arrived, ends);
    return plan_.join(ends);
  }

  // The same, with one copy for all workers of a node.
  TaskIndex add_step_by_nodes(const Step& step,
                              const std::map<std::uint32_t, std::vector<std::size_t>>& nodes) {
    std::vector<std::vector<TaskIndex>> arrived(buckets_.size());
    std::vector<TaskIndex> ends;
    for (const auto& [node, workers] : nodes) add_node(step, workers, arrived, ends);
    update(arrived, ends);
    return plan_.join(ends);
  }

 private:
  // From every server that has something; all at once.
  std::vector<TaskIndex> pull(DeviceId to, TaskIndex earlier) {
    std::vector<TaskIndex> out;
    for (std::size_t i = 0; i < servers_.size(); ++i)
      out.push_back(shards_.bytes[i] > 0
                        ? plan_.copy(Purpose::pull, servers_[i].device, to, shards_.bytes[i], {earlier})
                        : kNoTask);
    return out;
  }

  // To each server one bucket after the other.
  void push(DeviceId from, const std::vector<TaskIndex>& ready,
            std::vector<std::vector<TaskIndex>>& arrived) {
    std::vector<TaskIndex> previous(servers_.size(), kNoTask);
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      TaskIndex& last = previous[buckets_[i].owner];
      last = plan_.copy(Purpose::push, from, servers_[buckets_[i].owner].device, buckets_[i].bytes,
                        {ready[i], last});
      arrived[i].push_back(last);
    }
  }

  TaskIndex sum(const DeviceSlot& slot, double bytes, const std::vector<TaskIndex>& copies) {
    const TaskIndex id =
        plan_.compute(Purpose::update, slot.device,
                      update_cost(*slot.type, clock_share(setting_, slot), bytes, copies.size()));
    plan_.after(id, copies);
    return id;
  }

  void update(const std::vector<std::vector<TaskIndex>>& arrived, std::vector<TaskIndex>& ends) {
    for (std::size_t i = 0; i < buckets_.size(); ++i)
      ends.push_back(sum(servers_[buckets_[i].owner], buckets_[i].bytes, arrived[i]));
  }

  void add_node(const Step& step, const std::vector<std::size_t>& workers,
                std::vector<std::vector<TaskIndex>>& arrived, std::vector<TaskIndex>& ends) {
    const DeviceSlot& host = host_of(workers.front());
    std::vector<TaskIndex> fed;
    for (const std::size_t worker : workers) fed.push_back(add_feed(plan_, setting_, step, worker, kNoTask));
    const TaskIndex begin = plan_.join(fed);
    const TaskIndex fetched = plan_.join(pull(host.device, begin));
    std::vector<std::vector<TaskIndex>> gathered(buckets_.size());
    for (const std::size_t worker : workers) {
      const DeviceId device = setting_.placement.workers[worker].device;
      // Handed on while it arrives, so both begin together.
      const TaskIndex handed = plan_.copy(Purpose::pull, host.device, device, shards_.all, {begin});
      Before before;
      before.begin = plan_.join({fetched, handed});
      const Work work = add_work(plan_, setting_, step, worker, buckets_, before);
      ends.push_back(work.last);
      TaskIndex last = kNoTask;
      for (std::size_t i = 0; i < buckets_.size(); ++i) {
        last = plan_.copy(Purpose::push, device, host.device, buckets_[i].bytes, {work.ready[i], last});
        gathered[i].push_back(last);
      }
    }
    std::vector<TaskIndex> ready;
    for (std::size_t i = 0; i < buckets_.size(); ++i)
      ready.push_back(sum(host, buckets_[i].bytes, gathered[i]));
    push(host.device, ready, arrived);
  }

  const DeviceSlot& host_of(std::size_t worker) const {
    const auto& host = setting_.placement.hosts[worker];
    if (!host)
      throw UserError(
          fmt::format("workload '{}': node type '{}' has no processor for the copy its workers share",
                      printable(setting_.workload.name, 80),
                      printable(setting_.placement.workers[worker].node_type->name, 80)));
    return *host;
  }

  Plan& plan_;
  const Setting& setting_;
  const std::vector<DeviceSlot>& servers_;
  Shards shards_;
  std::vector<Bucket> buckets_;
};

std::vector<std::size_t> with_samples(const Step& step) {
  std::vector<std::size_t> out;
  for (std::size_t worker = 0; worker < step.samples.size(); ++worker)
    if (step.samples[worker] > 0) out.push_back(worker);
  return out;
}

}  // namespace

Plan plan_parameter_server(const Setting& setting, const Step& step) {
  Plan plan;
  plan.trained = Servers(plan, setting).add_step(step, with_samples(step), kNoTask);
  return plan;
}

Plan plan_distributed_replicated(const Setting& setting, const Step& step) {
  Plan plan;
  std::map<std::uint32_t, std::vector<std::size_t>> nodes;
  for (const std::size_t worker : with_samples(step))
    nodes[setting.placement.workers[worker].node].push_back(worker);
  plan.trained = Servers(plan, setting).add_step_by_nodes(step, nodes);
  return plan;
}

Plan plan_asynchronous(const Setting& setting, const std::vector<Step>& steps) {
  Plan plan;
  Servers servers(plan, setting);
  std::vector<TaskIndex> ends;
  for (std::size_t worker = 0; worker < setting.placement.workers.size(); ++worker) {
    Task begin;
    begin.purpose = Purpose::begin;
    begin.device = setting.placement.workers[worker].device;
    TaskIndex done = kNoTask;
    TaskIndex read = add_read(plan, setting, worker, steps.front().samples[worker], kNoTask);
    for (std::size_t i = 0; i < steps.size() && steps[i].samples[worker] > 0; ++i) {
      begin.previous = done;
      const TaskIndex begun = plan.add(begin, {done, read});
      const bool more = i + 1 < steps.size();
      read = more ? add_read(plan, setting, worker, steps[i + 1].samples[worker], begun) : kNoTask;
      done = servers.add_step(steps[i], {worker}, begun);
    }
    ends.push_back(done);
  }
  plan.trained = plan.join(ends);
  return plan;
}

}  // namespace tandem::sim
