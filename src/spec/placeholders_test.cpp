#include "spec/placeholders.h"

#include <nlohmann/json.hpp>

#include "spec/tune_testing.h"

namespace tandem::spec::testing {
namespace {

std::string tuned(const std::string& program, const std::string& more = "") {
  return "kind: tune\nprogram: {" + program +
         "}\nhyper: {lr: {log: [0.001, 1]}, depth: {int: [1, 9]}, fixed: 3}\n" + more;
}

TEST(Placeholders, AreNamesInBraces) {
  EXPECT_EQ(pieces_of("a{lr}b"), (std::vector<Piece>{{false, "a"}, {true, "lr"}, {false, "b"}}));
  EXPECT_EQ(pieces_of("{a}{b.c-d_1}"), (std::vector<Piece>{{true, "a"}, {true, "b.c-d_1"}}));
  for (const char* text :
       {"", "{", "}", "{}", "{1}", "{1..3}", "${HOME}", "{ print }", "{a", R"({"a": 1})", "{{}}", "{{a"})
    for (const auto& piece : pieces_of(text)) EXPECT_FALSE(piece.placeholder) << text;
  EXPECT_EQ(pieces_of("x{{lr}}y"), (std::vector<Piece>{{false, "x{lr}y"}}));
}

TEST(Placeholders, OfACommandAreNotedWithTheJob) {
  const auto job = good(tuned("command: [./go, '{lr}', '{depth}', '{folder}']"));
  EXPECT_TRUE(job.base.program.placeholders);
  EXPECT_FALSE(good(tuned("command: [./go, '${x} {1..3}']")).base.program.placeholders);
  EXPECT_TRUE(good(tuned("command: [./go, '{file}'], parameter_file: yaml")).base.program.placeholders);
  EXPECT_FALSE(good(tuned("command: [./go]")).base.program.adapted());
}

TEST(Placeholders, UnknownOnesNameTheNearest) {
  expect_issue(tuned("command: [./go, '{lrr}', '{lr}', '{depth}']"),
               "2:27: program.command[1]: {lrr} is neither a hyperparameter nor one of folder, file, epochs, "
               "seed, cores, "
               "memory, speed, gpus, attempt (did you mean 'lr'?); for the text itself write {{lrr}}");
  expect_issue(tuned("command: [./go], metrics_file: {path: '{foldr}/x.csv'}"),
               "2:42: program.metrics_file.path: {foldr} is neither");
}

TEST(Placeholders, WhatIsSearchedReachesTheProgram) {
  expect_issue(tuned("command: [./go, '{lr}']"),
               "2:20: program.command: does not give the program all that is searched: write {depth} where "
               "it takes them, "
               "or {file}");
  good(tuned("command: [./go, '{folder}']"));  // it may read its hyperparameters elsewhere
  expect_issue(tuned("command: [./go, '{lr}', '{depth}'], parameter_file: yaml"),
               "2:63: program.parameter_file: is given to nobody: write {file}");
}

TEST(ReadMetrics, PatternsAreCheckedBeforeAnythingRuns) {
  const auto job =
      good(tuned("command: [./go], metrics: {accuracy: 'acc ([0-9.]+)'}, epoch: 'epoch (\\d+)'"));
  EXPECT_EQ(job.base.program.metrics, (std::map<std::string, std::string>{{"accuracy", "acc ([0-9.]+)"}}));
  EXPECT_EQ(job.base.program.epoch, "epoch (\\d+)");
  expect_issue(tuned("command: [./go], metrics: {accuracy: 'acc (['}"),
               "2:48: program.metrics.accuracy: is no regular expression");
  expect_issue(tuned("command: [./go], metrics: {accuracy: 'acc'}"),
               "2:48: program.metrics.accuracy: must have one group in parentheses");
  expect_issue(tuned("command: [./go], metrics: {loss: '(.)'}"),
               "2:37: program.metrics: does not say how to read 'accuracy', which is an objective");
  expect_issue(tuned("command: [./go], epoch: '(.)'"), "2:35: program.epoch: goes with program.metrics");
  expect_issue(tuned("command: [./go], metrics: {accuracy: '" + std::string(501, 'a') + "'}"),
               "2:48: program.metrics.accuracy: has 501 bytes");
}

TEST(ReadMetrics, PatternsThatWouldTakeAServerSecondsToCompileAreRefused) {
  good(tuned("command: [./go], metrics: {accuracy: 'acc ([0-9]{1,3}[.][0-9]{4})'}"));
  for (const std::string& heavy : {std::string("([^a]{90000})"), std::string("((a{300}){300}){9}(b)"),
                                   std::string("(a{99999999999999999999999})"), std::string("([a]{3, 90000}.)")})
    expect_issue(tuned("command: [./go], metrics: {accuracy: '" + heavy + "'}"),
                 "2:48: program.metrics.accuracy: repeats too much");
  std::string many = "accuracy: '(a)'";
  for (int i = 0; i < 200; ++i) many += ", m" + std::to_string(i) + ": '(" + std::string(490, 'a') + ")'";
  expect_issue(tuned("command: [./go], metrics: {" + many + "}"), "2:50653: program.metrics.");
}

TEST(ReadMetrics, SurviveTheJournal) {
  const auto job =
      good(tuned("command: [./go, '{file}', '{lr}'], parameter_file: yaml, metrics: {accuracy: acc}, "
                 "metrics_file: {path: '{folder}/x', format: csv}"));
  EXPECT_EQ(tune_job_from_json(nlohmann::json::parse(to_json(job).dump())), job);
  auto old = to_json(job.base);
  old["program"] = {{"command", {"go", "{print}"}}};
  EXPECT_FALSE(train_job_from_json(old).program.adapted())
      << "commands of old journals are taken as they are";
}

}  // namespace
}  // namespace tandem::spec::testing
