#include "report/run_tables.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tandem::report {
namespace {

using nlohmann::json;

json run(const std::string& id, double accuracy) {
  return {{"id", id},           {"run", id},
          {"kind", "tune"},     {"name", "lenet"},
          {"state", "finished"}, {"created", 1.7e9},
          {"seconds", 16.1},    {"joules", 467.0},
          {"energy_source", "model (idle 8 W, busy 30 W)"},
          {"energy_complete", true},
          {"score", {{"metric", "accuracy"}, {"value", accuracy}, {"higher_is_better", true}}},
          {"tags", {"paper"}},  {"note", ""},
          {"hyper", {{"batch_size", 32}}}};
}

TEST(RunTables, AListTellsWhatEachRunReachedAndWhoMeasuredIt) {
  auto second = run("b", 0.5);
  second["joules"] = nullptr;
  second["note"] = "a note";
  second["energy_source"] = nullptr;
  const auto text = runs_table(json::array({run("a", 0.9585), second}));
  EXPECT_NE(text.find("accuracy 0.9585"), std::string::npos) << text;
  EXPECT_NE(text.find("467.0 J (model)"), std::string::npos) << text;
  EXPECT_NE(text.find("b: a note"), std::string::npos) << text;
  EXPECT_EQ(text.find(" 0 J"), std::string::npos) << "unknown is not nothing\n" << text;
}

TEST(RunTables, AComparisonMarksTheBestOfOneMetricAlone) {
  auto rows = json::array({run("a", 0.9), run("b", 0.95)});
  EXPECT_NE(comparison_table({{"runs", rows}}).find("accuracy 0.95 *"), std::string::npos);
  EXPECT_EQ(comparison_table({{"runs", rows}}).find("accuracy 0.9 *"), std::string::npos);
  rows[0]["score"] = {{"metric", "error"}, {"value", 0.1}, {"higher_is_better", false}};
  EXPECT_EQ(comparison_table({{"runs", rows}}).find('*'), std::string::npos) << "apples and oranges";
}

TEST(RunTables, NothingInARunActsOnTheTerminal) {
  auto row = run("a", 0.9);
  row["name"] = "x\x1b[31m\ny";
  EXPECT_EQ(runs_table(json::array({row})).find('\x1b'), std::string::npos);
  EXPECT_EQ(comparison_table({{"runs", json::array({row, row})}}).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace tandem::report
