#include "tune/system_tuner.h"

#include <algorithm>
#include <cmath>

#include "stats/median.h"
#include "tune/batches.h"
#include "tune/goals.h"

namespace tandem::tune {
namespace {

constexpr double kMemoryRoom = 1.5;       // over what was seen resident: peaks lie between the samples
constexpr double kBenefitOfDoubt = 0.85;  // of a single measurement

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
  return out;
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

SystemTuner::SystemTuner(const spec::TuneJob& job, const NodeView& node, std::vector<KnownWork> known)
    : job_(job),
      machine_(node.type),
      space_(on_node(job.system, node)),
      energy_counts_(job.objective.cost || has_goal(job.objective, "energy")),
      time_counts_(has_goal(job.objective, "train_time")),
      known_(std::move(known)),
      known_works_(make_similarity(job.similarity, known_)) {
  if (space_.cores.empty() || space_.memory.empty()) return;
  reference_ = {space_.cores.front(), space_.memory.back(), space_.speed.back()};
}

std::vector<Resources> SystemTuner::configurations(const Values& hyper) const {
  std::vector<Resources> out;
  for (int cores : space_.cores)
    for (double speed : space_.speed)
      for (Bytes memory : space_.memory) {
        Values with = hyper;
        with["cores"] = std::int64_t{cores};
        with["speed"] = speed;
        with["memory"] = std::int64_t{memory};
        if (spec::allowed(job_.hyper, with)) out.push_back({cores, memory, speed});
      }
  return out;
}

Bytes SystemTuner::memory_for(const Work* work, const std::vector<Bytes>& choices) const {
  if (work && work->memory() > 0)
    for (Bytes memory : choices)
      if (static_cast<double>(memory) >= kMemoryRoom * static_cast<double>(work->memory())) return memory;
  return choices.back();
}

std::int32_t SystemTuner::work_of(TaskId task) const {
  const auto found = work_of_.find(task);
  return found == work_of_.end() ? -1 : found->second;
}

void SystemTuner::assign(TaskId task, std::int32_t work) {
  if (work < 0 || static_cast<std::size_t>(work) >= works_.size()) return;
  if (work_of_.emplace(task, work).second) ++works_[static_cast<std::size_t>(work)].trials;
}

// The work of this batch size that most trials turned out to be.
std::int32_t SystemTuner::presumed(double batch) const {
  std::int32_t best = -1;
  for (std::size_t i = 0; i < works_.size(); ++i)
    if (works_[i].batch() == batch &&
        (best < 0 || works_[i].trials > works_[static_cast<std::size_t>(best)].trials))
      best = static_cast<std::int32_t>(i);
  return best;
}

SystemPlan SystemTuner::plan(TaskId task, const Values& hyper) {
  auto all = configurations(hyper);
  if (all.empty()) return {};
  if (!work_of_.contains(task)) assign(task, presumed(batch_of(hyper)));
  const std::int32_t work = work_of(task);
  // The reference, or what is nearest to it among what the constraints allow. A work that has forgotten
  // begins with it again: what more cores are worth can only be told against it.
  const auto found = std::find(all.begin(), all.end(), reference_);
  const Resources first = found != all.end() ? *found : all.front();
  if (work < 0 || !works_[static_cast<std::size_t>(work)].measured(first))
    return {{{first, 1.0}}, Phase::profiling, work};
  return energy_counts_ || job_.warm_repetitions ? plan_for_energy(all, work) : plan_for_time(all, work);
}

// How long later epochs take, of a first one, where a work has shown both.
double SystemTuner::warmth() const {
  std::vector<double> seen;
  for (const auto& work : works_)
    if (const auto warmth = work.warmth()) seen.push_back(*warmth);
  return seen.empty() ? 1 : stats::median(std::move(seen));
}

// What was not measured is told by other batch sizes of the job, or predicted.
Cost SystemTuner::expected(const Work& work, const Resources& system) const {
  const double warm = warmth();
  Cost cost = work.cost(system, warm);
  if (cost.measured) {
    // One epoch may have been unlucky: worth a second look when it was close.
    if (work.epochs(system) == 1 && !(system.cores == reference_.cores)) cost.seconds *= kBenefitOfDoubt;
    return cost;
  }
  std::vector<BatchSeen> seen;
  for (const auto& other : works_) {
    if (!other.measured(reference_)) continue;
    seen.push_back({other.batch(), other.cost(reference_, warm).seconds, std::nullopt});
    if (other.measured(system)) seen.back().there = other.cost(system, warm).seconds;
  }
  if (const auto ratio = expected_ratio(work.batch(), seen))
    cost.seconds = *ratio * work.cost(reference_, warm).seconds;
  return cost;
}

SystemPlan SystemTuner::plan_for_time(const std::vector<Resources>& all, std::int32_t number) const {
  const Work& work = works_[static_cast<std::size_t>(number)];
  std::map<int, std::vector<Resources>> by_cores;
  for (const auto& system : all) by_cores[system.cores].push_back(system);
  SystemPlan plan{{}, work.reused() ? Phase::reusing : Phase::settled, number};
  for (const auto& [cores, systems] : by_cores) {
    double fastest = 0;
    std::vector<Bytes> memories;
    for (const auto& system : systems) {
      fastest = std::max(fastest, system.speed);
      memories.push_back(system.memory);
    }
    std::sort(memories.begin(), memories.end());
    const Resources system{cores, memory_for(&work, memories), fastest};
    const Cost cost = expected(work, system);
    plan.options.push_back({system, cost.seconds});
    // What an earlier job did not measure is predicted from what it did.
    if (!cost.measured && !work.reused()) plan.phase = Phase::probing;
  }
  return plan;
}

double SystemTuner::cost(const Cost& of) const {
  if (const auto& weights = job_.objective.cost; weights && of.joules)
    return cost_of(*weights, Joules{*of.joules}, Seconds{of.seconds}, time_price_).value;
  const double joules = of.joules.value_or(of.seconds);
  return time_counts_ ? joules * of.seconds : joules;
}

SystemPlan SystemTuner::plan_for_energy(const std::vector<Resources>& all, std::int32_t number) const {
  const Work& work = works_[static_cast<std::size_t>(number)];
  std::vector<Bytes> memories = space_.memory;
  const Bytes memory = memory_for(&work, memories);
  std::optional<Option> best, unknown;
  double best_cost = 0;
  for (const auto& system : all) {
    if (system.memory != memory) continue;
    const Cost of = work.cost(system, warmth());
    if (work.epochs(system) < job_.warm_repetitions.value_or(1)) {
      // In the order of the grid; the ones that look quickest first when there are many.
      if (!unknown || (all.size() > 16 && of.seconds < unknown->seconds))
        unknown = Option{system, of.seconds};
    } else if (!best || cost(of) < best_cost) {
      best = Option{system, of.seconds};
      best_cost = cost(of);
    }
  }
  if (unknown) return {{*unknown}, Phase::probing, number};
  if (!best) return {{{all.front(), 1.0}}, Phase::settled, number};
  return {{*best}, work.reused() ? Phase::reusing : Phase::settled, number};
}

// The work this profile belongs to: one of this job's, one like an earlier job's, or a new one.
std::int32_t SystemTuner::classify(const EpochRecord& record, double batch) {
  Work fresh(batch, record.granted);
  fresh.add(record, true);
  const KnownWork seen = fresh.profile(machine_);
  std::vector<KnownWork> mine;
  for (const auto& work : works_) mine.push_back(work.profile(machine_));
  if (const auto match = make_similarity("nearest", mine)->find(seen); match && match->alike())
    return static_cast<std::int32_t>(match->known);
  works_.emplace_back(batch, record.granted);
  return static_cast<std::int32_t>(works_.size() - 1);
}

void SystemTuner::ended(const TaskView& task, const Values& hyper) {
  const EpochRecord& record = task.epochs.back();
  const bool known_before = work_of_.contains(task.id);
  if (!known_before) {
    work_of_[task.id] = classify(record, batch_of(hyper));
    ++works_[static_cast<std::size_t>(work_of_[task.id])].trials;
  }
  Work& work = works_[static_cast<std::size_t>(work_of_[task.id])];
  const bool first = work.trials == 1 && !known_before;
  if (work.add(record, first_of_process(task, task.epochs.size() - 1))) ++shifts_;
  if (!first) return;
  if (const auto match = known_works_->find(work.profile(machine_)); match && match->alike())
    work.adopt(known_[match->known]);
}

std::vector<KnownWork> SystemTuner::learned() const {
  std::vector<KnownWork> out;
  for (const auto& work : works_)
    if (auto known = work.known(machine_)) out.push_back(std::move(*known));
  return out;
}

}  // namespace tandem::tune
