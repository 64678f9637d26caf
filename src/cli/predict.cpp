// tandem predict RUN FILE, tandem infer RUN: what a trained model says, and what asking it costs
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/inference.h"
#include "app/results.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/session.h"
#include "report/energy_text.h"

namespace tandem::cli {
namespace fs = std::filesystem;
namespace {

struct PredictOptions {
  std::string run, file;
  StoreOption store;
  JsonOption json;
  DataOption data;
  InferenceOptions inference;
};

struct Trained {
  std::string run;
  fs::path folder;
};

Trained trained(store::Store& store, const std::string& written) {
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
  return {run.id, model->parent_path()};
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

std::string energy_line(const std::optional<Joules>& joules, const Inference& measured) {
  if (!joules) return "not known: no source (see `tandem doctor`)";
  return energy_text(EnergyTotal{*joules, measured.energy_source});
}

int infer(const PredictOptions& options) {
  auto store = options.store.open();
  const auto [run, folder] = trained(store, options.run);
  const auto measured = measure_inference(folder, options.inference);
  options.json.write(inference_json(run, options.inference, measured));
  if (options.json.alone()) return kDone;
  const auto line = [](const char* name, const std::string& value) {
    std::cout << fmt::format("  {:<22} {}\n", name, value);
  };
  for (const auto& [name, value] : measured.metrics)
    line(name.c_str(), name == "seconds"                 ? text(Seconds{value})
                       : name.starts_with("latency_") ? fmt::format("{:.3g} ms", 1e3 * value)
                                                      : fmt::format("{:.6g}", value));
  line("energy of serving", energy_line(measured.joules, measured));
  line("energy of start-up", energy_line(measured.startup_joules, measured));
  if (!measured.beside.empty()) line("measured beside", measured.beside);
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
                                         trained(store, options->run).folder.string(), options->file};
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
  auto* requests = command->add_option("--requests", options->inference.requests, "how many requests (default 1000)");
  command->add_option("--seconds", options->inference.seconds, "or how long")->excludes(requests);
  command->add_option("--batch", options->inference.batch, "samples in a request (default 1)")
      ->check(CLI::Range(1, 65536));
  command->add_option("--cores", options->inference.cores, "cores to serve with (default 1)")
      ->check(CLI::Range(1, 4096));
  command->callback([options, &action] {
    action = [options] {
      options->data.apply();
      return infer(*options);
    };
  });
}

}  // namespace tandem::cli
