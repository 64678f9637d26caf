// Something that learns from a dataset epoch by epoch: a network (libtorch) or a classical learner (XGBoost).
//
// The session (session.h) drives it and knows no more than this. One thread uses a Learner. The same setup,
// seed and number of threads give the same epochs; `restore(state())` and going on equals never having
// stopped, bit for bit on one thread. The dataset outlives the learner.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/value.h"
#include "data/dataset.h"

namespace tandem::trainer {

struct Setup {
  std::string model;
  Values hyper;  // complete (data::with_defaults)
  std::int64_t seed = 1;
  double drop = 0;  // share of each epoch's batches that is left out
};

// Whether a batch (from 0) of an epoch is left out: evenly spread, other batches each epoch; of the batches
// up to each the share left out is `drop`, as nearly as whole ones allow. The first never is.
bool batch_dropped(double drop, std::int64_t epoch, std::int64_t batch);

class Learner {
 public:
  virtual ~Learner() = default;

  virtual void set_threads(int threads) = 0;

  // Learns from every sample once; the mean loss over them. Throws UserError when the loss is no longer
  // finite.
  virtual double train(std::int64_t epoch) = 0;
  // Of the last epoch, the seconds in which no learning could go on because the next batch was being put
  // together; none: the learner cannot tell.
  virtual std::optional<double> waited() const { return std::nullopt; }
  // How good it is on the test part (scores.h): `accuracy`, `precision`, `recall`, `f1` and `loss`, or for
  // regressions `error` (1 is no better than the mean), `r2`, `rmse`, `mae` and `loss`.
  virtual Metrics test() = 0;

  // Learns from so many whole batches and says what each took, in seconds: what a probe wants to know before
  // there is a run. None: it does not learn in batches. The learner has learnt from them afterwards.
  virtual std::vector<double> time_batches(std::int64_t) { return {}; }

  // Everything that the next epochs depend on: weights, optimizer, random generators.
  virtual std::string state() const = 0;
  // Throws SystemError when the state is of another learner.
  virtual void restore(std::string_view state) = 0;

  // How a table's features and targets were brought to mean 0 and deviation 1; the exported model does it by
  // itself.
  struct Scaling {
    std::vector<float> feature_mean, feature_deviation;
    float target_mean = 0, target_deviation = 1;
  };

  // What is exported: the bytes of each file by name, and what a reader of model.json must know of them.
  struct Exported {
    std::vector<std::pair<std::string, std::string>> files;
    std::optional<Scaling> scaling;
    std::string format;        // "torchscript" or "xgboost"
    std::uint64_t digest = 0;  // of the weights themselves
  };
  virtual Exported exported() const = 0;
};

class Gang;  // gang.h

// Throws UserError when model and dataset do not fit each other. Several processes learn as a gang, which
// outlives the learner: the mean loss and the weights are those of all of them; dropout is drawn on each.
std::unique_ptr<Learner> make_learner(const Setup&, const data::Dataset&, Gang* = nullptr);
// Both are called by make_learner.
std::unique_ptr<Learner> make_network_learner(const Setup&, const data::Dataset&, Gang*);
std::unique_ptr<Learner> make_boosting_learner(const Setup&, const data::Dataset&);

}  // namespace tandem::trainer
