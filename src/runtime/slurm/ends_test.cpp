#include <gtest/gtest.h>
#include <signal.h>

#include "runtime/slurm/world.h"

namespace tandem::slurm {
namespace {

Ended exited(bool signalled, int status) {
  ExitRecord record;
  record.signalled = signalled;
  record.status = status;
  return {End::exited, "", record, true};
}

TEST(JudgeJob, NamesEveryKindOfEnd) {
  runtime::Conversation talk;
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
