#include "runtime/common/conversation.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace tandem::runtime {
namespace {

Conversation a_talk() {
  Conversation talk;
  talk.begin.epochs = 3;
  return talk;
}

std::string hello(int durable) {
  return R"({"type":"hello","version":1,"durable_epoch":)" + std::to_string(durable) + "}";
}
std::string epoch(int number) {
  return R"({"type":"epoch","epoch":)" + std::to_string(number) + R"(,"metrics":{"loss":1}})";
}

TEST(Conversation, ReportsAreNumberedAndTimed) {
  Conversation talk = a_talk();
  EXPECT_TRUE(hear(talk, hello(0), {10}).wants_begin);
  talk.stretch_from = {10};
  hear(talk, R"({"type":"ready"})", {12});
  const auto heard = hear(talk, epoch(1), {15});
  ASSERT_TRUE(heard.epoch);
  EXPECT_EQ(heard.epoch->epoch, 1);
  EXPECT_EQ(heard.epoch->seconds.value, 5);
  EXPECT_EQ(heard.epoch->startup.value, 2);
  EXPECT_THROW(hear(talk, epoch(2), {16}), protocol::ProtocolError) << "it did not wait for the answer";
  EXPECT_NE(answer(talk, false, {16}).find("\"stop\":false"), std::string::npos);
  EXPECT_THROW(hear(talk, epoch(3), {17}), protocol::ProtocolError) << "a gap";
}

// Its answer would begin again at epoch 1, over what was acknowledged.
TEST(Conversation, ASecondHelloIsRefused) {
  Conversation talk = a_talk();
  hear(talk, hello(0), {1});
  EXPECT_THROW(hear(talk, hello(0), {2}), protocol::ProtocolError);
  hear(talk, epoch(1), {3});
  answer(talk, false, {3});
  EXPECT_THROW(hear(talk, R"({"type":"hello","version":1})", {4}), protocol::ProtocolError);
  EXPECT_EQ(talk.last_epoch, 1) << "what it reported stands";

  Conversation shy = a_talk();
  hear(shy, epoch(1), {1});
  answer(shy, false, {1});
  EXPECT_THROW(hear(shy, hello(0), {2}), protocol::ProtocolError) << "the first is late";
  EXPECT_EQ(shy.last_epoch, 1);
}

TEST(Conversation, AnEpochBeginsWhenReadyWasSaidNotWhenItWasRead) {
  Conversation talk = a_talk();
  talk.stretch_from = {10};
  hear(talk, R"({"type":"ready"})", {14.999});  // it was said at 11, and nobody looked
  const auto heard = hear(talk, R"({"type":"epoch","metrics":{},"since_ready":4,"loaded":{"a":1}})", {15});
  EXPECT_EQ(heard.loaded, R"({"a":1})");
  EXPECT_EQ(heard.epoch->startup.value, 1);
  EXPECT_EQ(heard.epoch->seconds.value, 5);
  answer(talk, false, {15});
  EXPECT_EQ(hear(talk, R"({"type":"epoch","metrics":{},"since_ready":900})", {16}).epoch->startup.value, 0);
}

TEST(Conversation, NoProgramCanSayThatItWasReadyBeforeItBegan) {
  Conversation talk = a_talk();
  talk.stretch_from = {10};
  hear(talk, R"({"type":"ready"})", {12});
  EXPECT_EQ(hear(talk, R"({"type":"epoch","metrics":{},"since_ready":4000})", {15}).epoch->startup.value, 0);
}

TEST(Conversation, AMetricThatIsNoNumberIsKeptByNameAndSaidOnce) {
  Conversation talk = a_talk();
  const std::string line = R"({"type":"epoch","metrics":{"loss":NaN,"accuracy":0.5,"norm":Infinity}})";
  auto heard = hear(talk, line, {1});
  ASSERT_TRUE(heard.epoch);
  EXPECT_EQ(heard.epoch->metrics, (Metrics{{"accuracy", 0.5}}));
  EXPECT_EQ(heard.epoch->not_finite, (std::vector<std::string>{"loss", "norm"}));
  EXPECT_NE(heard.warning.find("'loss' is NaN"), std::string::npos) << heard.warning;
  EXPECT_NE(heard.warning.find("'norm' is infinite"), std::string::npos) << heard.warning;
  answer(talk, false, {1});
  heard = hear(talk, line, {2});
  EXPECT_EQ(heard.epoch->not_finite.size(), 2U);
  EXPECT_EQ(heard.warning, "");
}

TEST(Conversation, AnObjectiveThatIsNoNumberEndsTheTrial) {
  Conversation talk = a_talk();
  talk.objectives = {"accuracy"};
  const auto heard = hear(talk, R"({"type":"epoch","metrics":{"accuracy":NaN}})", {1});
  EXPECT_FALSE(heard.epoch);
  ASSERT_TRUE(heard.fails);
  EXPECT_EQ(heard.fails->first, Failure::bad_report);
  EXPECT_NE(heard.fails->second.find("'accuracy'"), std::string::npos);
}

TEST(Conversation, AProgramThatFloodsHasBrokenTheContract) {
  Conversation talk = a_talk();
  const std::string ready = R"({"type":"ready"})";
  for (int window = 0; window < 3; ++window)
    for (std::int64_t i = 0; i < kMostLines; ++i) hear(talk, ready, {100.0 + 11 * window});
  const auto floods = [&](Conversation& who, const std::string& line) {
    for (std::int64_t i = 0; i <= kMostLines; ++i) hear(who, line, {200.0});
  };
  try {
    floods(talk, ready);
    ADD_FAILURE() << "it may flood";
  } catch (const protocol::ProtocolError& error) {
    EXPECT_STREQ(error.what(), "it sent more than 10000 lines within 10.0 s that report no "
                               "epoch; tell of progress less often");
  }
  Conversation other = a_talk();
  EXPECT_THROW(floods(other, R"({"type":"progress","share":0.5})"), protocol::ProtocolError);
  EXPECT_THROW(floods(other, R"({"type":"checkpointed","epoch":1})"), protocol::ProtocolError);
}

TEST(Conversation, ReportsAreNoFlood) {
  Conversation talk = a_talk();
  talk.begin.epochs = 3 * kMostLines;
  for (int i = 1; i <= 2 * kMostLines; ++i) {
    ASSERT_TRUE(hear(talk, epoch(i), {1}).epoch);
    answer(talk, false, {1});
  }
}

TEST(Conversation, AReportPastTheEndIsNotCounted) {
  Conversation talk = a_talk();
  talk.last_epoch = 3;
  const auto heard = hear(talk, epoch(4), {1});
  EXPECT_FALSE(heard.epoch);
  EXPECT_FALSE(heard.past_the_end.empty());
}

TEST(Conversation, AProgramThatMovedWhileItsReportWaitedIsHeldAtItsHello) {
  Conversation talk = a_talk();
  hear(talk, hello(0), {1});
  hear(talk, epoch(1), {2});
  talk.gated = true;
  EXPECT_NE(answer(talk, true, {2}).find("\"stop\":true"), std::string::npos);
  begin_again(talk, {3});
  EXPECT_FALSE(hear(talk, hello(1), {4}).wants_begin);
  EXPECT_TRUE(talk.begin_due);
  EXPECT_EQ(talk.begin.reported, 1);
  talk.gated = talk.begin_due = false;
  EXPECT_EQ(hear(talk, epoch(2), {5}).epoch->epoch, 2) << "and goes on after it";
}

TEST(Conversation, AProgramWithoutACheckpointStartsOverAfterAMove) {
  Conversation talk = a_talk();
  talk.counted_before = 2;
  hear(talk, hello(0), {1});
  EXPECT_EQ(talk.begin.reported, 0);
  EXPECT_EQ(hear(talk, epoch(1), {2}).epoch->epoch, 1);
}

TEST(Conversation, OnlyAProgramThatLosesLittleIsMoved) {
  Conversation talk = a_talk();
  EXPECT_TRUE(talk.movable()) << "it has done nothing yet";
  hear(talk, R"({"type":"hello","version":1})", {1});
  EXPECT_FALSE(talk.movable()) << "it keeps no checkpoints";
  talk = a_talk();
  hear(talk, hello(0), {1});
  EXPECT_TRUE(talk.movable());
}

TEST(Conversation, ACloneNeedsItsCheckpoint) {
  Conversation talk = a_talk();
  talk.cloned_at = 2;
  EXPECT_TRUE(hear(talk, hello(0), {1}).fails);
  talk = a_talk();
  talk.cloned_at = 2;
  EXPECT_TRUE(hear(talk, epoch(1), {1}).fails) << "who says no hello has begun from nothing";
}

TEST(Conversation, APlainCommandNeedNotReportAndIsNotMoved) {
  Conversation talk;
  talk.plain = true;
  talk.begin.epochs = 0;
  EXPECT_TRUE(talk.plain);
  EXPECT_FALSE(talk.movable()) << "what it did would be lost";
  const auto heard = hear(talk, epoch(1), {1});
  EXPECT_FALSE(heard.epoch);
  EXPECT_NE(heard.past_the_end.find("not counted"), std::string::npos);
}

TEST(Conversation, ProgressNeverGoesBackAndShowsThatItIsAlive) {
  Conversation talk = a_talk();
  talk.stall_after = {10};
  begun(talk, {0});
  EXPECT_EQ(talk.stall_at->value, 10);
  hear(talk, R"({"type":"progress","share":0.5})", {8});
  EXPECT_EQ(talk.stall_at->value, 18);
  EXPECT_THROW(hear(talk, R"({"type":"progress","share":0.4})", {9}), protocol::ProtocolError);
  hear(talk, epoch(1), {12});
  EXPECT_FALSE(talk.stall_at) << "it waits for us";
  EXPECT_THROW(hear(talk, R"({"type":"progress","share":0.1})", {13}), protocol::ProtocolError);
  answer(talk, false, {14});
  EXPECT_EQ(talk.stall_at->value, 24);
  EXPECT_NO_THROW(hear(talk, R"({"type":"progress","share":0.1})", {15})) << "another epoch";
}

TEST(Conversation, SlicesAreToldWhereTheyAreAskedForOnceItHasSettled) {
  Conversation talk = a_talk();
  begun(talk, {0});
  const auto part = [&](const char* share, double now) {
    return hear(talk, std::string(R"({"type":"progress","share":)") + share + "}", {now}).slice;
  };
  EXPECT_FALSE(part("0.01", 5)) << "nobody asked";
  talk.slices = true;
  settle(talk, {5});
  EXPECT_FALSE(part("0.02", 5.1)) << "it is settling";
  const auto settled = part("0.03", 5.25);
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->share, 0);
  EXPECT_FALSE(part("0.05", 5.5)) << "too short";
  const auto slice = part("0.08", 6);
  ASSERT_TRUE(slice);
  EXPECT_NEAR(slice->share, 0.05, 1e-9);
  EXPECT_NEAR(slice->seconds.value, 0.75, 1e-9);
}

TEST(Conversation, AProgramThatCannotSetItsPrecisionIsNotBelieved) {
  Conversation talk = a_talk();
  talk.begin.system.precision = Precision::bf16;
  const auto silent = hear(talk, hello(0), {1});
  ASSERT_TRUE(silent.fails);
  EXPECT_EQ(silent.fails->first, Failure::bad_report);
  EXPECT_NE(silent.fails->second.find("bf16"), std::string::npos);
  talk = a_talk();
  talk.begin.system.precision = Precision::bf16;
  EXPECT_TRUE(hear(talk, epoch(1), {1}).fails) << "nor one that says no hello";
  talk = a_talk();
  talk.begin.system.precision = Precision::bf16;
  EXPECT_TRUE(hear(talk, R"({"type":"hello","version":1,"can":["precision"]})", {1}).wants_begin);
}

TEST(Judge, NamesEveryKindOfEnd) {
  Conversation talk = a_talk();
  EXPECT_EQ(judge({false, 0}, talk).failure, Failure::silent);
  EXPECT_EQ(judge({false, 3}, talk).failure, Failure::crashed);
  EXPECT_EQ(judge({true, SIGSEGV}, talk).failure, Failure::killed);
  const auto eaten = judge({true, SIGKILL, 1, kGiB}, talk);
  EXPECT_EQ(eaten.failure, Failure::out_of_memory);
  EXPECT_NE(eaten.detail.find("1 GiB"), std::string::npos);
  talk.last_epoch = 1;
  EXPECT_TRUE(judge({false, 0}, talk).well);
  EXPECT_TRUE(judge({false, 0}).well) << "a follower need not report";
}

// `for i in 1 2 3; do ...; tandem tell ...; done` ends with what the last `tell` said.
TEST(Judge, AScriptThatEndsAsTellSaidAfterItsLastEpochEndedWell) {
  Conversation talk = a_talk();
  talk.last_epoch = 3;
  EXPECT_TRUE(judge({false, protocol::kToldToStop}, talk).well);
  EXPECT_EQ(judge({false, 1}, talk).failure, Failure::crashed) << "that is something else";
  EXPECT_EQ(judge({true, SIGQUIT}, talk).failure, Failure::killed) << "signal 3 is not status 3";
  talk.owes_answer = true;
  EXPECT_EQ(judge({false, protocol::kToldToStop}, talk).failure, Failure::crashed) << "nobody told it";
  talk.owes_answer = false;
  talk.last_epoch = 2;
  EXPECT_EQ(judge({false, protocol::kToldToStop}, talk).failure, Failure::crashed) << "nor here";
}

TEST(Judge, APlainCommandIsItsExitStatus) {
  Conversation talk;
  talk.plain = true;
  EXPECT_TRUE(judge({false, 0}, talk).well);
  EXPECT_EQ(judge({false, 3}, talk).failure, Failure::crashed);
  EXPECT_EQ(judge({true, SIGKILL}, talk).failure, Failure::killed);
}

TEST(NumberReport, AScriptWithItsOwnStateMayGoOnWhereTheLastAttemptEnded) {
  Conversation talk = a_talk();
  talk.begin.epochs = 9;
  talk.counted_before = 5;
  EXPECT_EQ(hear(talk, epoch(6), {1}).epoch->epoch, 6);
  talk = a_talk();
  talk.counted_before = 2;
  EXPECT_EQ(hear(talk, epoch(1), {1}).epoch->epoch, 1) << "or start over";
  answer(talk, false, {2});
  EXPECT_THROW(hear(talk, epoch(3), {3}), protocol::ProtocolError) << "but only at first";
}

}  // namespace
}  // namespace tandem::runtime
