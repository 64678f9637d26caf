#include "spec/any_job.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tandem::spec {
namespace {

using nlohmann::json;

TrainJob named(const char* name) {
  TrainJob job;
  job.name = name;
  return job;
}

Experiment some_experiment() {
  Experiment job;
  job.base.name = "e";
  job.base.epochs = 3;
  job.factors.parameters = {{kJobs, {Domain::Kind::choice, {std::int64_t{1}, std::int64_t{2}}}, {}}};
  job.system.cores = {1, 2};
  job.design = "space-filling";
  job.points = 7;
  job.replications = 4;
  job.seed = 11;
  return job;
}

TEST(AnyJob, OfEveryKindSurvivesTheJournal) {
  TuneJob tune;
  tune.base.name = "t";
  const CustomJob custom{"sleep", named("s"), R"({"naps":3})"};
  for (const Job& job : {Job(named("a")), Job(tune), Job(some_experiment()), Job(custom)}) {
    EXPECT_EQ(job_from_json(json::parse(to_json(job).dump())), job) << kind_of(job);
    EXPECT_FALSE(base_of(job).name.empty());
  }
}

TEST(AnyJob, KnowsItsKind) {
  EXPECT_EQ(kind_of(TrainJob{}), "train");
  EXPECT_EQ(kind_of(TuneJob{}), "tune");
  EXPECT_EQ(kind_of(Experiment{}), "characterize");
  EXPECT_EQ(kind_of(CustomJob{"sleep", {}, "{}"}), "sleep");
}

TEST(AnyJob, AnExperimentOfAnOlderTandemWasATuningJob) {
  const json old = json::parse(R"({"kind":"tune","mode":"experiment","base":{"kind":"train","name":"e"},
    "hyper":{"parameters":[]},"system":{"cores":[1,2],"memory":[],"speed":[]},
    "search":{"algorithm":"two-level","max_epochs":2,"reduction":3,"seed":5,"pruning":"none"},
    "objective":{"goals":[{"metric":"accuracy","maximise":true}]},"budget":{},"similarity":"nearest",
    "warm_repetitions":2})");
  const auto job = std::get<Experiment>(job_from_json(old));
  EXPECT_EQ(job.design, "two-level");
  EXPECT_EQ(job.seed, 5);
  EXPECT_EQ(job.replications, 2);
  EXPECT_FALSE(job.points);
  EXPECT_EQ(job.system.cores, (std::vector<int>{1, 2}));
  EXPECT_EQ(to_json(job)["mode"], "experiment") << "an older Tandem reads it too";
}

TEST(AnyJob, ANameIsWhatSpecsMayHave) {
  EXPECT_EQ(checked_name("lenet-5_b.2"), "lenet-5_b.2");
  for (const std::string& bad : {std::string(), std::string("a/b"), std::string("two words"), std::string("-x"),
                                 std::string("a\x1b"), std::string(65, 'x')})
    EXPECT_THROW(checked_name(bad), UserError) << bad;
}

TEST(AnyJob, NonsenseIsASystemError) {
  for (const char* bad : {"null", "[]", "7", "{}", R"({"kind":7})", R"({"kind":"sleep"})",
                          R"({"kind":"sleep","base":7,"body":{}})",
                          R"({"kind":"tune","mode":"experiment","warm_repetitions":0})"})
    EXPECT_THROW(job_from_json(json::parse(bad)), SystemError) << bad;
}

}  // namespace
}  // namespace tandem::spec
