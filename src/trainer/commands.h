// What tandem-trainer can be asked for, one function a command. Each returns the exit code; progress and
// warnings go to stderr, results to stdout. Inside Tandem (TANDEM_SOCKET) `train`, `infer` and `steps` speak
// docs/protocol.md.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/value.h"

namespace tandem::trainer {

struct TrainOptions {
  std::string model, dataset;
  // Outside Tandem only; inside, all of it comes with Begin.
  std::vector<std::string> hyper;  // "name=value"
  std::int64_t epochs = 10;
  int threads = 1;
  std::int64_t seed = 1;
  std::int64_t keep = 2;
  std::filesystem::path folder;  // empty: MODEL-DATASET in the working directory
};
int train_command(const TrainOptions&);

struct PredictOptions {
  std::filesystem::path folder, file;
  bool json = false;
};
int predict_command(const PredictOptions&);

struct InferOptions {
  std::filesystem::path folder;  // empty: TANDEM_FOLDER
  std::optional<std::int64_t> requests;
  std::optional<double> seconds;
  std::int64_t batch = 1;
  int threads = 1;
  bool json = false;
};
int infer_command(const InferOptions&);

// Times batches of a model that nobody has trained here yet: `step_seconds` (their median) and `records` of
// an epoch. UserError when the model does not learn in batches.
struct StepsOptions {
  std::string model, dataset;
  std::vector<std::string> hyper;
  std::int64_t batches = 5;
  int threads = 1;
};
int steps_command(const StepsOptions&);

// "name=value" each; UserError when one is not.
Values hyper_from(const std::vector<std::string>& written);

// 0 when the BLAS shares OpenMP's threads, 3 when it does not.
int blas_command(bool json);

// As YAML would read it: true, 64, 0.05, word.
Value parse_value(const std::string& written);

}  // namespace tandem::trainer
