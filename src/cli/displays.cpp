#include "cli/displays.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "app/kinds.h"
#include "cli/progress.h"

namespace tandem::cli {
namespace {

// A line whenever one more of what the kind counts is done.
class CountingProgress final : public control::Observer {
 public:
  CountingProgress(const std::string& name, const std::string& run) {
    std::cerr << name << ": run " << run << "\n";
  }

  void saw(const View& view, const control::Entry& entry) override {
    if (const auto line = said(view, entry.event.body); !line.empty()) std::cerr << line << std::endl;
    if (view.jobs.empty()) return;
    const auto now = row_of(view.jobs.front().spec).progress(view, view.jobs.front());
    if (now.done == done_) return;
    done_ = now.done;
    std::cerr << (now.of > 0 ? fmt::format("{} of {} {}", now.done, now.of, now.unit)
                             : fmt::format("{} {}", now.done, now.unit))
              << std::endl;
  }

 private:
  std::int64_t done_ = 0;
};

struct Display {
  std::string kind;
  std::unique_ptr<control::Observer> (*progress)(const std::string& name, const std::string& run);
  std::string more;  // after "Every ...", with the command and the run
};

const std::string kPlots = "With plots:  {0} report {1} -o report.html\n";

const Display& display_of(const std::string& kind) {
  static const std::vector<Display> kDisplays{
      {"train", make_progress, ""},
      {"tune", make_tune_progress, kPlots},
      {"characterize", make_experiment_progress,
       "As tables:   {0} characterize --from {1} --export traces/\n" + kPlots},
      {"",
       [](const std::string& name, const std::string& run) -> std::unique_ptr<control::Observer> {
         return std::make_unique<CountingProgress>(name, run);
       },
       kPlots}};
  const auto own =
      std::find_if(kDisplays.begin(), kDisplays.end(), [&](const auto& d) { return d.kind == kind; });
  return own != kDisplays.end() ? *own : kDisplays.back();
}

}  // namespace

std::unique_ptr<control::Observer> make_display(const store::RunInfo& run) {
  return display_of(run.kind).progress(run.name, run.id);
}

std::string next_steps(const store::RunInfo& run, bool has_model) {
  const std::string tandem = own_command();
  if (run.state != "finished")
    return fmt::format("\nGo on with:  {0} resume {1}\nIts output:  {0} logs {1}\n", tandem, run.id);
  const Kind* kind = find_kind(run.kind);
  std::string out = fmt::format("\nEvery {}: {} show {}\n", kind ? kind->unit : "task", tandem, run.id);
  out += fmt::format(fmt::runtime(display_of(run.kind).more), tandem, run.id);
  if (has_model)
    out += fmt::format("Ask it:      {0} predict {1} FILE\nServe it:    {0} infer {1}\n", tandem, run.id);
  return out;
}

}  // namespace tandem::cli
