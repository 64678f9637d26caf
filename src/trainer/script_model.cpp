#include <torch/script.h>

#include "base/error.h"
#include "trainer/served_model.h"

namespace tandem::trainer {
namespace {

class ScriptModel : public ServedModel {
 public:
  ScriptModel(const std::filesystem::path& file, const ModelCard& card) : card_(card) {
    module_ = torch::jit::load(file.string());
    module_.eval();
  }

  std::vector<float> predict(const data::Part& part, std::int64_t begin, std::int64_t count) override {
    try {
      const c10::InferenceMode inference;
      torch::Tensor out = module_.forward({batch(part, begin, count)}).toTensor();
      if (card_.classes > 0) out = torch::softmax(out, 1);
      out = out.contiguous();
      const float* values = out.data_ptr<float>();
      return {values, values + out.numel()};
    } catch (const std::exception& error) {  // c10::Error, and what the interpreter throws
      throw SystemError(std::string("libtorch, predicting: ") + error.what());
    }
  }

 private:
  torch::Tensor batch(const data::Part& part, std::int64_t begin, std::int64_t count) const {
    std::vector<std::int64_t> sizes{count};
    sizes.insert(sizes.end(), card_.shape.begin(), card_.shape.end());
    std::int64_t row = 1;
    for (const std::int64_t size : card_.shape) row *= size;
    if (card_.kind == data::Kind::text)
      return torch::from_blob(const_cast<std::int64_t*>(part.tokens.data()) + begin * row, sizes,
                              torch::kInt64);
    return torch::from_blob(const_cast<float*>(part.values.data()) + begin * row, sizes, torch::kFloat32);
  }

  ModelCard card_;
  torch::jit::Module module_;
};

}  // namespace

std::unique_ptr<ServedModel> open_script(const std::filesystem::path& file, const ModelCard& card) {
  try {
    return std::make_unique<ScriptModel>(file, card);
  } catch (const c10::Error& error) {
    throw UserError(file.string() + " cannot be read as TorchScript: " + error.what_without_backtrace());
  }
}

}  // namespace tandem::trainer
