#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "stats/regression/boosting.h"
#include "trainer/boosting_model.h"
#include "trainer/hyper.h"
#include "trainer/learner.h"
#include "trainer/scores.h"

namespace tandem::trainer {
namespace {

double loss_of_class(const float* probabilities, std::int64_t label) {
  return -std::log(std::max(static_cast<double>(probabilities[label]), 1e-12));
}

class BoostingLearner : public Learner {
 public:
  BoostingLearner(const Setup& setup, const data::Dataset& dataset)
      : dataset_(dataset),
        options_(boosting_options(setup.model, setup.hyper, setup.seed, dataset.classes)),
        rounds_(static_cast<int>(whole(setup.hyper, "rounds"))),
        learner_(options_) {
    targets_ = dataset.train.targets;
    if (dataset.classes > 0) targets_.assign(dataset.train.labels.begin(), dataset.train.labels.end());
  }

  void set_threads(int) override {}  // one thread always: that is what makes it deterministic

  double train(std::int64_t) override {
    learner_.train(table(dataset_.train), targets_, rounds_);
    return mean_loss(dataset_.train, learner_.predict(table(dataset_.train)));
  }

  Metrics test() override {
    const data::Part& part = dataset_.test;
    const std::vector<float> predicted = learner_.predict(table(part));
    Metrics metrics = dataset_.classes > 0 ? class_scores(part, predicted) : number_scores(part, predicted);
    metrics["loss"] = mean_loss(part, predicted);
    return metrics;
  }

  std::string state() const override { return learner_.serialise(); }
  void restore(std::string_view state) override { learner_ = stats::Boosting(options_, state); }

  Exported exported() const override {
    const std::string bytes = learner_.serialise();
    return {boosting_files(learner_), std::nullopt, "xgboost", hash_name(bytes)};
  }

 private:
  stats::Table table(const data::Part& part) const {
    return {part.values, static_cast<std::int64_t>(part.values.size()) / part.count};
  }

  double mean_loss(const data::Part& part, const std::vector<float>& predicted) const {
    double sum = 0;
    for (std::int64_t row = 0; row < part.count; ++row)
      sum += dataset_.classes > 0 ? loss_of_class(&predicted[row * dataset_.classes], part.labels[row])
                                  : std::pow(predicted[row] - part.targets[row], 2);
    return sum / static_cast<double>(part.count);
  }

  Metrics class_scores(const data::Part& part, const std::vector<float>& predicted) const {
    std::vector<std::int64_t> likeliest;
    for (std::int64_t row = 0; row < part.count; ++row) {
      const float* of = predicted.data() + row * dataset_.classes;
      likeliest.push_back(std::max_element(of, of + dataset_.classes) - of);
    }
    ClassScores scores(dataset_.classes);
    scores.add(likeliest, part.labels);
    return scores.metrics();
  }

  static Metrics number_scores(const data::Part& part, const std::vector<float>& predicted) {
    NumberScores scores;
    scores.add(predicted, part.targets);
    return scores.metrics();
  }

  const data::Dataset& dataset_;
  stats::BoostingOptions options_;
  int rounds_;
  stats::Boosting learner_;
  std::vector<float> targets_;
};

}  // namespace

std::unique_ptr<Learner> make_boosting_learner(const Setup& setup, const data::Dataset& dataset) {
  return std::make_unique<BoostingLearner>(setup, dataset);
}

}  // namespace tandem::trainer
