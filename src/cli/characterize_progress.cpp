// An experiment as it goes: plain lines, one a run, or lines that are redrawn.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "app/results.h"
#include "app/tune_results.h"
#include "cli/progress.h"
#include "app/gpu_text.h"
#include "report/result_table.h"
#include "report/tune_table.h"
#include "tune/experiment_plan.h"

namespace tandem::cli {
namespace {

class ExperimentProgress final : public control::Observer {
 public:
  ExperimentProgress(const std::string& name, const std::string& run) : live_(::isatty(STDERR_FILENO) != 0) {
    std::cerr << name << ": run " << run << "\n";
  }

  void saw(const View& view, const control::Entry& entry) override {
    if (const auto line = said(view, entry.event.body); !line.empty()) say(line);
    for (const auto& decision : entry.decisions)
      if (const auto* request = std::get_if<Request>(&decision.body); request && request->trial)
        requested(view, *request);
  }

  void tick(const View& view) override {
    if (!live_ || now_.empty() || view.jobs.empty()) return;
    std::int64_t done = 0, wanted = 0;
    for (const auto& task : view.tasks)
      if (task.trial && task.trial->bracket == run_) done += task.reported(), wanted += task.trial->epochs;
    std::vector<std::string> lines{fmt::format("{}  epoch {} of {}{}", now_, done, wanted, left(view))};
    for (const auto& gpu : gpus_.look()) lines.push_back(gpu);
    block_.draw(lines);
  }

 private:
  // The first task of a run says that it begins; its other tasks are as many of the same.
  void requested(const View& view, const Request& request) {
    if (total_ == 0) count(view);
    if (request.trial->bracket == run_) return;
    run_ = request.trial->bracket;
    now_ = fmt::format("run {} of {}: {}", run_ + 1, total_, point_text(request.trial->point));
    if (!live_) say(now_ + left(view));
  }

  // Work is counted in epochs of runs: longer runs have more of them.
  void count(const View& view) {
    try {
      const auto plan = tune::plan_of(*view.jobs.front().as<spec::Experiment>());
      total_ = static_cast<std::int64_t>(plan.runs.size());
      for (const auto& run : plan.runs) epochs_ += run.epochs * run.jobs;
    } catch (const std::exception&) {
      total_ = -1;  // the job itself says what is wrong
    }
  }

  std::string left(const View& view) const {
    std::int64_t done = 0;
    for (const auto& task : view.tasks) done += task.reported();
    if (done == 0 || epochs_ <= done) return "";
    const double each = view.jobs.front().active.value / static_cast<double>(done);
    return fmt::format("  (about {} left)", text(Seconds{each * static_cast<double>(epochs_ - done)}));
  }

  void say(const std::string& line) {
    block_.clear();
    std::cerr << line << std::endl;
  }

  bool live_;
  GpuLines gpus_;
  LiveBlock block_;
  std::int64_t run_ = -1, total_ = 0, epochs_ = 0;
  std::string now_;
};

}  // namespace

std::unique_ptr<control::Observer> make_experiment_progress(const std::string& name, const std::string& run) {
  return std::make_unique<ExperimentProgress>(name, run);
}

}  // namespace tandem::cli
