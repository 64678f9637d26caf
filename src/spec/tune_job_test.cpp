#include "spec/tune_job.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tandem::spec {
namespace {

using nlohmann::json;

TuneJob full_job() {
  TuneJob job;
  job.base.name = "n";
  job.base.program = {"lenet5", "digits", {}};
  job.base.hyper = {{"a", 1.0}, {"b", std::int64_t{1}}};
  job.base.epochs = 27;
  job.base.seed = 5;
  job.base.limits.retries = 0;
  job.hyper.parameters = {
      {"x", {.kind = Domain::Kind::log_real, .choices = {}, .low = 1e-4, .high = 1}, {}},
      {"y", {.kind = Domain::Kind::choice, .choices = {true}}, Condition{"x", {0.5}}},
  };
  job.hyper.constraints = {std::get<Expression>(Expression::parse("x < cores"))};
  job.system = {{1, 2, 65536}, {kGiB, 2 * kGiB}, {0.1, 1}};
  job.search = {"random", 27, 4, 100, INT64_MAX, "median", {{{"x", 0.5}}, {}}};
  job.objective = {{{"loss", false}, {"energy", false}, {"cost", false}}, -0.5, CostWeights{0.25, 0.75}};
  job.budget = {Seconds{0.1}, Joules{20e3}};
  job.mode = Mode::hyper;
  job.hyper_cores = 2;
  return job;
}

TEST(TuneJob, SurvivesTheJournal) {
  TuneJob joint = full_job();
  joint.mode = Mode::joint;
  joint.hyper_cores.reset();
  joint.search.trials.reset();
  for (const auto& job : {TuneJob{}, full_job(), joint}) {
    EXPECT_EQ(tune_job_from_json(json::parse(to_json(job).dump())), job);
    EXPECT_EQ(tune_job_from_json(json::from_cbor(json::to_cbor(to_json(job)))), job);
  }
}

TEST(TuneJob, WhatAnOlderVersionDidNotWriteGetsDefaults) {
  EXPECT_EQ(tune_job_from_json(json{{"kind", "tune"}}), TuneJob{});
}

TEST(TuneJob, ModesHaveNames) {
  for (const Mode mode : {Mode::hyper, Mode::joint, Mode::pipelined}) EXPECT_EQ(mode_from(name(mode)), mode);
  EXPECT_STREQ(name(Mode::pipelined), "pipelined");
  for (const char* bad : {"", "Joint", "pipe"}) EXPECT_FALSE(mode_from(bad)) << bad;
}

TEST(TuneJob, NonsenseIsASystemError) {
  for (const char* bad : {"null", "[]", "7", "{}", R"({"kind":"train"})", R"({"kind":7})"})
    EXPECT_THROW(tune_job_from_json(json::parse(bad)), SystemError) << bad;
  const std::vector<std::pair<const char*, const char*>> damage{
      {"/base", "null"},
      {"/base", "{}"},
      {"/base/epochs", "0"},
      {"/hyper", "[]"},
      {"/hyper/parameters/0", "{}"},
      {"/system", "1"},
      {"/system/cores", "2"},
      {"/system/cores", "[0]"},
      {"/system/cores", "[2, 1]"},
      {"/system/cores", "[2, 2]"},
      {"/system/cores", "[1.5]"},
      {"/system/cores", "[4294967296]"},
      {"/system/memory", "[0]"},
      {"/system/memory", R"(["1GiB"])"},
      {"/system/speed", "[0]"},
      {"/system/speed", "[1.5]"},
      {"/system/speed", "[null]"},
      {"/search", "[]"},
      {"/search/algorithm", "1"},
      {"/search/max_epochs", "0"},
      {"/search/reduction", "1"},
      {"/search/trials", "0"},
      {"/search/trials", "18446744073709551615"},
      {"/search/seed", "1.5"},
      {"/search/pruning", "null"},
      {"/objective", "7"},
      {"/objective/goals", "[]"},
      {"/objective/goals", "{}"},
      {"/objective/goals/0", "{}"},
      {"/objective/goals/0/metric", "7"},
      {"/objective/goals/0/metric", R"("")"},
      {"/objective/goals/0/metric", R"("energy")"},
      {"/objective/goals/0/maximise", "1"},
      {"/objective/target", R"("1")"},
      {"/objective/cost", "7"},
      {"/objective/cost", "{}"},
      {"/objective/cost/energy", "-1"},
      {"/objective/cost/time", "null"},
      {"/objective/cost", R"({"energy":0,"time":0})"},
      {"/budget", "[]"},
      {"/budget/time", "-1"},
      {"/budget/energy", "null"},
      {"/mode", "1"},
      {"/mode", R"("fast")"},
      {"/search/start", "7"},
      {"/search/start", "[7]"},
      {"/search/start", R"([{"x":2}])"},
      {"/hyper_cores", "0"},
      {"/hyper_cores", "null"}};
  for (const auto& [where, what] : damage) {
    json damaged = to_json(full_job());
    damaged[json::json_pointer(where)] = json::parse(what);
    EXPECT_THROW(tune_job_from_json(damaged), SystemError) << where << " " << what;
  }
}

TEST(TuneJob, JournalsOlderThanTheWeightsOfCostHaveNone) {
  json old = to_json(full_job());
  old["objective"].erase("cost");
  auto expected = full_job();
  expected.objective.cost.reset();
  EXPECT_EQ(tune_job_from_json(old), expected);
  EXPECT_FALSE(to_json(expected).at("objective").contains("cost")) << "written as ever";
}

}  // namespace
}  // namespace tandem::spec
