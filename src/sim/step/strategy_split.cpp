#include <algorithm>
#include <compare>
#include <map>
#include <numeric>
#include <utility>

#include "sim/step/strategy_parts.h"
#include "sim/workload/run_samples.h"

namespace tandem::sim {
namespace {

constexpr std::int64_t kMicroBatchesAWorker = 4;

// Every pass of every micro-batch is a task of the worker that has the operation; what crosses is sent.
class SplitPlanner {
 public:
  SplitPlanner(const Setting& setting, const Step& step, std::size_t micro_batches)
      : setting_(setting), step_(step), passes_(setting.training.passes) {
    const std::int64_t all = std::accumulate(step.samples.begin(), step.samples.end(), std::int64_t{0});
    shares_ = divide(all, micro_batches);
  }

  Plan run() {
    const TaskIndex begin = add_feed(plan_, setting_, step_, 0, kNoTask);
    for (std::size_t micro = 0; micro < shares_.size(); ++micro) add_passes(micro);
    for (std::size_t micro = 0; micro < shares_.size(); ++micro) connect(micro, begin);
    if (shares_.size() > 1) flush();
    plan_.trained = plan_.join(ends());
    return std::move(plan_);
  }

 private:
  std::uint32_t part(std::size_t pass) const { return setting_.part[passes_[pass].operation]; }
  DeviceId device(std::uint32_t worker) const { return setting_.placement.workers[worker].device; }
  TaskIndex task(std::size_t micro, std::size_t pass) const { return tasks_[micro * passes_.size() + pass]; }

  // Forward in the order of micro-batches, then backward in the opposite one.
  std::uint64_t order(std::size_t micro, std::size_t pass) const {
    const std::size_t all = shares_.size();
    const std::size_t block = passes_[pass].backward ? 2 * all - 1 - micro : micro;
    return std::uint64_t{block} * passes_.size() + (passes_.size() - 1 - setting_.ranks[pass]);
  }

  void add_passes(std::size_t micro) {
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      const Pass& pass = passes_[i];
      const DeviceSlot& slot = setting_.placement.workers[part(i)];
      const Cost cost = pass_cost(*slot.type, setting_.options.clock_share, setting_.model, pass.operation,
                                  pass.backward, shares_[micro]);
      const TaskIndex id = plan_.compute(pass.backward ? Purpose::backward : Purpose::forward, slot.device,
                                         cost * slowness(step_, part(i)), order(micro, i));
      plan_.tasks[id].operations = 1;
      plan_.tasks[id].operation = pass.operation;
      tasks_.push_back(id);
    }
  }

  void connect(std::size_t micro, TaskIndex begin) {
    sends_.clear();
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      const TaskIndex mine = task(micro, i);
      if (passes_[i].inputs.empty()) plan_.after(mine, begin);
      for (const std::uint32_t input : passes_[i].inputs) {
        const TaskIndex other = task(micro, input);
        plan_.after(mine, part(input) == part(i) ? other : send(micro, input, i, other));
      }
    }
  }

  // A tensor goes to a part once, whoever reads it there; its gradient comes back once, when all there have
  // added theirs.
  TaskIndex send(std::size_t micro, std::size_t from, std::size_t to, TaskIndex earlier) {
    const bool backward = passes_[to].backward;
    const std::uint32_t operation = passes_[backward ? to : from].operation;
    const std::uint32_t other_part = backward ? part(from) : part(to);
    TaskIndex& known = sends_.try_emplace({backward, operation, other_part}, kNoTask).first->second;
    if (known == kNoTask) {
      const double bytes = graph::kBytesAnElement * setting_.model.operations[operation].outputs *
                           static_cast<double>(shares_[micro]);
      known = plan_.copy(Purpose::send, device(part(from)), device(part(to)), bytes);
      plan_.tasks[known].operation = operation;
    }
    plan_.after(known, earlier);
    return known;
  }

  // A worker does all its forward passes before its first backward one.
  void flush() {
    std::vector<TaskIndex> forward(setting_.placement.workers.size());
    for (TaskIndex& barrier : forward) barrier = plan_.join({});
    for (std::size_t micro = 0; micro < shares_.size(); ++micro)
      for (std::size_t i = 0; i < passes_.size(); ++i) {
        if (passes_[i].backward)
          plan_.after(task(micro, i), forward[part(i)]);
        else
          plan_.after(forward[part(i)], task(micro, i));
      }
  }

  std::vector<TaskIndex> ends() const {
    std::vector<TaskIndex> out;
    for (std::size_t micro = 0; micro < shares_.size(); ++micro)
      for (std::size_t i = 0; i < passes_.size(); ++i)
        if (passes_[i].outputs.empty()) out.push_back(task(micro, i));
    return out;
  }

  struct Message {
    bool backward = false;
    std::uint32_t operation = 0, part = 0;
    auto operator<=>(const Message&) const = default;
  };

  const Setting& setting_;
  const Step& step_;
  const std::vector<Pass>& passes_;
  std::vector<std::int64_t> shares_;  // samples of each micro-batch
  Plan plan_;
  std::vector<TaskIndex> tasks_;  // micro-batch × pass
  std::map<Message, TaskIndex> sends_;
};

}  // namespace

Plan plan_model(const Setting& setting, const Step& step) {
  return SplitPlanner(setting, step, 1).run();
}

Plan plan_pipeline(const Setting& setting, const Step& step) {
  const std::int64_t all = std::accumulate(step.samples.begin(), step.samples.end(), std::int64_t{0});
  const auto workers = static_cast<std::int64_t>(setting.placement.workers.size());
  const std::int64_t wanted = setting.options.micro_batches;
  const std::int64_t many = std::min(wanted > 0 ? wanted : kMicroBatchesAWorker * workers, all);
  return SplitPlanner(setting, step, static_cast<std::size_t>(many)).run();
}

}  // namespace tandem::sim
