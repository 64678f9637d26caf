#include "app/advice_probe.h"

#include <fmt/format.h>

#include "advise/probe.h"
#include "app/installation.h"
#include "app/past_runs.h"
#include "app/runs.h"
#include "app/worlds.h"
#include "base/error.h"
#include "control/loop.h"
#include "control/memory_journal.h"
#include "platform/temporary.h"

namespace tandem::app {
namespace {

// As many as make a time that can be trusted, also where a batch takes a millisecond.
constexpr int kFewestBatches = 20;

spec::TrainJob job_to_time(const spec::TrainJob& base, const advise::ProbeSetting& probe) {
  spec::TrainJob job;
  job.name = "probe";
  job.epochs = 1;
  job.limits.retries = 0;
  job.energy.source = "none";
  job.system = probe.setting.system;
  job.program.command = {trainer_program(), "steps",
                         "--model",         base.program.model,
                         "--dataset",       base.program.dataset,
                         "--batches",       std::to_string(std::max(kFewestBatches, probe.batches)),
                         "--threads",       std::to_string(probe.setting.system.cores)};
  for (const auto& [name, value] : probe.setting.hyper)
    job.program.command.insert(job.program.command.end(), {"--hyper", name + "=" + text(value)});
  return job;
}

// What the program reported: step_seconds and records.
Metrics timed(const spec::TrainJob& job) {
  const platform::TemporaryFolder scratch("tandem-probe");
  control::MemoryJournal journal;
  const auto hosted = make_scratch_world(scratch.path());
  control::Loop loop({*hosted.world, journal, nullptr, nullptr}, policies_for(job));
  loop.open();
  loop.submit(job);
  loop.run();
  const auto& view = loop.view();
  if (view.jobs.front().state != JobState::finished) {
    const auto failed = view.tasks.empty() ? std::nullopt : view.tasks.front().last_failure;
    throw UserError("the probe of a program that never ran here failed: " + view.jobs.front().reason +
                    (failed ? "\n" + failed->last_output : ""));
  }
  return view.tasks.front().epochs.back().metrics;
}

}  // namespace

std::vector<advise::PastRun> probe_candidates(const spec::TrainJob& job,
                                              std::span<const advise::Setting> candidates,
                                              const NodeView& machine, std::span<const int> jobs) {
  const std::string program = program_name(job.program);
  if (!job.program.built_in())
    throw UserError(
        fmt::format("there are no past runs of '{}' to learn from, and a command cannot be probed: run it "
                    "once (tandem train), or a few times (tandem characterize)",
                    program));
  advise::ProbedProgram probed{program, machine.type, 0, machine.capacity.cores};
  std::vector<advise::ProbeTime> times;
  for (const auto& probe : advise::probes_for(candidates)) {
    const Metrics metrics = timed(job_to_time(job, probe));
    times.push_back({probe.setting, metrics.at("step_seconds")});
    probed.records = static_cast<std::int64_t>(metrics.at("records"));
  }
  return advise::seeded_history(probed, times, candidates, jobs);
}

}  // namespace tandem::app
