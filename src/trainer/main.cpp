#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>

#include "base/error.h"
#include "data/models.h"
#include "protocol/client.h"
#include "trainer/commands.h"
#include "trainer/threads.h"

namespace {

using namespace tandem;

std::string model_list() {
  std::string text = "Models:\n";
  for (const ModelEntry& entry : data::models()) {
    text += fmt::format("  {:<10} {} ({} data)\n", entry.name, entry.description, entry.input);
    for (const HyperRule& rule : entry.hyper)
      text += fmt::format("    {:<15} {} [{}]\n", rule.name, rule.description, tandem::text(rule.fallback));
  }
  return text;
}

int run(int argc, char** argv) {
  CLI::App app("Tandem's built-in trainer: trains, asks and serves models.");
  app.require_subcommand(1);

  trainer::TrainOptions train;
  auto* train_app = app.add_subcommand("train", "train a model, from its last checkpoint where there is one");
  train_app->footer(
      "Example: tandem-trainer train --model lenet5 --dataset digits --hyper batch_size=64\n\n" +
      model_list());
  train_app->add_option("--model", train.model, "what learns")->required();
  train_app->add_option("--dataset", train.dataset, "what it learns from")->required();
  train_app->add_option("--hyper", train.hyper, "name=value, as often as needed");
  train_app->add_option("--epochs", train.epochs, "passes over the data [10]")->check(CLI::Range(1, 1000000));
  train_app->add_option("--threads", train.threads, "threads to use [1]")->check(CLI::Range(1, 1024));
  train_app->add_option("--seed", train.seed, "the same seed gives the same model [1]");
  train_app->add_option("--keep", train.keep, "checkpoints to keep [2]")->check(CLI::Range(1, 1000000));
  train_app->add_option("--folder", train.folder, "for checkpoints and the model [./MODEL-DATASET]");

  trainer::PredictOptions predict;
  auto* predict_app = app.add_subcommand("predict", "ask a trained model about a file");
  predict_app->footer("Example: tandem-trainer predict --folder lenet5-digits seven.pgm");
  predict_app->add_option("--folder", predict.folder, "where the model is")->required();
  predict_app->add_option("file", predict.file, "IDX or PGM image, CSV rows, or text")->required();
  predict_app->add_flag("--json", predict.json, "JSON on stdout");

  trainer::InferOptions infer;
  auto* infer_app = app.add_subcommand("infer", "serve a trained model on its test data and measure it");
  infer_app->footer("Example: tandem-trainer infer --folder lenet5-digits --seconds 5 --batch 8");
  infer_app->add_option("--folder", infer.folder, "where the model is");
  infer_app->add_option("--requests", infer.requests, "requests to serve [1000]")
      ->check(CLI::Range(1, 1000000000));
  infer_app->add_option("--seconds", infer.seconds, "or how long to serve")->check(CLI::PositiveNumber);
  infer_app->add_option("--batch", infer.batch, "samples a request [1]")->check(CLI::Range(1, 65536));
  infer_app->add_option("--threads", infer.threads, "threads to use [1]")->check(CLI::Range(1, 1024));
  infer_app->add_flag("--json", infer.json, "JSON on stdout");

  trainer::StepsOptions steps;
  auto* steps_app = app.add_subcommand("steps", "time a few batches of a model that was never trained here");
  steps_app->footer("Example: tandem-trainer steps --model lenet5 --dataset digits --hyper batch_size=64");
  steps_app->add_option("--model", steps.model, "what learns")->required();
  steps_app->add_option("--dataset", steps.dataset, "what it learns from")->required();
  steps_app->add_option("--hyper", steps.hyper, "name=value, as often as needed");
  steps_app->add_option("--batches", steps.batches, "to time, after two that warm up [5]")
      ->check(CLI::Range(1, 100000));
  steps_app->add_option("--threads", steps.threads, "threads to use [1]")->check(CLI::Range(1, 1024));

  bool blas_json = false;
  auto* blas_app = app.add_subcommand("blas", "which BLAS is in use; exit code 3 when it fights OpenMP");
  blas_app->add_flag("--json", blas_json, "JSON on stdout");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  trainer::keep_freed_memory();
  if (*train_app) return trainer::train_command(train);
  if (*predict_app) return trainer::predict_command(predict);
  if (*infer_app) return trainer::infer_command(infer);
  if (*steps_app) return trainer::steps_command(steps);
  return trainer::blas_command(blas_json);
}

}  // namespace

int main(int argc, char** argv) {
  trainer::keep_to_given_cpus();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error like a full disk, not a death
  try {
    return run(argc, argv);
  } catch (const UserError& error) {
    fmt::print(stderr, "tandem-trainer: {}\n", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "tandem-trainer: not enough memory; raise system.memory, or make batches smaller\n");
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tandem-trainer: {}\n", error.what());
    return 1;
  }
}
