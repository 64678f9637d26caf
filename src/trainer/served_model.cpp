#include "trainer/served_model.h"

#include <fmt/format.h>

#include <functional>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "trainer/boosting_model.h"

namespace tandem::trainer {
namespace {

class ServedBoosting : public ServedModel {
 public:
  ServedBoosting(stats::Boosting learner, const ModelCard& card)
      : learner_(std::move(learner)),
        columns_(
            std::accumulate(card.shape.begin(), card.shape.end(), std::int64_t{1}, std::multiplies<>())) {}

  std::vector<float> predict(const data::Part& part, std::int64_t begin, std::int64_t count) override {
    return learner_.predict({std::span(part.values).subspan(begin * columns_, count * columns_), columns_});
  }

 private:
  stats::Boosting learner_;
  std::int64_t columns_;
};

}  // namespace

std::unique_ptr<ServedModel> open_model(const std::filesystem::path& folder, const ModelCard& card) {
  for (const std::string& file : card.files)
    if (file.find('/') != std::string::npos || !std::filesystem::exists(folder / file))
      throw UserError(fmt::format("{}: the model's file {} is not there", folder.string(), file));
  if (card.files.empty()) throw UserError(folder.string() + ": model.json names no files");
  if (card.format == "torchscript") return open_script(folder / card.files.front(), card);
  if (card.format != "xgboost")
    throw UserError(fmt::format("{}: models of the format '{}' are not known", folder.string(), card.format));
  auto learner =
      read_boosting(boosting_options(card.model, card.hyper, card.seed, card.classes), folder, card.files);
  // XGBoost does not survive every broken file, so bytes it has not written itself are not shown to it.
  if (fmt::format("{:016x}", hash_name(learner.serialise())) != card.digest)
    throw UserError(folder.string() + ": the model's files are not those model.json was written for");
  return std::make_unique<ServedBoosting>(std::move(learner), card);
}

}  // namespace tandem::trainer
