#include "trainer/learner.h"

#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "data/models.h"
#include "trainer/boosting_model.h"
#include "trainer/export.h"

namespace tandem::trainer {
namespace {

// Dense and classical learners see a sample as a row of numbers, whatever its shape.
bool takes(const ModelEntry& model, data::Kind kind) {
  if (model.input == name(kind)) return true;
  const bool rows = model.name == "mlp" || is_boosting(model.name);
  return rows && kind != data::Kind::text;
}

}  // namespace

bool batch_dropped(double drop, std::int64_t epoch, std::int64_t batch) {
  if (drop <= 0 || batch == 0) return false;
  constexpr double kGolden = 0.6180339887;  // so that no batch is left out in every epoch
  const double turned = kGolden * static_cast<double>(epoch);
  const auto until = [&](std::int64_t n) {
    return std::floor(drop * static_cast<double>(n) + turned - std::floor(turned));
  };
  return until(batch) > until(batch - 1);
}

std::unique_ptr<Learner> make_learner(const Setup& setup, const data::Dataset& dataset, Gang* gang) {
  const ModelEntry& model = data::model(setup.model);
  if (!takes(model, dataset.kind))
    throw UserError(fmt::format("{} learns from {} data, but {} is {} data", setup.model, model.input,
                                dataset.name, name(dataset.kind)));
  const bool regression_only = model.input == "table" && !is_boosting(model.name);
  if (regression_only && dataset.classes > 0)
    throw UserError(fmt::format("{} learns numbers, but {} has classes", setup.model, dataset.name));
  if (dataset.train.count == 0 || dataset.test.count == 0)
    throw UserError(
        fmt::format("{} has no {} samples", dataset.name, dataset.train.count == 0 ? "training" : "test"));
  if (gang && is_boosting(setup.model))
    throw UserError(fmt::format("{} trains on one node; leave system.nodes out", setup.model));
  return is_boosting(setup.model) ? make_boosting_learner(setup, dataset)
                                  : make_network_learner(setup, dataset, gang);
}

}  // namespace tandem::trainer
