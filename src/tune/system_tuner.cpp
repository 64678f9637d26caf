#include "tune/system_tuner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/numeric/median.h"
#include "tune/batches.h"
#include "tune/goals.h"

namespace tandem::tune {
namespace {

constexpr double kMemoryRoom = 1.5;       // over what was seen resident: peaks lie between the samples
constexpr double kBenefitOfDoubt = 0.85;  // of a single measurement
constexpr double kClearlyDearer = 1.05;
constexpr double kLongEpoch = 3;  // seconds: several slices of half a second fit in

// Choices up to what may be set here; where nothing may be set (0), things stay as they are.
void keep_settable(std::vector<double>& choices, double most) {
  std::erase_if(choices, [&](double choice) { return choice > most; });
  if (choices.empty()) choices.push_back(0);
}

// Most watts and highest clock first: what is found there tells which lower ones are worth a look.
std::vector<Resources> every_configuration(const spec::SystemSpace& space) {
  std::vector<Resources> out;
  for (int cores : space.cores)
    for (double speed : space.speed)
      for (Bytes memory : space.memory)
        for (Precision precision : space.precision)
          for (auto clock = space.gpu_clock.rbegin(); clock != space.gpu_clock.rend(); ++clock)
            for (auto power = space.gpu_power.rbegin(); power != space.gpu_power.rend(); ++power)
              out.push_back(
                  {cores, memory, speed, space.gpus, space.gpu_memory, Watts{*power}, *clock, precision});
  return out;
}

}  // namespace

spec::SystemSpace on_node(const spec::SystemSpace& space, const NodeView& node) {
  spec::SystemSpace out = space;
  std::erase_if(out.cores, [&](int cores) { return cores > node.capacity.cores; });
  std::erase_if(out.memory, [&](Bytes memory) { return memory > node.capacity.memory; });
  if (space.cores.empty()) {
    for (int cores = 1; cores < node.capacity.cores; cores *= 2) out.cores.push_back(cores);
    out.cores.push_back(node.capacity.cores);
  }
  if (space.memory.empty()) out.memory.push_back(0);
  if (space.speed.empty()) out.speed.push_back(1.0);
  keep_settable(out.gpu_power, node.capacity.gpu_power.value);
  keep_settable(out.gpu_clock, node.capacity.gpu_clock);
  if (space.precision.empty()) out.precision.push_back(Precision::own);
  return out;
}

int gpu_places(const spec::SystemSpace& space, const NodeView& node) {
  if (space.gpus == 0) return std::numeric_limits<int>::max();
  const Bytes on_each = space.gpu_memory > 0 ? node.capacity.gpu_memory / space.gpu_memory : 1;
  return static_cast<int>(node.capacity.gpus * on_each) / space.gpus;
}

bool first_of_process(const TaskView& task, std::size_t epoch) {
  return epoch == 0 || task.epochs[epoch].attempt != task.epochs[epoch - 1].attempt;
}

double batch_of(const Values& hyper) {
  for (const char* name : {"batch_size", "batch", "batch-size"})
    if (const auto found = hyper.find(name); found != hyper.end())
      return as_number(found->second).value_or(0);
  return 0;
}

SystemTuner::SystemTuner(const spec::TuneJob& job, const NodeView& node, std::vector<KnownWorkload> known)
    : job_(job),
      machine_(node.type),
      space_(on_node(job.system, node)),
      energy_counts_(job.objective.cost || has_goal(job.objective, "energy")),
      time_counts_(has_goal(job.objective, "train_time")),
      known_(std::move(known)),
      known_works_(make_similarity(job.similarity, known_)) {
  if (space_.cores.empty() || space_.memory.empty()) return;
  reference_ = {space_.cores.front(),    space_.memory.back(),
                space_.speed.back(),     space_.gpus,
                space_.gpu_memory,       Watts{space_.gpu_power.back()},
                space_.gpu_clock.back(), space_.precision.front()};
}

std::vector<Resources> SystemTuner::configurations(const Values& hyper) const {
  std::vector<Resources> out;
  for (const Resources& system : every_configuration(space_)) {
    Values with = hyper;
    with["cores"] = std::int64_t{system.cores};
    with["speed"] = system.speed;
    with["memory"] = std::int64_t{system.memory};
    if (spec::allowed(job_.hyper, with)) out.push_back(system);
  }
  return out;
}

Bytes SystemTuner::memory_for(const WorkloadClass* workload, const std::vector<Bytes>& choices) const {
  if (workload && workload->memory() > 0)
    for (Bytes memory : choices)
      if (static_cast<double>(memory) >= kMemoryRoom * static_cast<double>(workload->memory())) return memory;
  return choices.back();
}

std::int32_t SystemTuner::workload_of(TaskId task) const {
  const auto found = workload_of_.find(task);
  return found == workload_of_.end() ? -1 : found->second;
}

void SystemTuner::assign(TaskId task, std::int32_t workload) {
  if (workload < 0 || static_cast<std::size_t>(workload) >= workloads_.size()) return;
  if (workload_of_.emplace(task, workload).second) ++workloads_[static_cast<std::size_t>(workload)].trials;
}

// The work of this batch size that most trials turned out to be.
std::int32_t SystemTuner::presumed(double batch) const {
  std::int32_t best = -1;
  for (std::size_t i = 0; i < workloads_.size(); ++i)
    if (workloads_[i].batch() == batch &&
        (best < 0 || workloads_[i].trials > workloads_[static_cast<std::size_t>(best)].trials))
      best = static_cast<std::int32_t>(i);
  return best;
}

SystemPlan SystemTuner::plan(TaskId task, const Values& hyper) {
  auto all = configurations(hyper);
  if (all.empty()) return {};
  if (!workload_of_.contains(task)) assign(task, presumed(batch_of(hyper)));
  const std::int32_t workload = workload_of(task);
  // The reference, or what is nearest to it among what the constraints allow. A workload class that has
  // forgotten begins with it again: what more cores are worth can only be told against it.
  const auto found = std::find(all.begin(), all.end(), reference_);
  const Resources first = found != all.end() ? *found : all.front();
  if (workload < 0 || !workloads_[static_cast<std::size_t>(workload)].measured(first))
    return {{{first, 1.0}}, Phase::profiling, workload};
  return energy_counts_ || job_.warm_repetitions ? plan_for_energy(all, workload)
                                                 : plan_for_time(all, workload);
}

// How long later epochs take, of a first one, where a workload class has shown both.
double SystemTuner::warmth() const {
  std::vector<double> seen;
  for (const auto& workload : workloads_)
    if (const auto warmth = workload.warmth()) seen.push_back(*warmth);
  return seen.empty() ? 1 : stats::median(std::move(seen));
}

// What was not measured is told by other batch sizes of the job, or predicted.
Cost SystemTuner::expected(const WorkloadClass& workload, const Resources& system) const {
  const double warm = warmth();
  Cost cost = workload.cost(system, warm);
  if (cost.measured) {
    // One epoch may have been unlucky: worth a second look when it was close.
    if (workload.epochs(system) == 1 && !(system.cores == reference_.cores)) cost.seconds *= kBenefitOfDoubt;
    return cost;
  }
  std::vector<BatchSeen> seen;
  for (const auto& other : workloads_) {
    if (!other.measured(reference_)) continue;
    seen.push_back({other.batch(), other.cost(reference_, warm).seconds, std::nullopt});
    if (other.measured(system)) seen.back().there = other.cost(system, warm).seconds;
  }
  if (const auto ratio = expected_ratio(workload.batch(), seen, least_ratio(reference_, system)))
    cost.seconds = *ratio * workload.cost(reference_, warm).seconds;
  else if (!workload.reused())
    cost.seconds = std::min(cost.seconds, workload.hoped(system, warm));
  return cost;
}

// Of configurations with as many cores: full speed, all watts and the highest clock are never slower; which
// precision is quickest is tried.
std::pair<Resources, Cost> SystemTuner::quickest(const WorkloadClass& workload,
                                                 const std::vector<Resources>& systems) const {
  Resources full = systems.front();
  std::vector<Bytes> memories;
  std::vector<Precision> precisions;
  for (const auto& system : systems) {
    full.speed = std::max(full.speed, system.speed);
    full.gpu_power = std::max(full.gpu_power, system.gpu_power);
    full.gpu_clock = std::max(full.gpu_clock, system.gpu_clock);
    memories.push_back(system.memory);
    if (std::find(precisions.begin(), precisions.end(), system.precision) == precisions.end())
      precisions.push_back(system.precision);
  }
  std::sort(memories.begin(), memories.end());
  full.memory = memory_for(&workload, memories);
  std::optional<std::pair<Resources, Cost>> best;
  for (const Precision precision : precisions) {
    full.precision = precision;
    Cost cost = expected(workload, full);
    if (!cost.measured && precisions.size() > 1) cost.seconds *= kBenefitOfDoubt;
    if (!best || cost.seconds < best->second.seconds) best = {full, cost};
  }
  return *best;
}

SystemPlan SystemTuner::plan_for_time(const std::vector<Resources>& all, std::int32_t number) const {
  const WorkloadClass& workload = workloads_[static_cast<std::size_t>(number)];
  std::map<int, std::vector<Resources>> by_cores;
  for (const auto& system : all) by_cores[system.cores].push_back(system);
  SystemPlan plan{{}, workload.reused() ? Phase::reusing : Phase::settled, number};
  for (const auto& [cores, systems] : by_cores) {
    const auto [system, cost] = quickest(workload, systems);
    plan.options.push_back({system, cost.seconds});
    // What an earlier job did not measure is predicted from what it did.
    if (!cost.measured && !workload.reused()) plan.phase = Phase::probing;
  }
  return plan;
}

double SystemTuner::cost(const Cost& of) const {
  if (const auto& weights = job_.objective.cost; weights && of.joules)
    return cost_of(*weights, Joules{*of.joules}, Seconds{of.seconds}, time_price_).value;
  const double joules = of.joules.value_or(of.seconds);
  return time_counts_ ? joules * of.seconds : joules;
}

// What an epoch costs falls and then rises as a GPU is given fewer watts, or a lower clock: once the one
// above was clearly dearer than a higher one, lower ones are not worth a look. `higher`: from the highest
// down.
bool SystemTuner::clearly_rising(const WorkloadClass& workload, const std::vector<Resources>& higher) const {
  std::optional<double> least, nearest;
  for (const auto& system : higher) {
    if (!workload.measured(system)) continue;
    nearest = cost(workload.cost(system, warmth()));
    least = std::min(least.value_or(*nearest), *nearest);
  }
  return nearest && *nearest > kClearlyDearer * *least;
}

bool SystemTuner::past_the_best(const WorkloadClass& workload, const Resources& system) const {
  std::vector<Resources> watts, clocks;
  for (auto power = space_.gpu_power.rbegin(); power != space_.gpu_power.rend(); ++power)
    if (*power > system.gpu_power.value) watts.emplace_back(system).gpu_power.value = *power;
  for (auto clock = space_.gpu_clock.rbegin(); clock != space_.gpu_clock.rend(); ++clock)
    if (*clock > system.gpu_clock) clocks.emplace_back(system).gpu_clock = *clock;
  return clearly_rising(workload, watts) || clearly_rising(workload, clocks);
}

SystemPlan SystemTuner::plan_for_energy(const std::vector<Resources>& all, std::int32_t number) const {
  const WorkloadClass& workload = workloads_[static_cast<std::size_t>(number)];
  std::vector<Bytes> memories = space_.memory;
  const Bytes memory = memory_for(&workload, memories);
  std::optional<Option> best, unknown;
  double best_cost = 0;
  for (const auto& system : all) {
    if (system.memory != memory) continue;
    const Cost of = workload.cost(system, warmth());
    if (workload.epochs(system) < job_.warm_repetitions.value_or(1)) {
      if (!job_.warm_repetitions && past_the_best(workload, system)) continue;
      // In the order of the grid; the ones that look quickest first when there are many.
      if (!unknown || (all.size() > 16 && of.seconds < unknown->seconds))
        unknown = Option{system, of.seconds};
    } else if (!best || cost(of) < best_cost) {
      best = Option{system, of.seconds};
      best_cost = cost(of);
    }
  }
  if (unknown) return {{*unknown}, Phase::probing, number, worth_slicing(workload)};
  if (!best) return {{{all.front(), 1.0}}, Phase::settled, number};
  return {{*best}, workload.reused() ? Phase::reusing : Phase::settled, number};
}

// Where a slice is a small part of an epoch; shorter epochs are probed one by one.
bool SystemTuner::worth_slicing(const WorkloadClass& workload) const {
  const bool settings = space_.gpu_power.size() > 1 || space_.gpu_clock.size() > 1;
  return settings && !job_.warm_repetitions && workload.cost(reference_, warmth()).seconds > kLongEpoch;
}

void SystemTuner::saw(const TaskView& task, const SliceEnded& slice) {
  const std::int32_t workload = workload_of(task.id);
  if (workload < 0 || slice.share <= 0) return;
  EpochRecord whole{.seconds = slice.seconds / slice.share};
  if (slice.energy) whole.energy = Energy{slice.energy->joules / slice.share, slice.energy->source};
  whole.granted = task.granted;
  if (workloads_[static_cast<std::size_t>(workload)].add(whole, false)) ++shifts_;
}

std::optional<SlicePlan> SystemTuner::retune(const TaskView& task, const Values& hyper) const {
  const std::int32_t workload = workload_of(task.id);
  if (workload < 0 || !task.slices) return std::nullopt;
  // Only what can be changed while the program computes.
  std::vector<Resources> within;
  for (Resources system : configurations(hyper)) {
    Resources now = system;
    now.gpu_power = task.granted.gpu_power, now.gpu_clock = task.granted.gpu_clock;
    if (same_speed(now, task.granted)) within.push_back(system);
  }
  if (within.empty()) return std::nullopt;
  const auto plan = plan_for_energy(within, workload);
  const bool more = plan.phase == Phase::probing;
  const Resources& next = plan.options.front().resources;
  if (more && same_speed(next, task.granted)) return std::nullopt;
  return SlicePlan{next, more};
}

// The work this profile belongs to: one of this job's, one like an earlier job's, or a new one.
std::int32_t SystemTuner::classify(const EpochRecord& record, double batch) {
  WorkloadClass fresh(batch, record.granted);
  fresh.add(record, true);
  const KnownWorkload seen = fresh.profile(machine_);
  std::vector<KnownWorkload> mine;
  for (const auto& workload : workloads_) mine.push_back(workload.profile(machine_));
  if (const auto match = make_similarity("nearest", mine)->find(seen); match && match->alike())
    return static_cast<std::int32_t>(match->known);
  workloads_.emplace_back(batch, record.granted);
  return static_cast<std::int32_t>(workloads_.size() - 1);
}

void SystemTuner::ended(const TaskView& task, const Values& hyper) {
  const EpochRecord& record = task.epochs.back();
  const bool known_before = workload_of_.contains(task.id);
  if (!known_before) {
    workload_of_[task.id] = classify(record, batch_of(hyper));
    ++workloads_[static_cast<std::size_t>(workload_of_[task.id])].trials;
  }
  WorkloadClass& workload = workloads_[static_cast<std::size_t>(workload_of_[task.id])];
  const bool first = workload.trials == 1 && !known_before;
  if (record.mixed) return;  // its slices were seen one by one
  if (workload.add(record, first_of_process(task, task.epochs.size() - 1))) ++shifts_;
  if (!first) return;
  if (const auto match = known_works_->find(workload.profile(machine_)); match && match->alike())
    workload.adopt(known_[match->known]);
}

std::vector<KnownWorkload> SystemTuner::learned() const {
  std::vector<KnownWorkload> out;
  for (const auto& workload : workloads_)
    if (auto known = workload.known(machine_)) out.push_back(std::move(*known));
  return out;
}

}  // namespace tandem::tune
