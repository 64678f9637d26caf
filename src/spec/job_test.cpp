#include "spec/job.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tandem::spec {
namespace {

using nlohmann::json;

TrainJob full_job() {
  TrainJob job;
  job.name = "n";
  job.program.command = {"python3", "train.py", ""};
  job.hyper = {{"a", true}, {"b", std::int64_t{3}}, {"c", 1.0}, {"d", std::string("x")}};
  job.epochs = 7;
  job.system = {4, 3 * kGiB, 0.25};
  job.seed = INT64_MAX;
  job.limits = {Seconds{0.1}, Seconds{3600}, 0, 100};
  job.keep_checkpoints = 9;
  job.energy = {"model", "http://x/", Watts{20.5}, Watts{95}};
  return job;
}

TEST(Job, SurvivesTheJournal) {
  TrainJob built_in = full_job();
  built_in.program = {"lenet5", "digits", {}};
  for (const auto& job : {TrainJob{}, full_job(), built_in}) {
    EXPECT_EQ(train_job_from_json(json::parse(to_json(job).dump())), job);
    EXPECT_EQ(train_job_from_json(json::from_cbor(json::to_cbor(to_json(job)))), job);
  }
}

TEST(Job, WhatAnOlderVersionDidNotWriteGetsDefaults) {
  EXPECT_EQ(train_job_from_json(json{{"kind", "train"}}), TrainJob{});
}

TEST(Job, NonsenseIsASystemError) {
  for (const char* bad : {"null", "[]", "7", "{}", R"({"kind":"tune"})", R"({"kind":7})"})
    EXPECT_THROW(train_job_from_json(json::parse(bad)), SystemError) << bad;
  const std::vector<std::pair<const char*, const char*>> damage{{"/name", "7"},
                                                                {"/program", "[]"},
                                                                {"/program/command", R"("sh")"},
                                                                {"/program/command/0", "{}"},
                                                                {"/program/model", R"("lenet5")"},
                                                                {"/hyper", "[1]"},
                                                                {"/hyper/a", "18446744073709551615"},
                                                                {"/epochs", "0"},
                                                                {"/epochs", "1.5"},
                                                                {"/epochs", "18446744073709551615"},
                                                                {"/system", "2"},
                                                                {"/system/cores", "0"},
                                                                {"/system/speed", "2"},
                                                                {"/seed", R"("x")"},
                                                                {"/limits", "1"},
                                                                {"/limits/stall", "-1"},
                                                                {"/limits/time", R"("2h")"},
                                                                {"/limits/retries", "-1"},
                                                                {"/limits/retries", "4294967296"},
                                                                {"/limits/processes", "0"},
                                                                {"/keep_checkpoints", "null"},
                                                                {"/energy", "[]"},
                                                                {"/energy/source", "1"},
                                                                {"/energy/idle", "null"}};
  for (const auto& [where, what] : damage) {
    json damaged = to_json(full_job());
    damaged[json::json_pointer(where)] = json::parse(what);
    EXPECT_THROW(train_job_from_json(damaged), SystemError) << where << " " << what;
  }
}

}  // namespace
}  // namespace tandem::spec
