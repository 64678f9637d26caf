// Against what Slurm 22.05.8 really printed (recorded/, from tests/slurm/cluster.py), and against garbage.
#include "runtime/slurm/parse.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/error.h"
#include "runtime/slurm/gpus.h"

namespace tandem::slurm {
namespace {

std::string recorded(const char* file) {
  std::ifstream in(std::string(SLURM_RECORDED) + "/" + file);
  EXPECT_TRUE(in) << file;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(ParseSinfo, NodesAsTheyWere) {
  const auto [nodes, complaints] = parse_sinfo(recorded("sinfo-busy.json"));
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_TRUE(complaints.empty());
  EXPECT_EQ(nodes[0].name, "n0");
  EXPECT_EQ(nodes[0].cpus, 4);
  EXPECT_EQ(nodes[0].memory, 4000 * kMiB);
  EXPECT_EQ(nodes[0].state, "mixed");
  EXPECT_EQ(nodes[0].address, "127.0.0.1");
  EXPECT_EQ(nodes[0].partitions, (std::vector<std::string>{"main", "short"}));
  for (const auto& node : nodes) EXPECT_TRUE(node.usable()) << node.name;
}

TEST(ParseSinfo, DrainedAndDownNodesAreNotUsable) {
  const auto nodes = parse_sinfo(recorded("sinfo-down.json")).nodes;
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_TRUE(nodes[0].usable());
  EXPECT_FALSE(nodes[1].usable()) << "idle, but drained";
  EXPECT_FALSE(nodes[1].reason.empty());
  EXPECT_FALSE(nodes[2].usable()) << "down";
}

TEST(ParseSinfo, AnUnreachableControllerIsAnErrorNotAnEmptyCluster) {
  try {
    parse_sinfo(recorded("sinfo-no-controller.json"));
    FAIL() << "it was taken for an answer";
  } catch (const SystemError& e) {
    EXPECT_NE(std::string(e.what()).find("slurmctld"), std::string::npos) << e.what();
  }
}

TEST(ParseSinfo, ANodeWithoutItsFieldsIsLeftOutAndSaidSo) {
  const auto [nodes, complaints] = parse_sinfo(
      R"({"nodes":[{"name":"a"},7,{"name":"b","cpus":"many","real_memory":1},{"cpus":1,"real_memory":1},
          {"name":"c","cpus":2,"real_memory":100},{"name":"d","cpus":-2,"real_memory":100}]})");
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].name, "c");
  EXPECT_FALSE(nodes[0].usable()) << "a state nobody told is no promise";
  EXPECT_EQ(complaints.size(), 5u);
}

TEST(ParseSinfo, NewerSlurmsWriteNumbersAndStatesOtherwise) {
  const auto nodes = parse_sinfo(R"({"nodes":[{"name":"a","cpus":{"set":true,"infinite":false,"number":8},
      "real_memory":1000,"state":["IDLE","DRAIN"]},{"name":"b","cpus":8,"real_memory":1000,"state":["IDLE"]}]})")
                         .nodes;
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].cpus, 8);
  EXPECT_FALSE(nodes[0].usable());
  EXPECT_TRUE(nodes[1].usable());
}

TEST(ParseSinfo, GarbageIsAnError) {
  for (const char* garbage :
       {"", "sinfo: unrecognized option '--json'", "[]", "{}", "{\"nodes\":7}", "{\"nodes\":"})
    EXPECT_THROW(parse_sinfo(garbage), SystemError) << garbage;
}

TEST(ParseSinfo, ACutOffAnswerIsAnErrorWhereverItIsCut) {
  const auto whole = recorded("sinfo-busy.json");
  const auto end = whole.find_last_not_of(" \n");
  for (std::size_t size = 0; size < end; size += 97)
    EXPECT_THROW(parse_sinfo(std::string_view(whole).substr(0, size)), SystemError) << size;
}

TEST(ParseSqueue, JobsAsTheyWere) {
  const auto [jobs, complaints] = parse_squeue(recorded("squeue.txt"));
  EXPECT_TRUE(complaints.empty()) << complaints.front();
  auto find = [&](const char* comment) -> const QueuedJob* {
    for (const auto& job : jobs)
      if (job.comment == comment) return &job;
    return nullptr;
  };
  const std::pair<const char*, JobPhase> expected[] = {
      {"tandem:r1:0:1:1", JobPhase::running},   {"tandem:r1:1:1:1", JobPhase::node_failed},
      {"tandem:r1:2:1:1", JobPhase::completed}, {"tandem:r1:3:1:1", JobPhase::failed},
      {"tandem:r1:4:1:1", JobPhase::failed},    {"tandem:r1:5:1:1", JobPhase::pending},
      {"tandem:r1:6:1:1", JobPhase::pending},   {"odd \"quo|ted\" comment", JobPhase::cancelled}};
  for (const auto& [comment, phase] : expected) {
    ASSERT_TRUE(find(comment)) << comment;
    EXPECT_EQ(find(comment)->phase, phase) << comment;
  }
  EXPECT_EQ(jobs.size(), std::size(expected));
  const auto& running = *find("tandem:r1:0:1:1");
  EXPECT_EQ(running.nodes, "n0");
  ASSERT_TRUE(running.left);
  EXPECT_GT(running.left->value, 0);
  EXPECT_EQ(find("tandem:r1:6:1:1")->reason, "JobHeldUser");
}

TEST(ParseSqueue, LinesThatAreNoJobsAreSaidNotGuessed) {
  const auto [jobs, complaints] = parse_squeue(
      "slurm_load_jobs error: Unable to contact slurm controller\n1|RUNNING\n\n2|DANCING|None|n0|1:00|\n"
      "3|RUNNING|None|n0|1:00|(null)\n-4|RUNNING|None|n0|1:00|\n");
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].id, 3);
  EXPECT_EQ(jobs[0].comment, "");
  EXPECT_EQ(complaints.size(), 4u);
}

TEST(ParseSpan, AllTheWaysSlurmWritesIt) {
  EXPECT_EQ(parse_span("59")->value, 59);
  EXPECT_EQ(parse_span("9:58")->value, 598);
  EXPECT_EQ(parse_span("1:02:03")->value, 3723);
  EXPECT_EQ(parse_span("2-01:00:00")->value, 2 * 86400 + 3600);
  for (const char* none : {"", "UNLIMITED", "INVALID", "NOT_SET", "1:2:3:4", "-1:00", "x-1:00"})
    EXPECT_FALSE(parse_span(none)) << none;
}

TEST(ParseSbatch, AnIdOrNothing) {
  EXPECT_EQ(parse_sbatch("17\n"), 17);
  EXPECT_EQ(parse_sbatch("17;cluster\n"), 17);
  EXPECT_EQ(parse_sbatch("welcome to our site\n17\n"), 17);
  for (const char* none : {"", "\n", "Submitted batch job 17", "0", "-3", "17 18", "99999999999999999999"})
    EXPECT_FALSE(parse_sbatch(none)) << none;
}

TEST(Gpus, AreCountedAsSlurmWritesThem) {
  EXPECT_EQ(gpus_in(""), 0);
  EXPECT_EQ(gpus_in("gpu:2"), 2);
  EXPECT_EQ(gpus_in("gpu:a100:4(S:0-1)"), 4);
  EXPECT_EQ(gpus_in("gpu:a100:4(S:0,1),gpu:v100:2,shard:8"), 6);
  EXPECT_EQ(gpus_in("gpu"), 1);
  EXPECT_EQ(gpus_in("gpu:a100"), 1);
  EXPECT_EQ(gpus_in("mps:100"), 0);
}

TEST(NodeAway, IsToldFromWaitingForOthers) {
  EXPECT_TRUE(node_away("ReqNodeNotAvail, UnavailableNodes:n0"));
  EXPECT_FALSE(node_away("Resources"));
  EXPECT_FALSE(node_away("Priority"));
  EXPECT_FALSE(node_away(""));
}

TEST(Hopeless, OnlyWhatTimeCannotHeal) {
  EXPECT_FALSE(hopeless("PartitionConfig").empty());
  for (const char* reason : {"Resources", "Priority", "JobHeldUser", "ReqNodeNotAvail", "None", ""})
    EXPECT_TRUE(hopeless(reason).empty()) << reason;
}

TEST(Parse, EnergyIsSlurmsOwnFigureOrNone) {
  EXPECT_EQ(parse_energy("1234\n"), 1234.0);
  EXPECT_EQ(parse_energy("70\n1240\n\n"), 1240.0) << "batch script on one node, its step on two";
  for (const auto* none : {"", "0\n", "\n", "n/a\n", "-5\n", "sstat: error: no steps running for job 3\n"})
    EXPECT_EQ(parse_energy(none), std::nullopt) << none;
}

}  // namespace
}  // namespace tandem::slurm
