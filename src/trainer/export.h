// The trained model as files that others can read: model.pt (TorchScript) or model*.ubj (XGBoost), and
// model.json that says what it is. model.json is written last, so where it is, the rest is whole.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trainer/session.h"

namespace tandem::trainer {

void export_model(const Task&, const data::Dataset&, const Learner&, const Metrics& last);

// model.json as a value.
struct ModelCard {
  std::string model, dataset, format;
  Values hyper;
  std::int64_t seed = 1;
  data::Kind kind = data::Kind::image;
  std::vector<std::int64_t> shape;
  std::int64_t classes = 0;
  std::vector<std::string> class_names, words;
  Metrics metrics;
  std::string digest;              // of the weights, 16 hex digits
  std::vector<std::string> files;  // beside model.json
};

// Throws UserError when there is no model in the folder, or it cannot be understood.
ModelCard read_card(const std::filesystem::path& folder);

const char* name(data::Kind);

}  // namespace tandem::trainer
