#include "trainer/learner.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "trainer/testing.h"

namespace tandem::trainer {
namespace {

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ModelEntry& entry : data::models()) names.push_back(entry.name);
  return names;
}

// Dropout on, so that the generator's state counts; small batches, so that there are many steps and a short
// last one.
Setup busy_setup(const std::string& model, std::int64_t seed = 1) {
  Values hyper;
  for (const HyperRule& rule : data::model(model).hyper) {
    if (rule.name == "dropout") hyper["dropout"] = 0.2;
    if (rule.name == "batch_size") hyper["batch_size"] = std::int64_t{24};
    if (rule.name == "optimizer" && data::model(model).input == "image") {
      hyper["optimizer"] = std::string("adam");
      hyper["learning_rate"] = 0.003;
    }
    if (rule.name == "learning_rate" && data::model(model).input == "text") hyper["learning_rate"] = 0.02;
    if (rule.name == "embedding_size" || rule.name == "hidden_size") hyper[rule.name] = std::int64_t{16};
  }
  return setup_for(model, hyper, seed);
}

TEST(Dropping, LeavesOutTheShareAskedForAndOtherBatchesEachEpoch) {
  for (const double drop : {0.1, 0.2, 0.4}) {
    std::vector<int> left_out(500, 0);
    for (std::int64_t epoch = 1; epoch <= 20; ++epoch) {
      int dropped = 0;
      for (std::int64_t batch = 0; batch < 500; ++batch)
        if (batch_dropped(drop, epoch, batch)) ++dropped, ++left_out[static_cast<std::size_t>(batch)];
      EXPECT_NEAR(dropped, 500 * drop, 1.5) << "epoch " << epoch;
    }
    EXPECT_EQ(left_out[0], 0);
    EXPECT_LT(*std::max_element(left_out.begin(), left_out.end()), 20) << "some batch is never learnt from";
  }
  EXPECT_FALSE(batch_dropped(0, 1, 7));
}

TEST(Dropping, ALearnerThatDropsStillLearns) {
  const data::Dataset dataset = dataset_for("lenet5");
  auto setup = busy_setup("lenet5");
  setup.drop = 0.4;
  const auto learner = make_learner(setup, dataset), whole = make_learner(busy_setup("lenet5"), dataset);
  for (const auto& one : {learner.get(), whole.get()}) one->set_threads(1), one->train(1);
  EXPECT_NE(learner->state(), whole->state());
  for (std::int64_t epoch = 2; epoch <= 15; ++epoch) learner->train(epoch);
  EXPECT_GT(learner->test().at("accuracy"), 0.8);
}

double test_deviation(const data::Dataset& dataset) {
  double sum = 0, squares = 0;
  for (const float target : dataset.test.targets) sum += target, squares += double{target} * target;
  const auto count = static_cast<double>(dataset.test.count);
  return std::sqrt(squares / count - sum / count * sum / count);
}

class EveryLearner : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Learner, EveryLearner, testing::ValuesIn(model_names()),
                         [](const auto& parameter) { return parameter.param; });

TEST_P(EveryLearner, Learns) {
  const data::Dataset dataset = dataset_for(GetParam());
  const auto learner = make_learner(busy_setup(GetParam()), dataset);
  learner->set_threads(1);
  const double first = learner->train(1);
  double last = first;
  for (std::int64_t epoch = 2; epoch <= 12; ++epoch) last = learner->train(epoch);
  EXPECT_LT(last, 0.8 * first);
  const Metrics metrics = learner->test();
  if (dataset.classes > 0) {
    for (const char* name : {"accuracy", "precision", "recall", "f1"})
      EXPECT_GT(metrics.at(name), 0.8) << name;
  } else {
    EXPECT_LT(metrics.at("error"), 0.5);
    EXPECT_NEAR(metrics.at("r2"), 1 - metrics.at("error") * metrics.at("error"), 1e-9);
    // In the targets' own unit, whatever the learner scales them to: they spread over 8 to 10.
    EXPECT_LT(metrics.at("mae"), metrics.at("rmse"));
    EXPECT_NEAR(metrics.at("rmse") / metrics.at("error"), test_deviation(dataset), 1e-3);
  }
  EXPECT_TRUE(std::isfinite(metrics.at("loss")));
}

TEST_P(EveryLearner, RestoredGoesOnAsIfItHadNeverStopped) {
  const data::Dataset dataset = dataset_for(GetParam());
  const auto whole = make_learner(busy_setup(GetParam()), dataset);
  whole->set_threads(1);
  whole->train(1);
  whole->test();
  const std::string saved = whole->state();
  whole->train(2);
  whole->train(3);
  const std::string expected = whole->state();

  const auto resumed = make_learner(busy_setup(GetParam()), dataset);
  resumed->set_threads(1);
  resumed->restore(saved);
  resumed->train(2);
  resumed->test();  // testing must not disturb the training
  resumed->train(3);
  EXPECT_EQ(resumed->state(), expected);
}

TEST_P(EveryLearner, TheSeedDecides) {
  if (GetParam() == "linear") GTEST_SKIP() << "a linear model has nothing random in it";
  const data::Dataset dataset = dataset_for(GetParam());
  const auto weights_after = [&](std::int64_t seed) {
    const auto learner = make_learner(busy_setup(GetParam(), seed), dataset);
    learner->set_threads(1);
    learner->train(1);
    return learner->exported().digest;
  };
  const auto one = weights_after(1);
  EXPECT_EQ(one, weights_after(1));
  EXPECT_NE(one, weights_after(2));
}

TEST_P(EveryLearner, AnothersStateIsRefused) {
  const data::Dataset dataset = dataset_for(GetParam());
  const auto learner = make_learner(busy_setup(GetParam()), dataset);
  learner->train(1);
  const std::string state = learner->state();
  EXPECT_THROW(learner->restore("short"), SystemError);
  EXPECT_THROW(learner->restore(state.substr(0, state.size() - 3)), SystemError);
  EXPECT_THROW(learner->restore(state + "x"), SystemError);
}

TEST(Learner, TimesBatchesWhereItLearnsInThem) {
  const data::Dataset dataset = images();  // 200 samples: 8 whole batches of 24, so 20 go round
  const auto learner = make_learner(busy_setup("lenet5"), dataset);
  const auto before = learner->exported().digest;
  const auto seconds = learner->time_batches(20);
  ASSERT_EQ(seconds.size(), 20U);
  for (const double one : seconds) EXPECT_GT(one, 0);
  EXPECT_NE(learner->exported().digest, before) << "nothing was learnt, so nothing was timed";
  EXPECT_TRUE(make_learner(setup_for("boosting"), dataset)->time_batches(3).empty());
}

TEST(Learner, ADivergingTrainingSaysWhatToDo) {
  const data::Dataset dataset = table();
  const auto learner = make_learner(
      setup_for("jacobinet", {{"learning_rate", 10.0}, {"optimizer", std::string("sgd")}}), dataset);
  try {
    for (std::int64_t epoch = 1; epoch <= 50; ++epoch) learner->train(epoch);
    FAIL() << "it did not diverge";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("learning_rate"), std::string::npos) << error.what();
  }
}

TEST(Learner, ModelAndDataMustFit) {
  const data::Dataset small = images(8), words = texts(), numbers = table();
  EXPECT_THROW(make_learner(setup_for("lenet5"), words), UserError);
  EXPECT_THROW(make_learner(setup_for("lstm"), numbers), UserError);
  EXPECT_THROW(make_learner(setup_for("jacobinet"), images()), UserError);
  EXPECT_THROW(make_learner(setup_for("lenet5"), small), UserError);
  data::Dataset empty = images();
  empty.train = {};
  EXPECT_THROW(make_learner(setup_for("lenet5"), empty), UserError);
}

TEST(Learner, ABatchLargerThanTheDataIsTheWholeOfIt) {
  const data::Dataset dataset = images();
  const auto learner = make_learner(setup_for("lenet5", {{"batch_size", std::int64_t{4096}}}), dataset);
  EXPECT_TRUE(std::isfinite(learner->train(1)));
}

TEST(Learner, TreesLearnClassesOfImagesToo) {
  const data::Dataset dataset = images();
  const auto learner = make_learner(setup_for("boosting"), dataset);
  learner->train(1);
  EXPECT_GT(learner->test().at("accuracy"), 0.85);
}

}  // namespace
}  // namespace tandem::trainer
