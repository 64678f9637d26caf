#include "stats/regression/boosting.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "base/error.h"

namespace tandem::stats {
namespace {

using BoostingKind = BoostingOptions::Kind;

void check_status(int status, const char* doing) {
  if (status != 0) throw SystemError(fmt::format("XGBoost, {}: {}", doing, XGBGetLastError()));
}

struct FreeMatrix {
  void operator()(void* handle) const { XGDMatrixFree(handle); }
};
struct FreeBooster {
  void operator()(void* handle) const { XGBoosterFree(handle); }
};
using BoosterMatrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

BoosterMatrix booster_matrix(const Table& table) {
  DMatrixHandle handle = nullptr;
  check_status(XGDMatrixCreateFromMat(table.values.data(), table.rows(), table.columns,
                                      std::numeric_limits<float>::quiet_NaN(), &handle),
               "reading the table");
  return BoosterMatrix(handle);
}

Booster booster_for(const BoosterMatrix* matrix) {
  BoosterHandle handle = nullptr;
  const DMatrixHandle cached[] = {matrix ? matrix->get() : nullptr};
  check_status(XGBoosterCreate(cached, matrix ? 1 : 0, &handle), "making a model");
  return Booster(handle);
}

void load(const Booster& booster, const std::string& model) {
  check_status(XGBoosterLoadModelFromBuffer(booster.get(), model.data(), model.size()), "reading a model");
}

void set_parameter(const Booster& booster, const char* name, const std::string& value) {
  check_status(XGBoosterSetParam(booster.get(), name, value.c_str()), name);
}

double mean_label(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

void configure(const Booster& booster, const BoostingOptions& options, std::uint64_t seed,
               int trees_a_round) {
  set_parameter(booster, "nthread", "1");
  set_parameter(booster, "verbosity", "0");
  set_parameter(booster, "seed", std::to_string(seed % std::numeric_limits<std::int32_t>::max()));
  set_parameter(booster, "seed_per_iteration", "true");
  set_parameter(booster, "objective", options.classes > 0 ? "multi:softprob" : "reg:squarederror");
  if (options.classes > 0) set_parameter(booster, "num_class", std::to_string(options.classes));
  set_parameter(booster, "lambda", fmt::format("{}", options.regularisation));
  const bool forest = options.kind == BoostingKind::forest;
  set_parameter(booster, "learning_rate", fmt::format("{}", forest ? 1.0 : options.learning_rate));
  if (options.kind == BoostingKind::linear) {
    set_parameter(booster, "booster", "gblinear");
    set_parameter(booster, "updater", "coord_descent");  // the default updater races by design
    return;
  }
  set_parameter(booster, "tree_method", options.half_way ? "exact" : "hist");
  set_parameter(booster, "max_depth", std::to_string(options.max_depth));
  set_parameter(booster, "subsample", fmt::format("{}", options.subsample));
  set_parameter(booster, "colsample_bynode", fmt::format("{}", options.column_sample));
  if (forest) set_parameter(booster, "num_parallel_tree", std::to_string(trees_a_round));
}

std::string booster_bytes(const Booster& booster) {
  bst_ulong length = 0;
  const char* bytes = nullptr;
  check_status(XGBoosterSaveModelToBuffer(booster.get(), R"({"format":"ubj"})", &length, &bytes),
               "writing a model");
  return {bytes, length};
}

void append_number(std::string& bytes, std::uint64_t number) {
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(number >> (8 * i)));
}

std::uint64_t take_number(std::string_view& bytes) {
  if (bytes.size() < 8) throw SystemError("a serialised model is cut short");
  std::uint64_t number = 0;
  for (int i = 0; i < 8; ++i) number |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  bytes.remove_prefix(8);
  return number;
}

}  // namespace

Boosting::Boosting(const BoostingOptions& options) : options_(options) {}

Boosting::Boosting(const BoostingOptions& options, std::string_view serialised) : options_(options) {
  const std::uint64_t count = take_number(serialised);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t length = take_number(serialised);
    if (length > serialised.size()) throw SystemError("a serialised model is cut short");
    models_.emplace_back(serialised.substr(0, length));
    serialised.remove_prefix(length);
  }
  if (!serialised.empty()) throw SystemError("a serialised model has bytes after its end");
}

Boosting::Boosting(const BoostingOptions& options, std::vector<std::string> models)
    : options_(options), models_(std::move(models)) {}

std::string Boosting::serialise() const {
  std::string bytes;
  append_number(bytes, models_.size());
  for (const std::string& model : models_) {
    append_number(bytes, model.size());
    bytes += model;
  }
  return bytes;
}

void Boosting::train(const Table& table, std::span<const float> targets, int rounds) {
  assert(static_cast<std::int64_t>(targets.size()) == table.rows());
  const BoosterMatrix matrix = booster_matrix(table);
  check_status(XGDMatrixSetFloatInfo(matrix.get(), "label", targets.data(), targets.size()),
               "reading the targets");
  // Always from bytes, so that training on and training on after a restore are the same thing.
  const Booster booster = booster_for(&matrix);
  const bool forest = options_.kind == BoostingKind::forest, fresh = forest || models_.empty();
  if (!fresh) load(booster, models_.back());
  configure(booster, options_, options_.seed + (forest ? models_.size() : 0), rounds);
  int done = 0;
  // Where regularisation pulls to; XGBoost's own 0.5 is far from most targets.
  if (fresh && options_.classes == 0)
    set_parameter(booster, "base_score", fmt::format("{}", mean_label(targets)));
  if (!fresh) check_status(XGBoosterBoostedRounds(booster.get(), &done), "counting rounds");
  for (int round = 0; round < (forest ? 1 : rounds); ++round)
    check_status(XGBoosterUpdateOneIter(booster.get(), done + round, matrix.get()), "training");
  if (fresh)
    models_.push_back(booster_bytes(booster));
  else
    models_.back() = booster_bytes(booster);
}

std::vector<float> Boosting::predict(const Table& table) const {
  assert(!models_.empty());
  const BoosterMatrix matrix = booster_matrix(table);
  std::vector<float> mean(table.rows() * std::max<std::int64_t>(1, options_.classes), 0.0F);
  for (const std::string& model : models_) {
    const Booster booster = booster_for(nullptr);
    load(booster, model);
    set_parameter(booster, "nthread", "1");
    bst_ulong length = 0;
    const float* predicted = nullptr;
    check_status(XGBoosterPredict(booster.get(), matrix.get(), 0, 0, 0, &length, &predicted), "predicting");
    if (length != mean.size())
      throw SystemError(
          fmt::format("XGBoost predicted {} numbers where {} were expected", length, mean.size()));
    for (std::size_t i = 0; i < mean.size(); ++i)
      mean[i] += predicted[i] / static_cast<float>(models_.size());
  }
  return mean;
}

}  // namespace tandem::stats
