#include "trainer/session.h"

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "trainer/export.h"
#include "trainer/testing.h"

namespace tandem::trainer {
namespace {

// Counts what it learnt; its "weights" are the epochs it has seen, so a skipped or repeated one shows.
class FakeLearner : public Learner {
 public:
  void set_threads(int threads) override { threads_used.push_back(threads); }
  double train(std::int64_t epoch) override {
    seen += std::to_string(epoch) + ",";
    return loss;
  }
  std::optional<double> waited() const override { return wait; }
  Metrics test() override { return {{"accuracy", 0.01 * static_cast<double>(seen.size())}}; }
  std::string state() const override { return seen; }
  void restore(std::string_view state) override { seen = state; }
  Exported exported() const override { return {{{"model.pt", seen}}, std::nullopt, "torchscript", 1}; }

  std::string seen;
  std::vector<int> threads_used;
  double loss = 0.5;
  std::optional<double> wait;
};

struct Fixture : testing::Test {
  Fixture() {
    task.setup = setup_for("lenet5");
    task.dataset = "bright";
    task.epochs = 4;
    task.folder = folder.path();
    outside.warn = [this](const std::string& warning) { warnings.push_back(warning); };
    outside.seconds = [this] { return clock += 1; };
    outside.checkpointed = [this](std::int64_t epoch) { checkpointed.push_back(epoch); };
    outside.report = [this](std::int64_t epoch, const Metrics& metrics) {
      reports.emplace_back(epoch, metrics);
      // What is reported must be durable already.
      EXPECT_GE(newest_checkpoint(task.folder, outside.warn)->epoch(), epoch);
      return answer(epoch);
    };
  }

  Metrics run() {
    return run_session(task, dataset, learner, newest_checkpoint(task.folder, outside.warn), outside);
  }

  std::vector<std::int64_t> reported() const {
    std::vector<std::int64_t> epochs;
    for (const auto& [epoch, metrics] : reports) epochs.push_back(epoch);
    return epochs;
  }

  using Epochs = std::vector<std::int64_t>;
  TemporaryFolder folder;
  data::Dataset dataset = images();
  Task task;
  FakeLearner learner;
  Outside outside;
  double clock = 0;
  std::function<protocol::Answer(std::int64_t)> answer = [](std::int64_t) { return protocol::Answer{}; };
  std::vector<std::pair<std::int64_t, Metrics>> reports;
  std::vector<std::string> warnings;
  Epochs checkpointed;
};
using Session = Fixture;

TEST_F(Session, ReportsEveryEpochOnceAndExportsTheModel) {
  const Metrics last = run();
  EXPECT_EQ(reported(), (Epochs{1, 2, 3, 4}));
  EXPECT_EQ(last, reports.back().second);
  for (const char* name : {"accuracy", "train_loss", "seconds_train", "seconds_test", "samples_per_second"})
    EXPECT_TRUE(last.contains(name)) << name;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "model.json"));
  EXPECT_TRUE(warnings.empty());
}

// The clock goes on by a second at each look: an epoch's training takes one, and so does its test.
TEST_F(Session, SaysWhatAnEpochCost) {
  task.load_seconds = 7;
  learner.wait = 0.25;
  const Metrics last = run();
  const auto records = static_cast<double>(dataset.train.count);
  EXPECT_DOUBLE_EQ(last.at("seconds_load"), 7);
  EXPECT_DOUBLE_EQ(last.at("seconds_wait"), 0.25);
  EXPECT_DOUBLE_EQ(last.at("seconds_per_thousand"), 1000 / records);
  EXPECT_DOUBLE_EQ(last.at("samples_per_second"), records);
  EXPECT_DOUBLE_EQ(last.at("inference_per_second"), static_cast<double>(dataset.test.count));
}

TEST_F(Session, AWaitNobodyMeasuredIsNotReported) {
  EXPECT_FALSE(run().contains("seconds_wait"));
}

TEST_F(Session, GoesOnAfterTheCheckpoint) {
  task.epochs = 2;
  run();
  task.epochs = 4;
  task.reported = 2;
  learner = {};
  run();
  EXPECT_EQ(learner.seen, "1,2,3,4,");
  EXPECT_EQ(reported(), (Epochs{1, 2, 3, 4}));
}

TEST_F(Session, EpochsTrainedButNotCountedAreReportedFromTheCheckpoint) {
  task.epochs = 3;
  run();
  const auto first = reports;
  reports.clear();
  learner = {};
  task.epochs = 4;
  task.reported = 1;  // the reports of 2 and 3 were lost
  run();
  EXPECT_EQ(reported(), (Epochs{2, 3, 4}));
  EXPECT_EQ(reports[0].second, first[1].second);
  EXPECT_EQ(reports[1].second, first[2].second);
  EXPECT_EQ(learner.seen, "1,2,3,4,");
}

TEST_F(Session, EpochsCountedWhoseCheckpointIsLostAreTrainedAgainButNotReportedAgain) {
  task.reported = 2;
  run();
  EXPECT_EQ(learner.seen, "1,2,3,4,");
  EXPECT_EQ(reported(), (Epochs{3, 4}));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("epochs 1 to 2 again"), std::string::npos) << warnings[0];
}

TEST_F(Session, StopsWhenToldWithTheCheckpointAndTheModelOnDisk) {
  answer = [](std::int64_t epoch) { return protocol::Answer{epoch == 2, false, std::nullopt}; };
  run();
  EXPECT_EQ(reported(), (Epochs{1, 2}));
  EXPECT_EQ(newest_checkpoint(task.folder, outside.warn)->epoch(), 2);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "model.json"));
}

TEST_F(Session, ChangesItsThreadsAndConfirmsCheckpointsWhenTold) {
  answer = [](std::int64_t epoch) {
    protocol::Answer told;
    if (epoch == 1) told.system = Resources{2, 0, 1.0};
    told.checkpoint = epoch == 3;
    return told;
  };
  run();
  EXPECT_EQ(learner.threads_used, (std::vector<int>{1, 2}));
  EXPECT_EQ(checkpointed, (Epochs{3}));
}

TEST_F(Session, AFinishedTrainingIsNotTrainedAgainButItsModelIsThere) {
  run();
  std::filesystem::remove(folder.path() / "model.json");
  reports.clear();
  task.reported = 4;
  learner = {};
  run();
  EXPECT_EQ(learner.seen, "1,2,3,4,");
  EXPECT_TRUE(reports.empty());
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "model.json"));
}

TEST_F(Session, TheModelIsThereBeforeTheLastEpochIsReported) {
  answer = [this](std::int64_t epoch) {
    EXPECT_EQ(std::filesystem::exists(folder.path() / "model.json"), epoch == 4);
    return protocol::Answer{};
  };
  run();
}

TEST_F(Session, ACheckpointOfAnotherTrainingIsRefused) {
  run();
  task.setup = setup_for("lenet5", {{"learning_rate", 0.5}});
  EXPECT_THROW(run(), UserError);
}

TEST_F(Session, ALossThatIsNotFiniteIsSaidAndNotSaved) {
  learner.loss = std::nan("");
  EXPECT_THROW(run(), UserError);
  EXPECT_TRUE(reports.empty());
  EXPECT_FALSE(newest_checkpoint(task.folder, outside.warn));
}

TEST_F(Session, TheCardSaysWhatTheModelIs) {
  const Metrics last = run();
  const ModelCard card = read_card(folder.path());
  EXPECT_EQ(card.model, "lenet5");
  EXPECT_EQ(card.dataset, "bright");
  EXPECT_EQ(card.hyper, task.setup.hyper);
  EXPECT_EQ(card.class_names, dataset.class_names);
  EXPECT_EQ(card.shape, dataset.shape);
  EXPECT_EQ(card.metrics, last);
  std::ofstream(folder.path() / "model.json") << "{";
  EXPECT_THROW(read_card(folder.path()), UserError);
  std::filesystem::remove(folder.path() / "model.json");
  EXPECT_THROW(read_card(folder.path()), UserError);
}

}  // namespace
}  // namespace tandem::trainer
