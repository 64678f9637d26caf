#include "spec/chosen.h"

#include <gtest/gtest.h>

#include "spec/parse.h"
#include "spec/sample_catalogue.h"

namespace tandem::spec {
namespace {

const std::string kOpen =
    "kind: train\nname: \"007\"\nprogram: {model: lenet5, dataset: mnist}\n"
    "hyper: {batch_size: {choice: [32, 64]}, epochs: {int: [1, 9]}, learning_rate: 0.05}\n"
    "system: {cores: {choice: [1, 2]}, memory: 1GiB}\n"
    "place: {deadline: 2h, labels: [ssd, \"!spot\"], priority: 3}\nlimits: {time: 90min}\n"
    "experiment: {seed: 5}\n";

TEST(WithChoices, IsTheSameJobWithValuesInThePlacesOfDomains) {
  const auto open = parse_characterize(kOpen, "job.yaml", sample_catalogue());
  ASSERT_TRUE(open.job) << (open.issues.empty() ? "" : open.issues.front().message);
  TrainJob chosen = open.job->base;
  chosen.hyper["batch_size"] = std::int64_t{64};
  chosen.epochs = 7;
  chosen.system.cores = 2;
  chosen.seed = 5;
  const auto read = require_train(with_choices(kOpen, chosen), "chosen", sample_catalogue());
  EXPECT_EQ(read.hyper.at("batch_size"), Value(std::int64_t{64}));
  EXPECT_EQ(read.hyper.at("learning_rate"), Value(0.05));
  EXPECT_EQ(read.epochs, 7);
  EXPECT_EQ(read.system.cores, 2);
  EXPECT_EQ(read.system.memory, kGiB);
  EXPECT_EQ(read.name, "007") << "a word stays a word";
  EXPECT_EQ(read.seed, chosen.seed);
  EXPECT_EQ(read.place, open.job->base.place);
  EXPECT_EQ(read.limits, open.job->base.limits);
}

}  // namespace
}  // namespace tandem::spec
