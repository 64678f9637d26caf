#include "app/running_jobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "app/advice_models.h"
#include "app/past_runs.h"
#include "app/predictions.h"
#include "app/runs.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "platform/thread_load.h"

namespace tandem::app {
namespace {

constexpr double kForever = 1e9;  // seconds: longer than any question

// For a while: a single look says what one instant was like, and programs pause between batches.
std::optional<platform::CoresWanted> wanted_by_others() {
  constexpr int kWhile = 200'000;  // microseconds
  const auto begin = std::chrono::steady_clock::now();
  const auto before = platform::thread_times();
  if (!before) return std::nullopt;
  ::usleep(kWhile);
  const auto after = platform::thread_times();
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!after) return std::nullopt;
  return platform::cores_wanted(*before, *after, Seconds{took}, ::getpid());
}

std::map<JobId, Seconds> promised(const std::vector<store::Prediction>& all, const std::string& run) {
  std::map<JobId, Seconds> out;
  for (const auto& kept : all)
    if (kept.run.id == run)
      out[static_cast<JobId>(kept.job)] = predicted_run_from_json(parse_json(kept.body)).slo;
  return out;
}

}  // namespace

RunningOption parse_running(const std::string& written) {
  if (written == "auto") return {};
  if (written == "none") return {RunningOption::Kind::none, 0};
  int number = 0;
  const char* end = written.data() + written.size();
  const auto parsed = std::from_chars(written.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < 0 || number > 10'000)
    throw UserError("--running must be auto, none, or a number of other jobs such as 2, not '" +
                    printable(written, 60) + "'");
  return {RunningOption::Kind::number, number};
}

std::vector<AtWork> at_work(const std::string& run, const View& view, Seconds now,
                            const std::map<JobId, Seconds>& slos) {
  std::vector<AtWork> out;
  for (const auto& task : view.tasks) {
    if (task.state != TaskState::running && task.state != TaskState::starting) continue;
    const auto& job = view.jobs[static_cast<std::size_t>(task.job)];
    const auto spec = what_runs(view, task);
    advise::RunningJob at;
    at.id = view.tasks.size() > 1 ? fmt::format("{}#{}", run, task.id) : run;
    at.setting = {spec.hyper, task.granted, std::max<std::int64_t>(spec.epochs, 1),
                  1 + static_cast<int>(task.more.size())};
    Seconds worked;
    for (const auto& record : task.epochs) worked += record.seconds;
    const auto epochs = static_cast<double>(at.setting.epochs);
    const double done = static_cast<double>(task.reported());
    const Seconds epoch = task.epochs.empty() ? Seconds{0} : worked / static_cast<double>(task.epochs.size());
    at.seconds = epoch * epochs;
    // Of the epoch it is in, what has passed: at most all of it.
    const Seconds since = now - (task.epochs.empty() ? task.started_at : task.epochs.back().at);
    const double begun = epoch.value > 0 ? std::clamp(since.value / epoch.value, 0.0, 0.99) : 0;
    at.left = std::clamp(1 - (done + begun) / epochs, 0.01 / epochs, 1.0);
    if (const auto slo = slos.find(job.id); slo != slos.end())
      at.deadline = slo->second - (now - job.submitted_at);
    if (job.base().place.deadline) at.deadline = *job.base().place.deadline - (now - job.submitted_at);
    out.push_back({std::move(at), program_name(job.base().program)});
  }
  return out;
}

double busy_with(double cores) {
  constexpr double kNothing = 0.25;  // what an idle machine shows
  return cores > kNothing ? cores : 0;
}

std::string busy_text(double busy_cores, const platform::CoresWanted& seen, double ours) {
  return fmt::format(
      "others want about {:.1f} cores now, and are taken to go on (seen: {:.2f} cores in use, "
      "threads for {:.2f} more in line{})",
      busy_cores, seen.used, seen.in_line, ours > 0 ? fmt::format("; {:g} of them Tandem's", ours) : "");
}

RunningNow running_now(store::Store& store, const RunningOption& option, const NodeView& machine) {
  RunningNow out;
  if (option.kind == RunningOption::Kind::none) return out;
  if (option.kind == RunningOption::Kind::number) {
    out.others = option.number;
    return out;
  }
  const Seconds now{static_cast<double>(::time(nullptr))};
  const auto promises = store.predictions();
  double ours = 0;
  for (const auto& run : store.running()) {
    if (!store::RunLock::owner(store.run_folder(run.id))) continue;  // interrupted
    const View view = replayed(store, run);
    for (auto& [job, program] : at_work(run.id, view, now, promised(promises, run.id))) {
      ours += job.setting.system.cores;
      if (job.seconds.value <= 0) {  // still in its first epoch
        const auto learnt = learn(store, program, machine, LearnOptions{});
        if (learnt) {
          out.models.push_back(std::make_shared<const advise::Models>(learnt->models));
          job.models = out.models.back().get();
        } else {
          job.seconds = Seconds{kForever};
          out.notes.push_back("nobody knows how long " + job.id + " takes: it is taken to run all along");
        }
      }
      out.jobs.push_back(std::move(job));
    }
  }
  const auto seen = wanted_by_others();
  if (!seen) {
    out.notes.push_back(
        "this machine does not say how busy it is (/proc/PID/schedstat): only Tandem's runs are counted");
    return out;
  }
  out.busy_cores = busy_with(seen->all() - ours);
  if (out.busy_cores > 0) out.notes.push_back(busy_text(out.busy_cores, *seen, ours));
  return out;
}

}  // namespace tandem::app
