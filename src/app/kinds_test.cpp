#include "app/kinds.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tandem::app {
namespace {

TEST(Kinds, EveryBuiltInOneHasARowAndAPolicyForEach) {
  for (const spec::Job& job :
       {spec::Job(spec::TrainJob{}), spec::Job(spec::TuneJob{}), spec::Job(spec::Experiment{})}) {
    const auto& row = row_of(job);
    EXPECT_EQ(row.name, spec::kind_of(job));
    EXPECT_TRUE(row.parse && row.controller && row.results && row.progress);
    EXPECT_EQ(policies_for(job).size(), 2u);
  }
}

TEST(Kinds, OneThatIsNotKnownIsSaidWithItsName) {
  const spec::CustomJob job{"knit", {}, "{}"};
  try {
    row_of(job);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("kind knit"), std::string::npos) << error.what();
  }
  View view;
  view.jobs.emplace_back().spec = job;
  EXPECT_TRUE(progress_json(view, view.jobs.front()).is_null()) << "it is listed all the same";
}

TEST(Kinds, ARowIsAddedOnceAndWhole) {
  EXPECT_THROW(add_kind(kinds().front()), UserError);
  EXPECT_THROW(add_kind({.name = "knit"}), UserError);
}

TEST(Kinds, ProgressIsInWhatTheKindCounts) {
  View view;
  spec::TrainJob train;
  train.epochs = 9;
  view.jobs.emplace_back().spec = train;
  view.jobs[0].tasks = {0};
  view.tasks.emplace_back().epochs.resize(1);
  view.tasks[0].epochs[0].epoch = 4;
  EXPECT_EQ(progress_json(view, view.jobs[0]), (nlohmann::json{{"done", 4}, {"of", 9}, {"unit", "epochs"}}));
  view.jobs[0].spec = spec::TuneJob{};
  view.tasks[0].state = TaskState::ended;
  EXPECT_EQ(progress_json(view, view.jobs[0]),
            (nlohmann::json{{"done", 1}, {"of", nullptr}, {"unit", "trials"}}));
}

}  // namespace
}  // namespace tandem::app
