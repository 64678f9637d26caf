#include "event/codec.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tandem {
namespace {

using nlohmann::json;

std::vector<EventBody> every_event() {
  spec::TrainJob job;
  job.name = "a";
  job.program = {"lenet5", "digits", {}};
  job.hyper = {{"batch_size", std::int64_t{64}}, {"learning_rate", 0.05}, {"optimizer", std::string("sgd")}};
  const Energy energy{Joules{12.5}, "model (idle 8 W, busy 30 W)"};
  return {JobSubmitted{0, job},
          JobCancelled{0, "asked"},
          JobResumed{0},
          NodeJoined{0, "here", {2, kGiB, 1.0}},
          TaskStarted{1, 2, 3, 4, 5, {0, 1}},
          EpochEnded{1, 2, 3, {{"accuracy", 0.5}}, Seconds{1.5}, energy, {{{"task-clock", 1.9}}}},
          EpochEnded{1, 2, 4, {}, Seconds{0.5}, std::nullopt, {}},
          CheckpointTaken{1, 2, 3, 4},
          SystemChanged{1, 2, 3, {1, 0, 0.5}},
          TaskEnded{1, 2, energy},
          TaskFailed{1, 2, Failure::out_of_memory, "too much", "last\nlines", std::nullopt},
          DecisionRefused{7, "no room"},
          Woke{8}};
}

std::vector<DecisionBody> every_decision() {
  return {Request{0, 0, {2, 0, 1.0}}, Start{0, 1, 0, {2, 0, 1.0}},
          Continue{0, 1, 3},          Resize{0, 1, {1, 0, 0.5}},
          TakeCheckpoint{0, 1},       Stop{0, 1, "asked"},
          Wake{Seconds{9.25}},        FinishJob{0, JobState::failed, "crashed"}};
}

TEST(Codec, EveryEventSurvivesJsonAndCbor) {
  std::set<std::size_t> kinds;
  for (const auto& body : every_event()) {
    const Event event{Seconds{1234.5}, body};
    EXPECT_EQ(event_from_json(to_json(event)), event) << name(body);
    EXPECT_EQ(event_from_json(json::from_cbor(json::to_cbor(to_json(event)))), event) << name(body);
    kinds.insert(body.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<EventBody>) << "a new event needs an example here";
}

TEST(Codec, EveryDecisionSurvivesJson) {
  std::set<std::size_t> kinds;
  for (const auto& body : every_decision()) {
    const Decision decision{42, body};
    EXPECT_EQ(decision_from_json(to_json(decision)), decision) << name(body);
    kinds.insert(body.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<DecisionBody>);
}

TEST(Codec, EveryFailureAndStateHasItsOwnWord) {
  for (auto failure : {Failure::crashed, Failure::killed, Failure::stalled, Failure::out_of_memory,
                       Failure::bad_report, Failure::silent, Failure::lost, Failure::could_not_start}) {
    const Event event{Seconds{}, TaskFailed{0, 1, failure, "", "", {}}};
    EXPECT_EQ(event_from_json(to_json(event)), event) << name(failure);
  }
  for (auto state : {JobState::running, JobState::finished, JobState::stopped, JobState::failed}) {
    const Decision decision{1, FinishJob{0, state, ""}};
    EXPECT_EQ(decision_from_json(to_json(decision)), decision) << name(state);
  }
}

TEST(Codec, UnknownKeysAreIgnoredAndMissingOnesKeepTheirDefault) {
  const auto event = event_from_json(json{{"is", "Woke"}, {"at", 2.0}, {"colour", "red"}});
  EXPECT_EQ(event, (Event{Seconds{2}, Woke{0}}));
}

TEST(Codec, WhatIsNoEventIsSaidToBeNone) {
  EXPECT_THROW(event_from_json(json{{"is", "Exploded"}}), SystemError);
  EXPECT_THROW(event_from_json(json::object()), SystemError);
  EXPECT_THROW(event_from_json(json{{"is", "Woke"}, {"decision", "seven"}}), SystemError);
  EXPECT_THROW(event_from_json(json{{"is", "TaskFailed"}, {"failure", "sulked"}}), SystemError);
  EXPECT_THROW(decision_from_json(json::array()), SystemError);
}

}  // namespace
}  // namespace tandem
