#include "runtime/slurm/talk.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace tandem::slurm {
namespace {

Talk a_talk() {
  Talk talk;
  talk.begin.epochs = 3;
  return talk;
}

std::string hello(int durable) {
  return R"({"type":"hello","version":1,"durable_epoch":)" + std::to_string(durable) + "}";
}
std::string epoch(int number) {
  return R"({"type":"epoch","epoch":)" + std::to_string(number) + R"(,"metrics":{"loss":1}})";
}

TEST(Talk, ReportsAreNumberedAndTimed) {
  Talk talk = a_talk();
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

TEST(Talk, AReportPastTheEndIsNotCounted) {
  Talk talk = a_talk();
  talk.last_epoch = 3;
  const auto heard = hear(talk, epoch(4), {1});
  EXPECT_FALSE(heard.epoch);
  EXPECT_FALSE(heard.past_the_end.empty());
}

TEST(Talk, AProgramThatMovedWhileItsReportWaitedIsHeldAtItsHello) {
  Talk talk = a_talk();
  hear(talk, hello(0), {1});
  hear(talk, epoch(1), {2});
  talk.gated = true;
  EXPECT_NE(answer(talk, true, {2}).find("\"stop\":true"), std::string::npos);
  talk.begin_again({3});
  EXPECT_FALSE(hear(talk, hello(1), {4}).wants_begin);
  EXPECT_TRUE(talk.begin_due);
  EXPECT_EQ(talk.begin.reported, 1);
  talk.gated = talk.begin_due = false;
  EXPECT_EQ(hear(talk, epoch(2), {5}).epoch->epoch, 2) << "and goes on after it";
}

TEST(Talk, AProgramWithoutACheckpointStartsOverAfterAMove) {
  Talk talk = a_talk();
  talk.counted_before = 2;
  hear(talk, hello(0), {1});
  EXPECT_EQ(talk.begin.reported, 0);
  EXPECT_EQ(hear(talk, epoch(1), {2}).epoch->epoch, 1);
}

TEST(Talk, OnlyAProgramThatLosesLittleIsMoved) {
  Talk talk = a_talk();
  EXPECT_TRUE(talk.movable()) << "it has done nothing yet";
  hear(talk, R"({"type":"hello","version":1})", {1});
  EXPECT_FALSE(talk.movable()) << "it keeps no checkpoints";
  hear(talk, hello(0), {1});
  EXPECT_TRUE(talk.movable());
}

TEST(Talk, ACloneNeedsItsCheckpoint) {
  Talk talk = a_talk();
  talk.cloned_at = 2;
  EXPECT_FALSE(hear(talk, hello(0), {1}).cannot_begin.empty());
}

TEST(Talk, APlainCommandNeedNotReportAndIsNotMoved) {
  Talk talk;
  talk.begin.epochs = 0;
  EXPECT_TRUE(talk.plain());
  EXPECT_FALSE(talk.movable()) << "what it did would be lost";
  const auto heard = hear(talk, epoch(1), {1});
  EXPECT_FALSE(heard.epoch);
  EXPECT_NE(heard.past_the_end.find("not counted"), std::string::npos);
}

Ended exited(bool signalled, int status) {
  ExitRecord record;
  record.signalled = signalled;
  record.status = status;
  return {End::exited, "", record, true};
}

TEST(Judge, APlainCommandIsItsExitStatus) {
  Talk talk;
  talk.begin.epochs = 0;
  EXPECT_TRUE(judge(exited(false, 0), talk).well);
  EXPECT_EQ(judge(exited(false, 3), talk).failure, Failure::crashed);
  EXPECT_EQ(judge(exited(true, SIGKILL), talk).failure, Failure::killed);
}

TEST(Judge, NamesEveryKindOfEnd) {
  Talk talk = a_talk();
  EXPECT_EQ(judge(exited(false, 0), talk).failure, Failure::silent);
  EXPECT_EQ(judge(exited(false, 3), talk).failure, Failure::crashed);
  EXPECT_EQ(judge(exited(true, SIGSEGV), talk).failure, Failure::killed);
  auto lost = exited(true, SIGTERM);
  lost.record->lost_tandem = true;
  EXPECT_EQ(judge(lost, talk).failure, Failure::lost);
  auto missing = exited(false, 127);
  missing.record->could_not_start = "no such program";
  EXPECT_EQ(judge(missing, talk).failure, Failure::could_not_start);
  EXPECT_EQ(judge({End::node_failed, "", {}, true}, talk).failure, Failure::lost);
  EXPECT_EQ(judge({End::lost, "", {}, true}, talk).failure, Failure::lost);
  EXPECT_EQ(judge({End::out_of_memory, "", {}, true}, talk).failure, Failure::out_of_memory);
  EXPECT_EQ(judge({End::failed, "", {}, false}, talk).failure, Failure::could_not_start);
  EXPECT_EQ(judge({End::failed, "", {}, true}, talk).failure, Failure::killed);
  talk.last_epoch = 1;
  EXPECT_TRUE(judge(exited(false, 0), talk).well);
}

}  // namespace
}  // namespace tandem::slurm
