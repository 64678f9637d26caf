#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <utility>

#include "app/tune_results.h"
#include "base/counted.h"
#include "base/text.h"
#include "cli/progress.h"
#include "app/gpu_text.h"
#include "report/tune_table.h"
#include "search/searcher.h"
#include "tune/goals.h"
#include "tune/outcome.h"

namespace tandem::cli {
namespace {

constexpr std::size_t kMostRows = 12;

// What is worth knowing at any moment: what earlier sessions did counts as what this one does.
class TuneStanding {
 public:
  void saw(const View& view, const control::Entry& entry) {
    again = seen_.again(view, entry);
    if (view.jobs.empty()) return;
    if (!std::exchange(begun_, true))
      for (const auto& task : view.tasks)
        for (std::size_t i = 0; i < task.epochs.size(); ++i) judge(view, task, i);
    if (const auto* e = std::get_if<EpochEnded>(&entry.event.body))
      if (const auto& task = view.tasks[static_cast<std::size_t>(e->task)]; !task.epochs.empty())
        judge(view, task, task.epochs.size() - 1);
  }

  std::int64_t epochs(const View& view) const {
    std::int64_t sum = 0;
    for (const auto& task : view.tasks) sum += static_cast<std::int64_t>(task.epochs.size());
    return sum;
  }
  Joules joules(const View& view) const {
    Joules sum;
    for (const auto& task : view.tasks) sum += task.joules();
    return sum;
  }

  double best_loss = 0;
  TaskId best_task = -1;
  std::int64_t best_epoch = 0;
  std::vector<double> best_values;
  bool again = false;  // the last entry is an epoch that was there before

 private:
  void judge(const View& view, const TaskView& task, std::size_t index) {
    const auto& job = *view.jobs.front().as<spec::TuneJob>();
    const auto values =
        tune::goal_values(job.objective, task, index, tune::price_of_time(view, view.jobs.front()));
    if (!values) return;
    const auto loss = tune::losses(job, *values, task, index).front();
    if (best_task >= 0 && loss >= best_loss) return;
    best_task = task.id;
    best_epoch = task.epochs[index].epoch;
    best_loss = loss;
    best_values = *values;
  }

  bool begun_ = false;
  SeenEpochs seen_;
};

std::string score_text(const spec::TuneJob& job, double value) {
  return fmt::format("{} {:.4f}", job.objective.goals.front().metric, value);
}

std::string best_line(const View& view, const TuneStanding& standing) {
  if (standing.best_task < 0) return "best so far: none yet";
  const auto& job = *view.jobs.front().as<spec::TuneJob>();
  const auto& task = view.tasks[static_cast<std::size_t>(standing.best_task)];
  return fmt::format("best so far{}: {}  trial {} epoch {}  {}",
                     job.mode == spec::Mode::joint ? " by " + tune::ranked_by(job) : "",
                     score_text(job, standing.best_values.front()), standing.best_task, standing.best_epoch,
                     point_text(tune::searched_part(job, view, task.trial->point)));
}

// What the system tuner is doing, over all that is alive.
std::string tuner_line(const View& view) {
  std::map<std::string, std::set<TaskId>> by_phase;
  for (TaskId id : view.holding) {
    const auto& task = view.tasks[static_cast<std::size_t>(id)];
    if (task.phase != Phase::none && task.state != TaskState::held) by_phase[name(task.phase)].insert(id);
  }
  std::string out;
  for (const auto& [phase, tasks] : by_phase)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", phase, fmt::join(tasks, " "));
  return out.empty() ? "" : "system tuner: " + out;
}

class PlainTuneProgress final : public control::Observer {
 public:
  PlainTuneProgress(const std::string& name, const std::string& run) {
    std::cerr << name << ": run " << run << "\n";
  }

  void saw(const View& view, const control::Entry& entry) override {
    const auto best_before = standing_.best_task;
    const auto loss_before = standing_.best_loss;
    standing_.saw(view, entry);
    if (const auto* e = std::get_if<EpochEnded>(&entry.event.body)) {
      const auto& task = view.tasks[static_cast<std::size_t>(e->task)];
      const auto& record = task.epochs.back();
      std::string line = fmt::format("trial {:>3} epoch {}", e->task, e->epoch);
      const auto& main = view.jobs.front().as<spec::TuneJob>()->objective.goals.front().metric;
      if (const auto found = e->metrics.find(main); found != e->metrics.end())
        line += fmt::format("  {} {:.4f}", main, found->second);
      line += fmt::format("  {}  {}", text(e->seconds), text(record.granted));
      if (e->energy) line += "  " + text(e->energy->joules);
      if (record.phase != Phase::none) line += fmt::format("  {}", name(record.phase));
      for (const auto& lacking : e->not_finite) line += fmt::format("  {} null", lacking);
      if (standing_.again) line += "  again";
      if (standing_.best_task != best_before || standing_.best_loss != loss_before) line += "  best";
      std::cerr << line << std::endl;
    }
    if (const auto line = said(view, entry.event.body); !line.empty()) std::cerr << line << std::endl;
  }

 private:
  TuneStanding standing_;
};

// A block of lines, redrawn in place.
class LiveTuneProgress final : public control::Observer {
 public:
  LiveTuneProgress(const std::string& name, const std::string& run) {
    std::cerr << name << ": run " << run << "\n";
  }

  void saw(const View& view, const control::Entry& entry) override {
    standing_.saw(view, entry);
    if (const auto line = said(view, entry.event.body); !line.empty()) {
      block_.clear();
      std::cerr << line << std::endl;
    }
  }

  void tick(const View& view) override {
    if (view.jobs.empty()) return;
    std::vector<std::string> lines{"trial  state      epoch   score     cores  energy    parameters"};
    for (const auto& row : rows(view)) lines.push_back(row);
    if (expected_ == 0) expect(view);
    const auto epochs = standing_.epochs(view);
    const double share =
        std::min(1.0, static_cast<double>(epochs) / std::max<double>(1, static_cast<double>(expected_)));
    const double active = view.jobs.front().active.value;
    const auto joules = standing_.joules(view);
    std::string line = fmt::format("{} of at most {} epochs, {}, {}", epochs, expected_,
                                   counted(view.tasks.size(), "trial"), text(Seconds{active}));
    if (const auto left = expected_left(view.jobs.front(), share, joules))
      line += fmt::format(", about {} left", text(*left));
    if (joules.value > 0) line += ", " + text(joules);
    lines.push_back(line);
    lines.push_back(best_line(view, standing_));
    if (const auto tuner = tuner_line(view); !tuner.empty()) lines.push_back(tuner);
    for (const auto& gpu : gpus_.look()) lines.push_back(gpu);
    block_.draw(lines);
  }

 private:
  // Running ones first, then those that wait, then the last that ended.
  std::vector<std::string> rows(const View& view) const {
    std::vector<std::pair<int, TaskId>> order;
    for (const auto& task : view.tasks) {
      const bool running = task.state == TaskState::running || task.state == TaskState::starting;
      order.emplace_back(running ? 0 : task.alive ? 1 : 2, running || task.alive ? task.id : -task.id);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::string> out;
    for (const auto& [group, id] : order) {
      if (out.size() == kMostRows) break;
      out.push_back(row(view, view.tasks[static_cast<std::size_t>(group == 2 ? -id : id)]));
    }
    return out;
  }

  static std::string row(const View& view, const TaskView& task) {
    const auto& job = *view.jobs.front().as<spec::TuneJob>();
    std::string score = "-";
    if (!task.epochs.empty())
      if (const auto values = tune::goal_values(job.objective, task, task.epochs.size() - 1,
                                                tune::price_of_time(view, view.jobs.front())))
        score = fmt::format("{:.4f}", values->front());
    return fmt::format("{:>5}  {:<9}  {:>2} of {:<3} {:<9} {:>5}  {:<8}  {}", task.id,
                       task.released && !task.alive ? "pruned" : name(task.state), task.reported(),
                       task.trial->until, score, task.cores_held > 0 ? std::to_string(task.cores_held) : "-",
                       task.energy_source.empty() ? "-" : text(task.joules()),
                       point_text(tune::searched_part(job, view, task.trial->point)));
  }

  void expect(const View& view) {
    const auto& job = *view.jobs.front().as<spec::TuneJob>();
    try {
      expected_ = search::make_searcher(job.search, job.hyper, 1)->expected_epochs();
    } catch (const std::exception&) {
      expected_ = 1;  // the job itself says what is wrong
    }
  }

  TuneStanding standing_;
  std::int64_t expected_ = 0;
  GpuLines gpus_;
  LiveBlock block_;
};

}  // namespace

std::unique_ptr<control::Observer> make_tune_progress(const std::string& name, const std::string& run) {
  if (::isatty(STDERR_FILENO)) return std::make_unique<LiveTuneProgress>(name, run);
  return std::make_unique<PlainTuneProgress>(name, run);
}

}  // namespace tandem::cli
