#include "cli/session.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/leftovers.h"
#include "app/results.h"
#include "base/error.h"
#include "cli/displays.h"
#include "control/loop.h"
#include "data/dataset.h"
#include "platform/machine_lock.h"
#include "report/result_table.h"
#include "runtime/local/machine_gpus.h"
#include "server/daemon.h"

namespace tandem::cli {
namespace {

std::atomic<int> signals_seen{0};
std::atomic<int> last_signal{0};
std::atomic<const std::function<void()>*> wake_world{nullptr};

void on_interrupt(int signal) {
  // The second time in earnest: what is journalled is safe, and programs die with this process.
  if (signals_seen.fetch_add(1) > 0) ::_exit(kInterrupted);
  last_signal = signal;
  if (const auto* wake = wake_world.load()) (*wake)();
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

std::optional<std::string> interrupted() {
  switch (last_signal.load()) {
    case 0:
      return std::nullopt;
    case SIGINT:
      return "interrupted from the keyboard";
    case SIGTERM:
      return "asked to stop";
    default:
      return "its terminal was closed";
  }
}

// The run's lock. One that was just killed may hold it for a moment longer.
std::optional<store::RunLock> take_run(const std::filesystem::path& folder) {
  for (int tries = 0; tries < 20; ++tries) {
    if (auto lock = store::RunLock::take(folder)) return lock;
    ::usleep(25'000);
  }
  return std::nullopt;
}

// Waits for other runs on this machine to end; nullopt when interrupted meanwhile.
std::optional<platform::MachineLock> wait_for_machine(const std::string& run) {
  platform::MachineQueue queue(platform::MachineLock::default_file());
  const std::string label = fmt::format("run {} (pid {})", run, ::getpid());
  for (bool said = false; !interrupted(); said = true) {
    std::string owner;
    if (auto lock = queue.take(label, &owner)) return lock;
    if (!said) std::cerr << "tandem: waiting: this machine is at work on " << owner << "\n";
    ::usleep(200'000);
  }
  return std::nullopt;
}

// What the user must bring is asked for before there is a run.
void require_dataset(const spec::TrainJob& job) {
  if (!job.program.built_in()) return;
  const auto found = data::availability(job.program.dataset, data::folders_from_environment());
  if (!found.available && !found.can_be_made)
    throw UserError(fmt::format("the dataset '{}' is not here: {}", job.program.dataset, found.detail));
}

// What Tandem can make takes a while, and is made without the job's limits.
void make_dataset(const spec::TrainJob& job) {
  if (!job.program.built_in()) return;
  const auto folders = data::folders_from_environment();
  const auto found = data::availability(job.program.dataset, folders);
  if (found.available || !found.can_be_made) return;
  std::cerr << "tandem: making the dataset '" << job.program.dataset << "', once\n";
  data::prepare(job.program.dataset, folders);
}

int exit_code(const store::RunInfo& run, bool was_interrupted) {
  if (run.state == "finished") return kDone;
  return was_interrupted ? kInterrupted : kTrouble;
}

// Everything of the job's limits that was not raised stays as it is.
JobResumed raised(const View& view, const SessionOptions& options) {
  JobResumed out;
  if (!options.raises() || view.jobs.empty()) return out;
  const auto& now = view.jobs.front();
  out.limits = now.base().limits;
  if (options.stall) out.limits->stall = *options.stall;
  if (options.retries) out.limits->retries = *options.retries;
  const auto* search = now.as<spec::TuneJob>();
  if (search == nullptr) {
    if (options.time) out.limits->time = options.time;
    return out;
  }
  out.budget = search->budget;
  if (options.time) out.budget->time = options.time;
  if (options.energy) out.budget->energy = options.energy;
  return out;
}

int report_result(store::Store& store, const std::string& id, const View& view, const JsonOption& as_json,
                  const SessionOptions& options, bool was_interrupted) {
  const auto run = with_real_state(store, store.find(id));
  const auto folder = store.run_folder(id);
  if (options.then) options.then(run, view);
  as_json.write(result_json(run, view, folder));
  if (!as_json.alone())
    std::cout << result_table(run, view, folder, false)
              << next_steps(run, model_file(folder, view).has_value());
  return exit_code(run, was_interrupted);
}

void begin_or_go_on(control::Loop& loop, store::Store& store, const spec::Job& job,
                    const SessionOptions& options) {
  if (!loop.view().jobs.empty()) {
    loop.resume_jobs(raised(loop.view(), options), options.raises());
  } else if (row_of(job).uses_knowledge) {
    loop.submit(job, KnowledgeArrived{"store", store.knowledge(loop.view().nodes.front().type)});
  } else {
    loop.submit(job);
  }
}

// This machine; of an experiment with concurrent jobs as so many lanes as its largest point needs.
app::HostedWorld this_world(const store::RunInfo& run, const spec::Job& job,
                            const std::filesystem::path& folder) {
  const auto* experiment = std::get_if<spec::Experiment>(&job);
  app::WorldSetup setup{.run = run.id, .folder = folder, .trainer = trainer_program()};
  setup.programs = own_folder();
  setup.guardian = guardian_program();
  setup.here = {.energy = spec::base_of(job).energy,
                .asked = local::gpus_asked_by(job),
                .lanes = experiment != nullptr ? lanes_for(*experiment) : 1,
                .output_each = false,
                .watched = false,
                .waits_for_space = false};
  auto out = app::make_world(setup);
  if (out.gpus)
    for (const auto& note : out.gpus->notes()) std::cerr << "tandem: " << note << "\n";
  return out;
}

// Where the machine's lock itself is refused (an unsafe folder), a run that never began is of no use: what
// is wrong must be mended, and the command given again.
std::optional<platform::MachineLock> machine_for(store::Store& store, const store::RunInfo& run) {
  try {
    return wait_for_machine(run.id);
  } catch (const std::exception&) {
    bool began = false;
    store.journal(run.id)->replay([&](control::Entry&&) { began = true; });
    if (!began) store.remove(run.id);
    throw;
  }
}

int work(store::Store& store, const store::RunInfo& run, const spec::Job& job, const JsonOption& as_json,
         const SessionOptions& options) {
  catch_signals();
  const auto folder = store.run_folder(run.id);
  auto lock = take_run(folder);
  if (!lock)
    throw UserError("run " + run.id + " is being worked on by another process; `tandem logs -f " + run.id +
                    "` follows it");
  for (const auto& left : app::reap_leftovers(store)) std::cerr << "tandem: " << text(left) << "\n";
  auto journal = store.journal(run.id, [said = false](const std::string& why) mutable {
    if (!std::exchange(said, true)) std::cerr << "tandem: " << why << "; the run waits until it is free\n";
    return !interrupted();
  });
  const auto where = world_of(run);
  const auto machine = where.here() ? machine_for(store, run) : std::nullopt;
  if (where.here() && !machine) {
    std::cerr << "tandem: interrupted while waiting; go on with: " << own_command() << " resume " << run.id
              << "\n";
    return kInterrupted;
  }

  make_dataset(spec::base_of(job));
  const auto hosted = where.here() ? this_world(run, job, folder) : there(where, run, folder);
  wake_world = &hosted.interrupt;
  auto progress = options.quiet ? nullptr : make_display(run);
  control::Loop loop({*hosted.world, *journal, hosted.sensor.get(), progress.get()}, policies_for(job));
  loop.open();
  begin_or_go_on(loop, store, job, options);
  loop.run(interrupted);
  wake_world = nullptr;
  progress.reset();  // clears its line before the table
  lock.reset();
  return report_result(store, run.id, loop.view(), as_json, options, interrupted().has_value());
}

}  // namespace

int run_new(store::Store& store, const spec::Job& job, const JsonOption& as_json,
            const SessionOptions& options) {
  require_dataset(spec::base_of(job));
  require_possible_here(job);
  const Seconds now{static_cast<double>(::time(nullptr))};
  auto spec = spec::to_json(job);
  for (const auto& [key, value] : options.kept.items()) spec[key] = value;
  const auto run = store.create_run(spec::kind_of(job), spec::base_of(job).name, spec.dump(), now);
  if (options.made) options.made(run);
  return work(store, run, job, as_json, options);
}

int run_again(store::Store& store, const store::RunInfo& run, const JsonOption& as_json,
              const SessionOptions& options) {
  if (run.state == "finished" && !options.raises())
    return report_result(store, run.id, replayed(store, run), as_json, options, false);
  return work(store, run, job_of(run), as_json, options);
}

}  // namespace tandem::cli
