#include "runtime/slurm/submit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace tandem::slurm {
namespace {

bool has(const std::vector<std::string>& arguments, const std::string& one) {
  return std::find(arguments.begin(), arguments.end(), one) != arguments.end();
}

Submission a_submission() {
  return {{"r1", 3, 1, 2},
          "n0",
          {2, 512 * kMiB, 1.0},
          "/run/agent.sh",
          "/run/task-3/output.log",
          "/home/me",
          {"/bin/agent", "/run/ticket; rm -rf ~"}};
}

TEST(Mark, IsFoundAgainInAComment) {
  const Mark mark{"20261115-0430", 3, 1, 2};
  EXPECT_EQ(text(mark), "tandem:20261115-0430:3:1:2");
  EXPECT_EQ(parse_mark(text(mark)), mark);
  for (const char* other : {"", "tandem", "tandem:r:1:1", "tandem:r:1:1:1:1", "tandem:r:x:1:1",
                            "tandem::1:1:1", "tandem:r:-1:1:1", "someone else's", "tandem:r:1:1:99999999999"})
    EXPECT_FALSE(parse_mark(other)) << other;
}

TEST(Sbatch, AsksForExactlyWhatWasGranted) {
  Site site;
  site.partition = "main";
  site.account = "physics";
  site.time = Seconds{90};
  site.gres = "gpu:a100:1";
  const auto arguments = sbatch(site, a_submission());
  for (const char* wanted : {"--no-requeue", "--cpus-per-task=2", "--mem=512M", "--nodelist=n0",
                             "--partition=main", "--account=physics", "--time=2", "--gres=gpu:a100:1",
                             "--comment=tandem:r1:3:1:2", "--chdir=/home/me"})
    EXPECT_TRUE(has(arguments, wanted)) << wanted;
  EXPECT_FALSE(has(arguments, "srun"));
}

TEST(Sbatch, WhatTheProgramNeedsIsAnArgumentNeverAShellWord) {
  const auto arguments = sbatch({}, a_submission());
  const auto script = std::find(arguments.begin(), arguments.end(), "/run/agent.sh");
  ASSERT_NE(script, arguments.end());
  EXPECT_EQ(std::vector<std::string>(script + 1, arguments.end()),
            (std::vector<std::string>{"/bin/agent", "/run/ticket; rm -rf ~"}));
  EXPECT_EQ(std::string(kScript).find("rm"), std::string::npos);
}

TEST(Sbatch, MemoryIsNeverLessThanWasGranted) {
  auto submission = a_submission();
  submission.granted.memory = 1000 * kMiB + 1;
  EXPECT_TRUE(has(sbatch({}, submission), "--mem=1001M")) << "rounded up";
}

TEST(Sbatch, PercentSignsInPathsAreNotSlurmsPatterns) {
  auto submission = a_submission();
  submission.output = "/run/100%j/out";
  EXPECT_TRUE(has(sbatch({}, submission), "--output=/run/100%%j/out"));
}

TEST(Sbatch, ASpeedIsAClockForAStepOrIsRefused) {
  auto submission = a_submission();
  submission.granted.speed = 0.5;
  EXPECT_THROW(sbatch({}, submission), UserError);
  Site site;
  site.full_clock = 3'000'000;
  const auto arguments = sbatch(site, submission);
  EXPECT_TRUE(has(arguments, "srun"));
  EXPECT_TRUE(has(arguments, "--cpu-freq=1500000"));
}

TEST(Sbatch, AGangIsOneJobWithAnAgentOnEachOfItsNodes) {
  auto submission = a_submission();
  submission.node = "n0,n2";
  submission.nodes = 2;
  const auto arguments = sbatch({}, submission);
  const auto script = std::find(arguments.begin(), arguments.end(), "/run/agent.sh");
  ASSERT_NE(script, arguments.end());
  const std::vector<std::string> options(arguments.begin(), script), run(script + 1, arguments.end());
  for (const char* option : {"--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--nodelist=n0,n2",
                             "--cpus-per-task=2", "--mem=512M"})
    EXPECT_TRUE(has(options, option)) << option;
  EXPECT_EQ(run.front(), "srun");
  EXPECT_TRUE(has(run, "--kill-on-bad-exit=0")) << "what becomes of the others is ours to say";
  EXPECT_EQ(run.back(), "/run/ticket; rm -rf ~");
}

TEST(Srun, AStepGetsExactlyWhatWasGranted) {
  Site site;
  site.full_clock = 2'000'000;
  Submission s;
  s.mark = {"r", 3, 1, 1};
  s.granted = {2, 300 * kMiB, 0.5};
  s.output = "/f/100%.log";
  s.working_folder = "/w";
  s.command = {"agent", "a b"};
  EXPECT_EQ(srun(site, s), (std::vector<std::string>{
                               "srun", "--exact", "--nodes=1", "--ntasks=1", "--cpus-per-task=2",
                               "--mem=300M", "--gres=none", "--job-name=tandem-r-3", "--output=/f/100%%.log",
                               "--open-mode=append", "--chdir=/w", "--cpu-freq=1000000", "agent", "a b"}));
  site.full_clock.reset();
  EXPECT_THROW(srun(site, s), UserError);
}

TEST(Validate, NamesWithShellSyntaxOrOptionsAreRefused) {
  for (const char* bad :
       {"main;reboot", "$(id)", "`id`", "a b", "--wrap=id", "a\nb", "a'b", "a|b", "a>b", "a/b", "ä"}) {
    Site site;
    site.partition = bad;
    EXPECT_THROW(validate(site), UserError) << bad;
    site = {};
    site.gres = bad;
    EXPECT_THROW(validate(site), UserError) << bad;
    EXPECT_THROW(validate_run(bad), UserError) << bad;
  }
  Site good;
  good.partition = "main";
  good.gres = "gpu:a100:2,shard:1";
  EXPECT_NO_THROW(validate(good));
  EXPECT_NO_THROW(validate_run("20261115-043000-7f3a"));
  EXPECT_THROW(validate_run("a:b"), UserError) << "it would break the mark";
  EXPECT_THROW(validate_run(""), UserError);
  EXPECT_THROW(validate_run(".."), UserError);
}

TEST(Orphans, OnlyJobsOfThisRunThatNobodyKnowsAndThatCouldRun) {
  const std::vector<QueuedJob> jobs = {
      {1, JobPhase::running, "RUNNING", "", "", {}, "tandem:r1:0:1:1"},   // ours
      {2, JobPhase::running, "RUNNING", "", "", {}, "tandem:r1:0:1:2"},   // an orphan
      {3, JobPhase::pending, "PENDING", "", "", {}, "tandem:r1:9:1:1"},   // another
      {4, JobPhase::running, "RUNNING", "", "", {}, "tandem:r11:0:1:2"},  // another run's
      {5, JobPhase::running, "RUNNING", "", "", {}, "my own work"},
      {6, JobPhase::completed, "COMPLETED", "", "", {}, "tandem:r1:8:1:1"}};
  EXPECT_EQ(orphans(jobs, "r1", {{"r1", 0, 1, 1}}), (std::vector<SlurmJobId>{2, 3}));
}

}  // namespace
}  // namespace tandem::slurm
