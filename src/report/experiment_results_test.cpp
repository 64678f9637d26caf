#include "app/experiment_results.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/experiment_export.h"
#include "report/experiment_table.h"
#include "report/page.h"
#include "tune/experiment_plan.h"

namespace tandem::report {

using namespace app;
namespace {

spec::Parameter choice(const char* name, std::vector<Value> levels) {
  return {name, {spec::Domain::Kind::choice, std::move(levels)}, std::nullopt};
}

// Four settings twice over: the batch doubles the time, the word does nothing.
class ExperimentResult : public testing::Test {
 protected:
  ExperimentResult() {
    job_.design = "full";
    job_.replications = 2;
    job_.base.epochs = 1;
    job_.base.program.command = {"./go"};
    job_.factors.parameters = {choice("batch_size", {std::int64_t{32}, std::int64_t{64}}),
                               choice("word", {std::string("one"), std::string("two, \"three\"\n<b>")})};
    run_.id = "20260101-000000-abcd";
    run_.kind = "characterize";
    run_.name = "study";
    run_.state = "finished";
    happens(NodeJoined{0, "here", {2, 4 * kGiB, 1.0}});
    happens(JobSubmitted{0, job_});
  }
  void happens(EventBody body) { view_.apply(Event{Seconds{clock_ += 1}, std::move(body)}); }
  void decide(DecisionBody body) { view_.apply(Decision{view_.next_decision, std::move(body)}); }

  TaskId begin(std::size_t number) {
    const auto run = tune::plan_of(job_).runs.at(number);
    const auto task = static_cast<TaskId>(view_.tasks.size());
    Request request{.task = task, .job = 0, .wanted = run.wanted};
    request.trial = TrialPart{.hyper = run.hyper,
                              .epochs = 1,
                              .bracket = static_cast<std::int64_t>(number),
                              .rung = static_cast<std::int64_t>(run.design.replication),
                              .point = run.design.at};
    decide(request);
    decide(Start{task, 1, 0, run.wanted});
    happens(TaskStarted{task, 1, view_.next_decision - 1, 1, 1, {0}});
    return task;
  }
  // Replications differ by a little, so that there is something to judge by.
  void run_all(bool one_fails = false) {
    const auto runs = tune::plan_of(job_).runs;
    for (std::size_t number = 0; number < runs.size(); ++number) {
      const TaskId task = begin(number);
      if (one_fails && number == 0) {
        happens(TaskFailed{task, 1, Failure::crashed, "exit status 7", "", {}});
        continue;
      }
      const bool large = runs[number].design.at.at("batch_size") == Value(std::int64_t{64});
      const double noise = runs[number].design.replication == 0 ? 0.01 : -0.01 * (1 + number % 3);
      happens(EpochEnded{task, 1, 1, {{"accuracy", 0.9}}, Seconds{(large ? 2.0 : 1.0) + noise}, {}, {}});
      happens(TaskEnded{task, 1, {}});
    }
  }

  spec::Experiment job_;
  View view_;
  store::RunInfo run_;
  double clock_ = 0;
};

TEST_F(ExperimentResult, WhatMattersIsFoundAndWhatDoesNotIsNot) {
  run_all();
  const auto found = findings_of(view_, 0, {});
  EXPECT_EQ(found.whole_runs, 8u);
  std::map<std::string, characterize::Grade> grades;
  for (const auto& impact : found.impacts)
    if (impact.response == "train_seconds") grades[impact.factor] = impact.grade.value();
  EXPECT_EQ(grades.at("batch_size"), characterize::Grade::high);
  EXPECT_EQ(grades.at("word"), characterize::Grade::low);
  ASSERT_FALSE(found.analyses.empty());
  const auto* batch = found.analyses.front().table.find("batch_size");
  ASSERT_TRUE(batch && batch->p);
  EXPECT_EQ(found.analyses.front().response, "train_seconds") << "accuracy never changed";
  EXPECT_LT(*batch->p, 0.001);
  ASSERT_TRUE(found.threefold && found.threefold->fastest);
  EXPECT_EQ(found.threefold->fastest->at.at("batch_size"), Value(std::int64_t{32}));
  EXPECT_EQ(found.threefold->good_enough, 4u);
}

TEST_F(ExperimentResult, ARunThatFailedIsLeftOutAndSaid) {
  run_all(true);
  const auto json = experiment_json(run_, view_, TaskFolders(""));
  EXPECT_EQ(json["measured_runs"], 7);
  EXPECT_NE(json["left_out"].get<std::string>().find("1 of 8 runs"), std::string::npos);
  EXPECT_EQ(json["runs"].size(), 8u);
  EXPECT_EQ(json["runs"][0]["state"], "failed");
  EXPECT_NE(experiment_table(run_, view_, {}).find("1 of 8 runs"), std::string::npos);
}

TEST_F(ExperimentResult, BeforeAnythingHasEndedThereIsNothingToSayAndNoCrash) {
  EXPECT_NE(experiment_table(run_, view_, {true, true}).find("nothing to analyse"), std::string::npos);
  begin(0);
  EXPECT_TRUE(experiment_json(run_, view_, TaskFolders(""))["anova"].empty());
  EXPECT_NE(report_page(run_, view_).find("nothing to analyse"), std::string::npos);
}

TEST_F(ExperimentResult, OneRunAloneGivesNoFalseConfidence) {
  job_.replications = 1;
  const TaskId task = begin(0);
  happens(EpochEnded{task, 1, 1, {{"accuracy", 0.5}}, Seconds{1}, {}, {}});
  happens(TaskEnded{task, 1, {}});
  const auto json = experiment_json(run_, view_, TaskFolders(""));
  for (const auto& impact : json["impacts"]) EXPECT_TRUE(impact["p"].is_null());
  EXPECT_EQ(json["threefold"]["good_enough"], 0);
}

TEST_F(ExperimentResult, AskingForWhatNobodyMeasuredIsTheUsersToFix) {
  run_all();
  AnalysisOptions looking;
  looking.responses = {"acuracy"};
  EXPECT_THROW(findings_of(view_, 0, looking), UserError);
}

TEST_F(ExperimentResult, HowItIsLookedAtStaysWithTheRun) {
  AnalysisOptions looking;
  looking.prices.dollars_per_hour = 2;
  looking.good_enough = 0.95;
  run_.spec = nlohmann::json{{"looking", json_of(looking)}}.dump();
  run_all();
  EXPECT_EQ(experiment_json(run_, view_, TaskFolders(""))["threefold"]["good_enough"], 0);
  EXPECT_NE(experiment_table(run_, view_, {}).find("$2 an hour"), std::string::npos);
}

TEST_F(ExperimentResult, ThePageEscapesWhatTheSpecSays) {
  run_all();
  const auto page = report_page(run_, view_);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  for (const char* id :
       {"id=\"impact\"", "id=\"anova\"", "id=\"levels\"", "id=\"boxes\"", "class=\"grade high\""})
    EXPECT_NE(page.find(id), std::string::npos) << id;
}

TEST_F(ExperimentResult, TracesQuoteWhatNeedsItAndTheSchemaNamesEveryColumn) {
  run_all(true);
  const auto table = runs_table(view_, 0);
  const auto text = csv_text(table);
  EXPECT_NE(text.find("\"two, \"\"three\"\"\n<b>\""), std::string::npos);
  EXPECT_EQ(table.rows.size(), 8u);
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
  const auto schema = schema_json(table, "runs.csv");
  std::map<std::string, std::string> types;
  for (const auto& column : schema["columns"]) types[column["name"]] = column["type"];
  EXPECT_EQ(types.at("factor_batch_size"), "int64");
  EXPECT_EQ(types.at("factor_word"), "string");
  EXPECT_EQ(types.at("train_seconds"), "double");
  EXPECT_EQ(epochs_table(view_, 0).rows.size(), 7u) << "the failed one reported none";
}

TEST_F(ExperimentResult, BytesOutAreChargedWhereTheProgramSaysThem) {
  run_all();
  const double without =
      experiment_json(run_, view_, TaskFolders(""))["runs"][0]["measured"]["train_seconds"].get<double>();
  EXPECT_NE(experiment_table(run_, view_, {}).find("bytes out: not measured"), std::string::npos);
  for (auto& task : view_.tasks) task.epochs.back().metrics["bytes_out"] = 2e9;
  const auto found = findings_of(view_, 0, {});
  EXPECT_EQ(found.tasks_with_bytes_out, 8u);
  // $0.05 for each of two GB, beside the time's $0.46 an hour for 8 cores, of which it had one.
  EXPECT_NEAR(found.study.runs.front().responses.at("dollars"), 0.1 + without * 0.46 / 3600 / 8, 1e-12);
  EXPECT_NE(experiment_table(run_, view_, {}).find("bytes out: as the program reports them)"),
            std::string::npos);
}

}  // namespace
}  // namespace tandem::report
