// tandem logs [-f] RUN, tandem stop RUN
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/job_view.h"
#include "app/task_output.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/printing.h"
#include "cli/session.h"

namespace tandem::cli {
namespace {

constexpr int kStopTries = 300, kTryMicroseconds = 100'000, kServerTryMicroseconds = 500'000;

struct LogsOptions {
  std::string run;
  StoreOption store;
  JsonOption json;
  bool follow = false;
  std::int64_t trial = 0;
};

// Prints what comes, and keeps it where JSON is wanted.
class Copy {
 public:
  Copy(const JsonOption& json, const std::string& run) : json_(json), run_(run) {}

  void more(app::OutputReader& output) {
    for (std::string part = output.more(); !part.empty() && std::cout; part = output.more()) {
      if (!json_.alone()) print_output(part);
      if (json_.wanted()) all_ += part;
    }
    std::cout << std::flush;
  }
  int done() const {
    json_.write({{"run", run_}, {"output", all_}});
    return kDone;
  }

 private:
  const JsonOption& json_;
  std::string run_, all_;
};

int show_logs(store::Store& store, const store::RunInfo& run, const LogsOptions& options) {
  Copy copy(options.json, run.id);
  const auto folder = store.run_folder(run.id);
  app::OutputReader output(folder, "output.log");
  while (true) {
    // Whether it still runs is asked before copying, so that its last words are not missed.
    const bool at_work = options.follow && store::RunLock::owner(folder).has_value();
    copy.more(output);
    if (!at_work || !std::cout) return copy.done();
    ::usleep(kTryMicroseconds);
  }
}

// Of a server's job: what its program, or one of its trials, printed.
int show_job_logs(store::Store& store, const LogsOptions& options) {
  std::optional<app::OutputReader> output;
  Copy copy(options.json, options.run);
  for (;; ::usleep(kServerTryMicroseconds)) {
    const auto job = find_job_run(store, options.run);
    const auto trial = static_cast<std::size_t>(options.trial);
    if (trial >= job.view.tasks.size() && job.view.jobs.front().state != JobState::running)
      throw UserError(
          fmt::format("job {} has no trial {}: it has {}", job.run.id, trial, job.view.tasks.size()));
    if (trial < job.view.tasks.size() && !output)
      output.emplace(job.folders.run, job.folders.output_of(static_cast<TaskId>(trial)));
    if (output) copy.more(*output);
    if (!options.follow || job.view.jobs.front().state != JobState::running || !std::cout) return copy.done();
  }
}

void say_stopped(const store::RunInfo& run, bool was_at_work, const JsonOption& as_json) {
  as_json.write({{"run", run.id}, {"stopped", was_at_work}});
  if (as_json.alone()) return;
  if (was_at_work)
    std::cout << "Stopped. Go on with: " << own_command() << " resume " << run.id << "\n";
  else
    std::cout << "Run " << run.id << " is not at work (" << run.state << ").\n";
}

int stop_run(const store::Store& store, const store::RunInfo& run, const JsonOption& as_json) {
  const auto folder = store.run_folder(run.id);
  const auto owner = store::RunLock::owner(folder);
  if (!owner) {
    say_stopped(run, false, as_json);
    return kDone;
  }
  if (::kill(*owner, SIGTERM) != 0) throw_errno(fmt::format("asking process {} to stop", *owner));
  for (int tries = 0; tries < kStopTries; ++tries) {
    if (!store::RunLock::owner(folder)) {
      say_stopped(run, true, as_json);
      return kDone;
    }
    ::usleep(kTryMicroseconds);
  }
  throw SystemError(fmt::format(
      "process {} has not stopped after 30 s; `kill -9 {}` is safe: the run can be resumed", *owner, *owner));
}

}  // namespace

void add_logs(CLI::App& app, Action& action) {
  auto options = std::make_shared<LogsOptions>();
  CLI::App* command = add_command(app, "logs", "Print what a run's program printed",
                                  "  tandem logs last\n  tandem logs -f last      follow it until it ends\n"
                                  "  tandem logs main/12 --trial 3");
  command->add_option("RUN", options->run, "id, its beginning, a name, 'last', or SERVER/JOB")->required();
  options->store.add_to(*command);
  options->json.add_to(*command);
  command->add_flag("-f,--follow", options->follow, "go on until the run ends");
  command->add_option("--trial", options->trial, "of a server's tuning job: which trial")
      ->check(CLI::NonNegativeNumber);
  command->callback([options, &action] {
    action = [options] {
      auto store = options->store.open();
      if (options->run.find('/') != std::string::npos) return show_job_logs(store, *options);
      return show_logs(store, find_own_run(store, options->run), *options);
    };
  });
}

void add_stop(CLI::App& app, Action& action) {
  auto options = std::make_shared<LogsOptions>();
  CLI::App* command =
      add_command(app, "stop", "Stop a run that is at work; it can be resumed", "  tandem stop last");
  command->add_option("RUN", options->run, "id, its beginning, a name, or 'last'")->required();
  options->store.add_to(*command);
  options->json.add_to(*command);
  command->callback([options, &action] {
    action = [options] {
      auto store = options->store.open();
      return stop_run(store, store.find(options->run), options->json);
    };
  });
}

}  // namespace tandem::cli
