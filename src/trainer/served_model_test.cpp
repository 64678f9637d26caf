#include "trainer/served_model.h"

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "trainer/testing.h"

namespace tandem::trainer {
namespace {

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ModelEntry& entry : data::models()) names.push_back(entry.name);
  return names;
}

struct Trained {
  explicit Trained(const std::string& model) : dataset(dataset_for(model)) {
    task.setup = setup_for(model);
    task.dataset = dataset.name;
    task.folder = folder.path();
    learner = make_learner(task.setup, dataset);
    for (std::int64_t epoch = 1; epoch <= 2; ++epoch) learner->train(epoch);
    metrics = learner->test();
    export_model(task, dataset, *learner, metrics);
  }

  TemporaryFolder folder;
  data::Dataset dataset;
  Task task;
  std::unique_ptr<Learner> learner;
  Metrics metrics;
};

class EveryServedModel : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(ServedModel, EveryServedModel, testing::ValuesIn(model_names()),
                         [](const auto& parameter) { return parameter.param; });

// The exported model is a second implementation; it must be as good as what was tested, in real units.
TEST_P(EveryServedModel, AnswersAsTheTrainedOneDid) {
  const Trained trained(GetParam());
  const auto served = open_model(trained.folder.path(), read_card(trained.folder.path()));
  const data::Part& test = trained.dataset.test;
  const std::int64_t outputs = std::max<std::int64_t>(1, trained.dataset.classes);
  std::vector<float> out = served->predict(test, 0, 7);
  const std::vector<float> rest = served->predict(test, 7, test.count - 7);
  out.insert(out.end(), rest.begin(), rest.end());
  ASSERT_EQ(static_cast<std::int64_t>(out.size()), test.count * outputs);
  double loss = 0, mean = 0, spread = 0;
  for (std::int64_t i = 0; i < test.count; ++i) {
    if (trained.dataset.classes > 0)
      loss -= std::log(out[i * outputs + test.labels[i]]);
    else
      loss += std::pow(out[i] - test.targets[i], 2);
  }
  loss /= static_cast<double>(test.count);
  if (trained.dataset.classes > 0) {
    EXPECT_NEAR(loss, trained.metrics.at("loss"), 1e-4);
    return;
  }
  for (const float target : test.targets) mean += target / static_cast<double>(test.count);
  for (const float target : test.targets)
    spread += std::pow(target - mean, 2) / static_cast<double>(test.count);
  EXPECT_NEAR(std::sqrt(loss / spread), trained.metrics.at("error"), 1e-3);
}

TEST_P(EveryServedModel, BrokenFilesAreRefused) {
  const Trained trained(GetParam());
  const ModelCard card = read_card(trained.folder.path());
  const auto file = trained.folder.path() / card.files.front();
  std::ofstream(file) << "garbage";
  EXPECT_THROW(open_model(trained.folder.path(), card), UserError);
  std::filesystem::remove(file);
  EXPECT_THROW(open_model(trained.folder.path(), card), UserError);
}

}  // namespace
}  // namespace tandem::trainer
