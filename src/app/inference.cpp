#include "app/inference.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/installation.h"
#include "app/machine_share.h"
#include "app/runs.h"
#include "app/worlds.h"
#include "base/error.h"
#include "control/loop.h"
#include "control/memory_journal.h"
#include "platform/temporary.h"

namespace tandem::app {
using nlohmann::json;
namespace {

spec::TrainJob job_of(const std::filesystem::path& folder, const InferenceOptions& options) {
  spec::TrainJob job;
  job.name = "infer";
  job.epochs = 1;
  job.limits.retries = 0;
  job.system.cores = options.cores;
  job.program.command = {trainer_program(), "infer",
                         "--folder",        folder.string(),
                         "--batch",         std::to_string(options.batch),
                         "--threads",       std::to_string(options.cores)};
  const bool timed = options.seconds > 0;
  job.program.command.push_back(timed ? "--seconds" : "--requests");
  job.program.command.push_back(timed ? fmt::format("{}", options.seconds) : std::to_string(options.requests));
  return job;
}

}  // namespace

Inference inference_of(const TaskView& task) {
  const auto& record = task.epochs.back();
  Inference out{record.metrics, record.working_energy(), std::nullopt, task.energy_source, ""};
  if (out.joules) out.startup_joules = record.energy->joules - *out.joules;
  return out;
}

Inference measure_inference(const std::filesystem::path& folder, const InferenceOptions& options) {
  const auto job = job_of(folder, options);
  const platform::TemporaryFolder scratch("tandem-infer");
  control::MemoryJournal journal;
  const auto machine = share_machine("tandem infer");
  const auto hosted = make_scratch_world(scratch.path(), job.energy);
  control::Loop loop({*hosted.world, journal, hosted.sensor.get(), nullptr}, policies_for(job));
  loop.open();
  loop.submit(job);
  loop.run();
  const auto& view = loop.view();
  if (view.jobs.front().state != JobState::finished) {
    const auto& failed = view.tasks.empty() ? std::nullopt : view.tasks.front().last_failure;
    throw SystemError(view.jobs.front().reason + (failed ? "\n" + failed->last_output : ""));
  }
  auto out = inference_of(view.tasks.front());
  out.beside = machine.beside;
  return out;
}

json inference_json(const std::string& run, const InferenceOptions& options, const Inference& measured) {
  const auto joules = [](const std::optional<Joules>& known) { return known ? json(known->value) : json(nullptr); };
  const auto words = [](const std::string& text) { return text.empty() ? json(nullptr) : json(text); };
  return {{"run", run},
          {"metrics", measured.metrics},
          {"joules", joules(measured.joules)},
          {"startup_joules", joules(measured.startup_joules)},
          {"energy_source", words(measured.energy_source)},
          {"cores", options.cores},
          {"batch", options.batch},
          {"beside", words(measured.beside)}};
}

}  // namespace tandem::app
