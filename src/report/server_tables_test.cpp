#include "report/server_tables.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tandem::report {
namespace {

using nlohmann::json;

json job() {
  return json{{"job", 7},          {"name", "lenet"},  {"state", "running"}, {"priority", 0},
              {"resources", {{"cores", 2}, {"memory", 0}, {"speed", 1.0}}},  {"node", "n1"},
              {"submitted", 1000}, {"started", 1010.0}, {"ended", nullptr},  {"attempts", 1},
              {"drop", 0},         {"reason", ""},     {"progress", {{"done", 3}, {"of", 9}, {"unit", "epochs"}}}};
}

TEST(ServerTables, ARunningJobHasRunUntilNow) {
  const auto at = [](double now) { return queue_table({{"now", now}, {"jobs", json::array({job()})}}); };
  EXPECT_NE(at(1040).find("30.0 s"), std::string::npos) << at(1040);
  EXPECT_NE(at(1041).find("31.0 s"), std::string::npos) << at(1041);
  EXPECT_NE(at(1040).find("3/9"), std::string::npos);
  EXPECT_NE(at(1040).find("2 cores"), std::string::npos);
  EXPECT_EQ(at(1000).find("-10"), std::string::npos) << "clocks may differ: never less than nothing";
}

json considered(const json& seconds, const json& joules) {
  return {{"type", "quick"}, {"nodes", 1}, {"up", 1}, {"refused", ""}, {"score", 0.5}, {"why", ""},
          {"expected_seconds", seconds}, {"expected_within", nullptr}, {"expected_joules", joules}};
}

TEST(ServerTables, WhatNobodyKnowsIsNotAZero) {
  const json why{{"policy", "heats"}, {"energy_weight", 0.5},   {"considered", json::array({considered(nullptr, nullptr)})},
                 {"verdict", ""},     {"ahead", 1},             {"expected_start", nullptr}, {"start_note", "nobody knows"}};
  const auto text = explanation_text({{"job", 7}, {"name", "lenet"}, {"state", "queued"}, {"node", nullptr},
                                      {"reason", ""}, {"explains", "as things are now"}, {"explanation", why}});
  EXPECT_EQ(text.find("0.0 J"), std::string::npos) << text;
  EXPECT_NE(text.find("not known"), std::string::npos) << text;
  EXPECT_NE(text.find("1 job is tried before it."), std::string::npos) << text;
  EXPECT_NE(text.find("When it starts cannot be told: nobody knows."), std::string::npos) << text;
}

}  // namespace
}  // namespace tandem::report
