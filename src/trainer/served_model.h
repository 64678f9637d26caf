// A trained model read back from its folder, to be asked. One thread uses it.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "trainer/export.h"

namespace tandem::trainer {

class ServedModel {
 public:
  virtual ~ServedModel() = default;
  // Samples [begin, begin + count) of the part: `classes` probabilities each, or one number each.
  virtual std::vector<float> predict(const data::Part&, std::int64_t begin, std::int64_t count) = 0;
};

// Throws UserError when the model's files are absent or broken.
std::unique_ptr<ServedModel> open_model(const std::filesystem::path& folder, const ModelCard&);
// Called by open_model for TorchScript.
std::unique_ptr<ServedModel> open_script(const std::filesystem::path& file, const ModelCard&);

}  // namespace tandem::trainer
