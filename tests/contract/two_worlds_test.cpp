// The same policy, arrivals and order of events give the same placements on local nodes as in the simulator.
//
// No clock decides here: the simulator runs in virtual time, and in the local world the test lets programs
// end (by a file each waits for) and submits jobs in the order in which the simulator saw it happen. With
// real times, and on Slurm: tests/e2e/test_two_worlds.py (bench/run two_worlds).
#include <gtest/gtest.h>

#include <fstream>

#include "control/loop.h"
#include "control/memory_journal.h"
#include "place/engine/scheduler.h"
#include "platform/temporary.h"
#include "runtime/local/world.h"
#include "sim/world/programs_declared.h"
#include "sim/world/world.h"
#include "tune/train.h"

namespace tandem {
namespace {

struct Kind {
  std::string name;
  double speed_factor, idle, busy;
};
const std::vector<Kind> kNodes{{"quick", 1, 50, 250}, {"thrifty-1", 0.5, 5, 15}, {"thrifty-2", 0.5, 5, 15}};

NodeTraits traits_of(const Kind& kind) {
  NodeTraits out;
  out.speed_factor = kind.speed_factor, out.idle = Watts{kind.idle}, out.busy = Watts{kind.busy};
  return out;
}
std::string type_of(const Kind& kind) {
  return kind.name.substr(0, kind.name.find('-'));
}

struct Requirements {
  double at, seconds, weight;
  int cores;
};
const std::vector<Requirements> kJobs{
    {1, 5.25, 1, 2}, {2, 3.75, 1, 2},   {3, 2.2, 0, 2},    {4, 9, 1, 2},      {6, 2.5, 1, 1},
    {13, 3.3, 0, 2}, {15, 1.2, 0.5, 1}, {18, 2.4, 0.2, 2}, {18.3, 1.1, 1, 1}, {18.6, 7, 0.4, 2}};

spec::TrainJob job_of(std::size_t index, const std::filesystem::path& gates) {
  spec::TrainJob job;
  job.name = "job-" + std::to_string(index);
  job.program.command = {"sh", "-c", "until [ -e " + (gates / job.name).string() + " ]; do sleep 0.01; done"};
  job.program.plain = true;
  job.epochs = 0;
  job.system.cores = kJobs[index].cores;
  job.place.seconds = Seconds{kJobs[index].seconds};
  job.place.energy_weight = kJobs[index].weight;
  return job;
}

std::vector<std::unique_ptr<Policy>> policies(const std::string& name) {
  std::vector<std::unique_ptr<Policy>> out;
  out.push_back(std::make_unique<tune::TrainController>());
  out.push_back(std::make_unique<place::Scheduler>(place::parse_policy(name), 1));
  return out;
}

// "start 3 on 1", in the order decided.
std::vector<std::string> placements(const control::MemoryJournal& journal) {
  std::vector<std::string> out;
  for (const auto& entry : journal.entries())
    for (const auto& decision : entry.decisions)
      if (const auto* start = std::get_if<Start>(&decision.body))
        out.push_back("start " + std::to_string(start->task) + " on " + std::to_string(start->node));
  return out;
}

class TwoWorlds : public testing::TestWithParam<std::string> {};

TEST_P(TwoWorlds, PlaceTheSame) {
  const platform::TemporaryFolder folder;
  const std::filesystem::path gates = folder.path();

  // In the simulator: when jobs come and how long they take decides what happens in which order.
  std::vector<sim::NodeGroup> groups;
  std::vector<local::LocalNode> nodes;
  for (const auto& kind : kNodes) {
    groups.push_back({.name = kind.name,
                      .type = type_of(kind),
                      .capacity = {2, 0, 1.0},
                      .power = sim::PowerModel{Watts{kind.idle}, Watts{kind.busy}},
                      .traits = traits_of(kind)});
    nodes.push_back({.name = kind.name, .type = type_of(kind), .traits = traits_of(kind)});
  }
  sim::DeclaredPrograms programs({{"quick", 1}, {"thrifty", 0.5}});
  sim::World simulated({.nodes = groups, .open_ended = true}, programs);
  control::MemoryJournal in_simulator;
  {
    control::Loop loop({simulated, in_simulator}, policies(GetParam()));
    loop.open();
    std::size_t next = 0;
    loop.serve([&] {
      while (next < kJobs.size() && simulated.now().value >= kJobs[next].at)
        loop.submit(job_of(next, gates)), ++next;
      return next < kJobs.size() || !loop.view().holding.empty() || !loop.view().waiting.empty();
    });
  }

  // On local nodes: the same order.
  const auto topology = platform::Topology::detect();
  for (auto& node : nodes)
    for (int i = 0; i < 2; ++i)
      node.cpus.push_back(topology.cpus[static_cast<std::size_t>(i) % topology.cpus.size()].id);
  if (topology.cpus.size() < 2) GTEST_SKIP() << "one core only";
  local::LocalWorld real(
      {.run = folder.path().filename().string(), .folder = folder.path() / "run", .nodes = nodes});
  control::MemoryJournal here;
  control::Loop loop({real, here}, policies(GetParam()));
  loop.open();
  const auto until = [&](const std::function<bool()>& true_at_last) {
    int turns = 0;
    loop.serve([&] { return !true_at_last() && ++turns < 60; });
    ASSERT_TRUE(true_at_last()) << "waited a minute in vain";
  };
  for (const auto& entry : in_simulator.entries()) {
    if (const auto* submitted = std::get_if<JobSubmitted>(&entry.event.body)) {
      loop.submit(job_of(static_cast<std::size_t>(submitted->job), gates));
    } else if (const auto* ended = std::get_if<TaskEnded>(&entry.event.body)) {
      const auto task = static_cast<std::size_t>(ended->task);
      std::ofstream(gates / ("job-" + std::to_string(task))) << "go";
      until([&] { return loop.view().tasks[task].state == TaskState::ended; });
    }
  }
  EXPECT_EQ(placements(here), placements(in_simulator));
  EXPECT_EQ(placements(here).size(), kJobs.size());
}

INSTANTIATE_TEST_SUITE_P(Policies, TwoWorlds,
                         testing::Values("heats:H=0.5:x=0", "fifo", "spread", "binpack", "random",
                                         "priority"));

}  // namespace
}  // namespace tandem
