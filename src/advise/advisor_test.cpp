#include "advise/advisor.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "advise/advice_text.h"
#include "advise/toy_history_for_test.h"
#include "base/error.h"

namespace tandem::advise {
namespace {

const Models& models() {
  static const auto learnt =
      Models::fit(toy_history(6, 0.02), "toy/data", "here", {.regressions = {"forest:trees=30"}});
  return learnt;
}

Question question(double slo) {
  Question out;
  out.slo = {slo};
  for (const int batch : {32, 64, 128, 256})
    for (const int cores : {1, 2, 4}) out.candidates.push_back(toy_setting(batch, cores));
  return out;
}

int batch_of(const Assessment& assessed) {
  return static_cast<int>(*as_number(assessed.setting.hyper.at("batch_size")));
}

TEST(Advise, PlentyOfTimeGoesToTheMostAccurateSetting) {
  const auto advice = advise(models(), question(1000));
  EXPECT_TRUE(advice.met);
  EXPECT_EQ(batch_of(advice.choice), 32);
  EXPECT_EQ(advice.fit, 12u);
  // Cores do not change accuracy: of those the one that takes least energy, which is one core here.
  EXPECT_EQ(advice.choice.setting.system.cores, 1);
  EXPECT_GE(advice.choice.p_meet, 0.95);
  EXPECT_EQ(advice.runner_ups.size(), 3u);
}

TEST(Advise, LittleTimeCostsAccuracy) {
  // True times: batch 256 on 4 cores 35 s, 128 44 s, 64 58 s, 32 90 s.
  const auto advice = advise(models(), question(52));
  EXPECT_TRUE(advice.met);
  EXPECT_EQ(batch_of(advice.choice), 128);
  EXPECT_EQ(advice.choice.setting.system.cores, 4);
  EXPECT_LT(advice.choice.seconds.value(), 52);
}

TEST(Advise, WhatIsPromisedIsKept) {
  // The truth is drawn again and again with the history's own noise.
  const auto advice = advise(models(), question(52));
  Random random(4);
  int met = 0;
  for (int i = 0; i < 1000; ++i)
    met += 2 + 10 * toy_epoch_seconds(128, 4, 1) * std::exp(0.02 * random.normal()) <= 52;
  EXPECT_GE(met, 950);
  EXPECT_GE(advice.choice.p_meet, 0.95);
}

TEST(Advise, NothingMeetsItThenTheNearestMissIsSaid) {
  const auto advice = advise(models(), question(5));
  EXPECT_FALSE(advice.met);
  EXPECT_EQ(advice.fit, 0u);
  EXPECT_LT(advice.choice.p_meet, 0.95);
  EXPECT_NE(advice.reasons[0].find("none of 12 candidates"), std::string::npos) << advice.reasons[0];
}

// Where some past runs do not say their batch size, none is learnt from it.
TEST(Advise, WhatPastRunsDoNotTellApartIsNotRecommended) {
  auto runs = toy_history(2, 0.02);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].metrics.clear();
    if (i % 2 == 0) runs[i].setting.hyper.erase("batch_size");
  }
  const auto learnt = Models::fit(runs, "toy/data", "here", {.regressions = {"forest:trees=30"}});
  const auto advice = advise(learnt, question(1000));
  EXPECT_EQ(advice.reasons[0].find("batch_size"), std::string::npos) << advice.reasons[0];
  const auto says = [](const Advice& given, const char* words) {
    return std::any_of(given.notes.begin(), given.notes.end(),
                       [&](const std::string& note) { return note.find(words) != std::string::npos; });
  };
  EXPECT_TRUE(says(advice, "no recommendation"));
  EXPECT_FALSE(says(advise(models(), question(1000)), "no recommendation"));
}

TEST(Advise, AJouleLimitCounts) {
  auto asked = question(1000);
  const auto free = advise(models(), asked);
  asked.max_joules = Joules{0.8 * free.choice.joules->value()};
  const auto limited = advise(models(), asked);
  EXPECT_TRUE(limited.met);
  EXPECT_LT(limited.choice.joules->value(), asked.max_joules->value);
  EXPECT_GT(batch_of(limited.choice), 32);
}

TEST(Advise, QuestionsThatCannotBeAreRefused) {
  for (const double slo : {0.0, -5.0, std::nan(""), 1.0 / 0.0})
    EXPECT_THROW(advise(models(), question(slo)), UserError);
  auto asked = question(100);
  asked.probability = 1;
  EXPECT_THROW(advise(models(), asked), UserError);
  asked = question(100);
  asked.max_joules = Joules{0};
  EXPECT_THROW(advise(models(), asked), UserError);
  asked = question(100);
  asked.others = std::nan("");
  EXPECT_THROW(advise(models(), asked), UserError);
  asked = question(100);
  asked.candidates.clear();
  EXPECT_THROW(advise(models(), asked), UserError);
  asked.candidates = {toy_setting(32, 1, 0)};
  EXPECT_THROW(advise(models(), asked), UserError);
}

TEST(Advise, OtherJobsMakeItSlower) {
  auto asked = question(52);
  asked.others = 2;
  const auto advice = advise(models(), asked);
  EXPECT_EQ(advice.choice.load.jobs, 3);
  EXPECT_GT(batch_of(advice.choice), 128);
}

TEST(Advise, BusyCoresAreMoreJobsToANarrowOneThanToAWideOne) {
  auto asked = question(1000);
  asked.busy_cores = 2;
  asked.candidates = {toy_setting(128, 1)};
  EXPECT_DOUBLE_EQ(advise(models(), asked).choice.load.jobs, 3);
  asked.candidates = {toy_setting(128, 2)};
  EXPECT_DOUBLE_EQ(advise(models(), asked).choice.load.jobs, 2);
  asked.busy_cores = -1;
  EXPECT_THROW(advise(models(), asked), UserError);
}

// One job ends midway: the time lies between alone and together all along, as integrated by hand.
TEST(Advise, AJobThatEndsMidwaySlowsOnlyUntilThen) {
  Question asked;
  asked.slo = {1000};
  asked.candidates = {toy_setting(64, 1)};
  RunningJob other;
  other.id = "other";
  other.setting = toy_setting(64, 1);
  other.left = 0.2;
  other.models = &models();
  other.deadline = Seconds{1};
  asked.running = {other};
  const double alone = models().seconds(asked.candidates[0], 1).value();
  const double both = models().seconds(asked.candidates[0], 2).value();
  const auto advice = advise(models(), asked);
  const double until = 0.2 * both;  // the other one ends
  EXPECT_NEAR(advice.choice.seconds.value(), until + (1 - until / both) * alone, 1e-6);
  ASSERT_EQ(advice.choice.threatened.size(), 1u);
  EXPECT_TRUE(advice.choice.threatened[0].anyway);
}

TEST(Advise, JsonHasTheShapeScriptsRelyOn) {
  const auto asked = question(52);
  const auto json = to_json(advise(models(), asked), models(), asked);
  EXPECT_EQ(json.at("choice").at("hyper").at("batch_size"), 128);
  EXPECT_EQ(json.at("choice").at("system").at("cores"), 4);
  EXPECT_EQ(json.at("choice").at("epochs"), 10);
  EXPECT_GT(json.at("predicted").at("seconds").get<double>(), 0);
  EXPECT_GT(json.at("predicted").at("accuracy").get<double>(), 0.8);
  EXPECT_EQ(json.at("predicted").at("joules_source"), "model");
  EXPECT_EQ(json.at("interval").at("seconds").size(), 2u);
  EXPECT_GE(json.at("p_meet").get<double>(), 0.95);
  EXPECT_EQ(json.at("models").at("seconds"), "forest:trees=30");
  EXPECT_EQ(json.at("runner_ups").size(), 3u);
  EXPECT_EQ(nlohmann::json::parse(json.dump()), json);  // nothing in it that JSON cannot say
}

}  // namespace
}  // namespace tandem::advise
