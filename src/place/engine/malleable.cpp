#include "place/engine/malleable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "place/policy/unwanted.h"

namespace tandem::place {
namespace {

constexpr int kHeldAtLeast = 16;
// More cores must make an epoch shorter by this share to be worth having.
constexpr double kWorthIt = 0.97;

// By cores; among equals as the job prefers them.
std::vector<Option> options_of(const TaskView& task) {
  if (task.options.empty()) return {{task.wanted, 1.0}};
  auto options = task.options;
  std::stable_sort(options.begin(), options.end(),
                   [](const Option& a, const Option& b) { return a.resources.cores < b.resources.cores; });
  return options;
}

std::size_t thriftiest(const std::vector<Option>& options) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < options.size(); ++i)
    if (options[i].resources.cores * options[i].seconds <
        options[best].resources.cores * options[best].seconds)
      best = i;
  return best;
}

// The quickest with more cores than `now` but no more than `most`, if it is worth it.
std::optional<std::size_t> quicker(const std::vector<Option>& options, std::size_t now, int most) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const int cores = options[i].resources.cores;
    if (cores <= options[now].resources.cores || cores > most) continue;
    if (options[i].seconds >= kWorthIt * options[now].seconds) continue;
    // One step at a time: the next size that helps, not the largest.
    if (!best || cores < options[*best].resources.cores ||
        (cores == options[*best].resources.cores && options[i].seconds < options[*best].seconds))
      best = i;
  }
  return best;
}

struct Free {
  int cores = 0;
  Bytes memory = 0;
  int gpus = 0;  // as the tasks that wait ask for them: whole ones, or places on shared ones
};

// Tasks that share GPUs (gpu_memory) find places on them: so many on each as its memory holds. One run's
// tasks ask for alike places; beside tasks of another size a GPU counts as taken.
int free_gpus(const View& view, const NodeView& node, Bytes gpu_memory) {
  if (gpu_memory == 0) return node.free_gpus;
  const auto places = static_cast<int>(node.capacity.gpu_memory / gpu_memory);
  int taken = 0, own = 0;
  for (TaskId id : view.holding) {
    const auto& task = task_at(view, id);
    if (!task.is_on(node.id)) continue;
    (task.granted.gpu_memory == gpu_memory ? taken : own) += task.gpus_held;
  }
  return (node.capacity.gpus - own) * places - taken;
}

struct Candidate {
  const TaskView* task;
  std::vector<Option> options;
  std::optional<std::size_t> granted;
  std::size_t node = 0;

  Bytes more_memory(std::size_t option) const { return options[option].resources.memory - task->memory_held; }
  int more_gpus(std::size_t option) const { return options[option].resources.gpus - task->gpus_held; }
  bool fits(std::size_t option, const Free& free) const {
    return options[option].resources.cores <= free.cores && more_memory(option) <= free.memory &&
           more_gpus(option) <= free.gpus;
  }
  double left(std::size_t option) const {
    return static_cast<double>(task->epochs_left) * options[option].seconds;
  }
};

class Step {
 public:
  Step(const View& view, const MalleableOptions& limits) : view_(view), limits_(limits) {
    for (const auto& node : view.nodes)
      free_.push_back({node.free_cores, node.free_memory, free_gpus(view, node, shared_memory())});
  }

  std::vector<DecisionBody> run() {
    stop_unwanted();
    gather();
    grant_thrifty();
    if (!blocked_) deal_shares();
    carry_out();
    evict();
    return std::move(out_);
  }

 private:
  // What the first task that waits wants of a GPU it shares; 0: whole GPUs.
  Bytes shared_memory() const {
    for (TaskId id : view_.waiting) {
      const auto& task = task_at(view_, id);
      return task.options.empty() ? task.wanted.gpu_memory : task.options.front().resources.gpu_memory;
    }
    return 0;
  }

  void stop_unwanted() {
    for (TaskId id : view_.holding) stopping_ |= task_at(view_, id).state == TaskState::stopping;
    for (auto& stop : stops_of_unwanted(view_)) out_.push_back(std::move(stop));
  }

  void gather() {
    for (TaskId id : view_.waiting) {
      const auto& task = task_at(view_, id);
      if (wanted_no_more(view_, task)) continue;
      if (task.nodes_wanted == 1)
        waiting_.push_back({&task, options_of(task), std::nullopt});
      else
        refuse_gang(task);
    }
    std::stable_sort(waiting_.begin(), waiting_.end(), [](const Candidate& a, const Candidate& b) {
      return a.task->priority > b.task->priority;
    });
  }

  void refuse_gang(const TaskView& task) {
    out_.push_back(FinishJob{task.job, JobState::failed,
                             fmt::format("it asks for {} nodes (system.nodes), and the cores of one machine "
                                         "are dealt out here; `tandem submit` it to a server with so many",
                                         task.nodes_wanted)});
  }

  // The thriftiest option, or the largest smaller one that fits.
  std::optional<std::size_t> fitting(const Candidate& c, const Free& free) const {
    const std::size_t thrifty = thriftiest(c.options);
    if (c.fits(thrifty, free)) return thrifty;
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < c.options.size(); ++i)
      if (c.options[i].resources.cores <= c.options[thrifty].resources.cores && c.fits(i, free) &&
          (!found || c.options[i].resources.cores > c.options[*found].resources.cores))
        found = i;
    return found;
  }

  void grant_thrifty() {
    for (auto& c : waiting_) {
      if (blocked_ && !(blocked_by_memory_ && c.task->alive)) continue;
      const std::size_t from = c.task->alive ? static_cast<std::size_t>(c.task->node) : 0;
      const std::size_t to = c.task->alive ? from + 1 : free_.size();
      for (std::size_t node = from; node < to && !c.granted; ++node)
        if ((c.granted = fitting(c, free_[node]))) take(c, node);
      if (!c.granted) block(c);
    }
  }

  void take(Candidate& c, std::size_t node) {
    c.node = node;
    free_[node].cores -= c.options[*c.granted].resources.cores;
    free_[node].memory -= c.more_memory(*c.granted);
    free_[node].gpus -= c.more_gpus(*c.granted);
  }
  void put_back(Candidate& c) {
    free_[c.node].cores += c.options[*c.granted].resources.cores;
    free_[c.node].memory += c.more_memory(*c.granted);
    free_[c.node].gpus += c.more_gpus(*c.granted);
  }

  void block(const Candidate& c) {
    if (blocked_) return;
    blocked_ = true;
    int least = std::numeric_limits<int>::max();
    for (const auto& option : c.options) least = std::min(least, option.resources.cores);
    // Held tasks keep their GPUs too, where their memory is.
    blocked_by_memory_ =
        std::any_of(free_.begin(), free_.end(), [&](const Free& free) { return least <= free.cores; });
  }

  // Nobody waits in vain, so cores may be left: deal the whole node out among all who are on it, and give
  // those who wait what their share is.
  void deal_shares() {
    for (std::size_t node = 0; node < free_.size(); ++node) {
      std::vector<Candidate> all;
      int cores = free_[node].cores;
      for (TaskId id : view_.holding) {
        const auto& task = task_at(view_, id);
        if (task.cores_held == 0 || static_cast<std::size_t>(task.node) != node) continue;
        if (task.state == TaskState::stopping || wanted_no_more(view_, task)) continue;
        all.push_back({&task, options_of(task), std::nullopt});
        cores += task.cores_held;
      }
      const std::size_t runners = all.size();
      std::vector<Candidate*> mine;
      for (auto& c : waiting_)
        if (c.granted && c.node == node) {
          mine.push_back(&c);
          all.push_back(c);
          cores += c.options[*c.granted].resources.cores;
        }
      if (mine.empty()) continue;
      const auto share = shares(all, cores);
      for (std::size_t i = 0; i < mine.size(); ++i) grow(*mine[i], share[runners + i]);
      std::vector<Claim> claims;
      for (std::size_t i = 0; i < runners; ++i) {
        const int more = all[i].options[share[i]].resources.cores - all[i].task->cores_held;
        if (more > 0) claims.push_back({more, until_report(all[i])});
      }
      for (auto* c : mine)
        if (c->task->alive) borrow(*c, claims);  // who starts up first takes longer than an epoch
    }
  }

  static std::vector<std::size_t> shares(const std::vector<Candidate>& all, int cores) {
    std::vector<std::size_t> share;
    for (const auto& c : all) {
      share.push_back(thriftiest(c.options));
      cores -= c.options[share.back()].resources.cores;
    }
    std::vector<bool> settled(all.size(), false);
    while (true) {
      std::optional<std::size_t> last;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (!settled[i] && (!last || all[i].left(share[i]) > all[*last].left(share[*last]))) last = i;
      if (!last) return share;
      const int now = all[*last].options[share[*last]].resources.cores;
      if (const auto more = quicker(all[*last].options, share[*last], now + std::max(cores, 0))) {
        cores -= all[*last].options[*more].resources.cores - now;
        share[*last] = *more;
      } else {
        settled[*last] = true;
      }
    }
  }

  // As much of the share as is free now.
  void grow(Candidate& c, std::size_t share) {
    put_back(c);
    std::size_t best = *c.granted;
    for (std::size_t i = 0; i < c.options.size(); ++i)
      if (c.options[i].resources.cores <= c.options[share].resources.cores && c.fits(i, free_[c.node]) &&
          c.options[i].seconds < kWorthIt * c.options[best].seconds)
        best = i;
    c.granted = best;
    take(c, c.node);
  }

  // Cores that those who run will want when they report would idle until then: they are lent for an epoch
  // that is over before.
  struct Claim {
    int cores;
    double in;  // seconds
  };
  void borrow(Candidate& c, const std::vector<Claim>& claims) {
    put_back(c);
    for (std::size_t i = 0; i < c.options.size(); ++i) {
      const auto& [resources, seconds] = c.options[i];
      if (!c.fits(i, free_[c.node]) || seconds >= kWorthIt * c.options[*c.granted].seconds) continue;
      int claimed = 0;
      for (const auto& claim : claims) claimed += claim.in < seconds ? claim.cores : 0;
      if (resources.cores + claimed <= free_[c.node].cores) c.granted = i;
    }
    take(c, c.node);
  }

  // As far as what it told of its epochs goes. One that is late is expected to take as long again as it is
  // late: it may be starting up.
  double until_report(const Candidate& c) const {
    double epoch = 0;
    for (const auto& option : c.options)
      if (option.resources.cores == c.task->granted.cores) epoch = option.seconds;
    return std::abs((std::max(c.task->requested_at, c.task->started_at) - view_.now).value + epoch);
  }

  // What sets cores free comes before what takes them, and new ones start before others go on: a clone copies
  // what its parent has on disk now.
  void carry_out() {
    for (const auto& c : waiting_)
      if (!c.granted && c.task->alive && !c.task->parked) out_.push_back(Hold{c.task->id, c.task->attempt});
    resize(true);
    for (const auto& c : waiting_)
      if (c.granted && !c.task->alive)
        out_.push_back(Start{c.task->id, c.task->attempt + 1, static_cast<NodeId>(c.node),
                             c.options[*c.granted].resources});
    resize(false);
    for (const auto& c : waiting_)
      if (c.granted && c.task->alive)
        out_.push_back(Continue{c.task->id, c.task->attempt, c.task->reported()});
  }

  void resize(bool shrinking) {
    for (const auto& c : waiting_) {
      if (!c.granted || !c.task->alive) continue;
      const auto& given = c.options[*c.granted].resources;
      const bool shrinks =
          !c.task->parked && given.cores <= c.task->granted.cores && given.memory <= c.task->memory_held;
      if (shrinks == shrinking && (c.task->parked || !(given == c.task->granted)))
        out_.push_back(Resize{c.task->id, c.task->attempt, given});
    }
  }

  void evict() {
    if (stopping_) return;  // room is on its way
    const TaskView* victim = nullptr;
    int held = 0, cores = 0;
    for (const auto& node : view_.nodes) cores += node.capacity.cores;
    for (TaskId id : view_.holding) {
      const auto& task = task_at(view_, id);
      if (task.state != TaskState::held || wanted_no_more(view_, task)) continue;
      ++held;
      if (!victim || task.priority < victim->priority ||
          (task.priority == victim->priority && task.epochs.back().at < victim->epochs.back().at))
        victim = &task;
    }
    const bool too_many = held > std::max(kHeldAtLeast, limits_.held_a_core * cores);
    if (victim && (too_many || blocked_by_memory_))
      out_.push_back(Stop{victim->id, victim->attempt, "held, and its memory is needed by others"});
  }

  const View& view_;
  const MalleableOptions& limits_;
  std::vector<DecisionBody> out_;
  std::vector<Free> free_;
  std::vector<Candidate> waiting_;
  bool blocked_ = false, blocked_by_memory_ = false, stopping_ = false;
};

}  // namespace

std::vector<DecisionBody> Malleable::step(const View& view, const Event&) {
  return Step(view, options_).run();
}

}  // namespace tandem::place
