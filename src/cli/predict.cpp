// tandem predict RUN FILE, tandem infer RUN: what a trained model says, and what asking it costs
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/machine_share.h"
#include "app/results.h"
#include "app/worlds.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/session.h"
#include "control/loop.h"
#include "control/memory_journal.h"
#include "platform/temporary.h"
#include "report/result_table.h"

namespace tandem::cli {
namespace fs = std::filesystem;
namespace {

struct PredictOptions {
  std::string run, file;
  StoreOption store;
  JsonOption json;
  DataOption data;
  std::int64_t requests = 1000, batch = 1;
  double seconds = 0;
  int cores = 1;
};

fs::path trained_folder(store::Store& store, const std::string& written) {
  const auto [run, view, folders] = find_job_run(store, written);
  const auto model = model_file(folders, view);
  if (const auto& program = view.jobs.front().base().program; !model && !program.built_in())
    throw UserError(
        fmt::format("run {} has no model that Tandem could ask: it is of a program of yours ({}). `predict` "
                    "and `infer` are for models of the built-in trainer (program: {{model, dataset}})",
                    run.id, printable(program.command.front(), 80)));
  if (!model && run.state == "finished")
    throw UserError(fmt::format("run {} is finished and has no model: train it again", run.id));
  if (!model)
    throw UserError(fmt::format("run {} has no model yet (it is {}); `tandem resume {}` trains it to the end",
                                run.id, run.state, run.id));
  return model->parent_path();
}

// Hands over to the trainer, which has libtorch; does not return.
[[noreturn]] void become(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  throw_errno("starting " + arguments[0]);
}

void redirect_output(const std::string& file) {
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (out < 0 || ::dup2(out, STDOUT_FILENO) < 0) throw_errno("writing " + file);
}

int infer(const PredictOptions& options) {
  auto store = options.store.open();
  const fs::path folder = trained_folder(store, options.run);
  spec::TrainJob job;
  job.name = "infer";
  job.epochs = 1;
  job.limits.retries = 0;
  job.system.cores = options.cores;
  job.program.command = {trainer_program(), "infer",
                         "--folder",        folder.string(),
                         "--batch",         std::to_string(options.batch),
                         "--threads",       std::to_string(options.cores)};
  if (options.seconds > 0)
    job.program.command.insert(job.program.command.end(), {"--seconds", fmt::format("{}", options.seconds)});
  else
    job.program.command.insert(job.program.command.end(), {"--requests", std::to_string(options.requests)});

  const platform::TemporaryFolder scratch("tandem-infer");
  control::MemoryJournal journal;
  const auto machine = app::share_machine("tandem infer");
  const auto hosted = app::make_scratch_world(scratch.path(), job.energy);
  control::Loop loop({*hosted.world, journal, hosted.sensor.get(), nullptr}, policies_for(job));
  loop.open();
  loop.submit(job);
  loop.run();
  const auto& view = loop.view();
  if (view.jobs.front().state != JobState::finished) {
    const auto& failed = view.tasks.empty() ? std::nullopt : view.tasks.front().last_failure;
    throw SystemError(view.jobs.front().reason + (failed ? "\n" + failed->last_output : ""));
  }
  const auto& task = view.tasks.front();
  const auto& metrics = task.epochs.back().metrics;
  options.json.write(
      {{"run", options.run},
       {"metrics", metrics},
       {"joules", task.energy_source.empty() ? nlohmann::json(nullptr) : nlohmann::json(task.joules().value)},
       {"energy_source",
        task.energy_source.empty() ? nlohmann::json(nullptr) : nlohmann::json(task.energy_source)},
       {"cores", options.cores},
       {"batch", options.batch},
       {"beside", machine.beside.empty() ? nlohmann::json(nullptr) : nlohmann::json(machine.beside)}});
  if (options.json.alone()) return kDone;
  for (const auto& [name, value] : metrics) std::cout << fmt::format("  {:<22} {:.6g}\n", name, value);
  std::cout << fmt::format("  {:<22} {}\n", "energy", energy_text(task));
  if (!machine.beside.empty()) std::cout << fmt::format("  {:<22} {}\n", "measured beside", machine.beside);
  return kDone;
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* command = add_command(
      app, "predict", "Ask a trained model about a file",
      "  tandem predict last digit.pgm\n  tandem predict last t10k-images-idx3-ubyte.gz --json -");
  command->add_option("RUN", options->run, "id, its beginning, a name, or 'last'")->required();
  command
      ->add_option("FILE", options->file,
                   "images (IDX, PGM), rows (CSV) or a text, as the model was trained on")
      ->required();
  options->store.add_to(*command);
  options->json.add_to(*command);
  command->callback([options, &action] {
    action = [options]() -> int {
      auto store = options->store.open();
      std::vector<std::string> arguments{trainer_program(), "predict", "--folder",
                                         trained_folder(store, options->run).string(), options->file};
      if (options->json.wanted()) arguments.push_back("--json");
      if (options->json.wanted() && !options->json.alone()) redirect_output(options->json.target);
      become(arguments);
    };
  });
}

void add_infer(CLI::App& app, Action& action) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* command =
      add_command(app, "infer", "Serve a trained model and measure requests, latency and energy",
                  "  tandem infer last\n  tandem infer last --seconds 5 --batch 32 --cores 2 --json -");
  command->add_option("RUN", options->run, "id, its beginning, a name, or 'last'")->required();
  options->store.add_to(*command);
  options->json.add_to(*command);
  options->data.add_to(*command);
  auto* requests = command->add_option("--requests", options->requests, "how many requests (default 1000)");
  command->add_option("--seconds", options->seconds, "or how long")->excludes(requests);
  command->add_option("--batch", options->batch, "samples in a request (default 1)")
      ->check(CLI::Range(1, 65536));
  command->add_option("--cores", options->cores, "cores to serve with (default 1)")
      ->check(CLI::Range(1, 4096));
  command->callback([options, &action] {
    action = [options] {
      options->data.apply();
      return infer(*options);
    };
  });
}

}  // namespace tandem::cli
