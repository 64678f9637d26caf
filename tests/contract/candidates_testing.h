// The worlds the contract tests run over, and how to say in each "a program that does this". A new world adds
// a candidate and a factory here.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/ports.h"
#include "platform/temporary.h"
#include "runtime/local/world.h"
#include "runtime/slurm/cluster_testing.h"
#include "runtime/slurm/world.h"
#include "sim/world/programs_testing.h"
#include "sim/world/world.h"

namespace tandem {

// A world under test, and how to say in it "a program that does this".
struct Candidate {
  virtual ~Candidate() = default;
  virtual std::string missing() { return ""; }  // why it cannot be tested here
  virtual control::World& world() = 0;
  // tests/programs/speaker with these options: reports each epoch and keeps checkpoints, unless they say
  // otherwise.
  virtual spec::Program speaker(std::vector<std::string> options) = 0;
  virtual spec::Program losing_rank_1() = 0;  // as a gang: its rank 1 dies
  spec::Program well_behaved() { return speaker({}); }
  spec::Program hanging() { return speaker({"--hang-at", "1"}); }  // starts, never reports
  // What the program of a task wrote; empty where nothing is run.
  virtual std::filesystem::path folder_of(TaskId) { return {}; }
  virtual std::filesystem::path output_of(TaskId) { return {}; }
  // Where it is known, as a sensor was given, or nodes with a power model: whether tasks are measured.
  virtual std::optional<bool> measured(const std::vector<Event>&) { return std::nullopt; }
};

inline spec::Program speaker_program(const std::string& program, const std::vector<std::string>& options) {
  spec::Program out{"", "", {program}};
  out.command.insert(out.command.end(), options.begin(), options.end());
  return out;
}

using Factory = std::unique_ptr<Candidate> (*)();

// Counts who it is asked to follow, and knows nothing.
struct CountingSensor final : control::Sensor {
  void attach(TaskId, std::int64_t) override { ++attached; }
  void sample() override {}
  control::Reading read(TaskId) override { return {}; }
  void detach(TaskId) override {}
  int attached = 0;
};

struct LocalCandidate final : Candidate {
  explicit LocalCandidate(std::vector<local::LocalNode> nodes = {}, std::vector<local::LocalGpu> gpus = {})
      : gpus_(!gpus.empty()), world_(options(std::move(nodes), std::move(gpus))) {}
  local::LocalOptions options(std::vector<local::LocalNode> nodes, std::vector<local::LocalGpu> gpus) {
    local::LocalOptions out{.run = "contract-" + std::to_string(::getpid()),
                            .folder = folder_.path(),
                            .sensor = gpus_ ? &sensor_ : nullptr,
                            .grace = Seconds{0.2},
                            .nodes = std::move(nodes),
                            .gpus = std::move(gpus)};
    if (gpus_) out.set_gpu = [](std::size_t, Watts, double) { return std::string(); };
    return out;
  }
  control::World& world() override { return world_; }
  spec::Program speaker(std::vector<std::string> options) override {
    return speaker_program(SPEAKER, options);
  }
  spec::Program losing_rank_1() override { return speaker({"--hang-at", "1", "--crash-rank", "1"}); }
  std::filesystem::path folder_of(TaskId task) override {
    return folder_.path() / ("task-" + std::to_string(task));
  }
  std::filesystem::path output_of(TaskId) override { return folder_.path() / "output.log"; }
  std::optional<bool> measured(const std::vector<Event>&) override { return sensor_.attached > 0; }

  bool gpus_;
  platform::TemporaryFolder folder_;
  CountingSensor sensor_;
  local::LocalWorld world_;
};

inline std::unique_ptr<Candidate> make_local() {
  return std::make_unique<LocalCandidate>();
}

// This machine as two nodes, which share its CPUs where there are too few.
inline std::unique_ptr<Candidate> make_two_local() {
  const auto cpus = platform::Topology::detect().cpus;
  return std::make_unique<LocalCandidate>(std::vector<local::LocalNode>{
      {"a", "half", {cpus.front().id}, kGiB}, {"b", "half", {cpus.back().id}, kGiB}});
}

// The same with a GPU each, which may be set, and with a sensor.
inline std::unique_ptr<Candidate> make_local_gpus() {
  std::vector<int> cpus;
  for (const auto& cpu : platform::Topology::detect().cpus)
    if (cpus.size() < 2) cpus.push_back(cpu.id);
  local::LocalNode node{"a", "half", cpus, kGiB};
  node.gpus = {0};
  local::LocalNode other = node;
  other.name = "b", other.gpus = {1};
  const local::LocalGpu gpu{"GPU-0", "made up", 8 * kGiB, Watts{300}, 1e9};
  local::LocalGpu second = gpu;
  second.uuid = "GPU-1";
  return std::make_unique<LocalCandidate>(std::vector{node, other}, std::vector{gpu, second});
}

// The same program, simulated.
struct SimulatedCandidate final : Candidate {
  explicit SimulatedCandidate(int nodes = 1) : world_({.nodes = {alike(nodes)}}, programs_) {}
  explicit SimulatedCandidate(sim::NodeGroup nodes)
      : powered_(nodes.power.has_value()), world_({.nodes = {std::move(nodes)}}, programs_) {}
  static sim::NodeGroup alike(int nodes) {
    return {.name = "simulated", .capacity = {4, 16 * kGiB, 1.0}, .count = nodes};
  }
  spec::Program losing_rank_1() override { return speaker({"--crash-at", "1"}); }
  control::World& world() override { return world_; }
  spec::Program speaker(std::vector<std::string> options) override {
    return speaker_program("speaker", options);
  }
  std::optional<bool> measured(const std::vector<Event>& seen) override {
    for (const auto& event : seen)
      if (const auto* epoch = std::get_if<EpochEnded>(&event.body); epoch && epoch->energy) return true;
    return powered_ ? std::optional(false) : std::nullopt;
  }

  bool powered_ = false;
  sim::Speaker programs_;
  sim::World world_;
};

inline std::unique_ptr<Candidate> make_simulated() {
  return std::make_unique<SimulatedCandidate>();
}

inline std::unique_ptr<Candidate> make_two_simulated() {
  return std::make_unique<SimulatedCandidate>(2);
}

inline std::unique_ptr<Candidate> make_simulated_gpus() {
  auto nodes = SimulatedCandidate::alike(2);
  nodes.capacity.gpus = 2;
  nodes.power = sim::PowerModel{Watts{50}, Watts{250}};
  nodes.background.push_back({Seconds{0}, {.cpu = 0.5}});
  return std::make_unique<SimulatedCandidate>(nodes);
}

// The same program again, as jobs of a real Slurm on loopback.
struct SlurmCandidate final : Candidate {
  explicit SlurmCandidate(slurm::Pilots pilots) {
    if (!missing().empty()) return;
    slurm::SlurmOptions options;
    static int runs = 0;
    options.run = "contract-" + std::to_string(::getpid()) + "-" + std::to_string(++runs);
    options.folder = folder_.path();
    options.agent = SLURM_AGENT;
    options.grace = Seconds{0.5};
    options.poll = Seconds{0.3};
    options.pilots = pilots;
    world_ = std::make_unique<slurm::SlurmWorld>(options);
  }
  std::string missing() override { return slurm::TestCluster::instance().missing(); }
  control::World& world() override { return *world_; }
  spec::Program speaker(std::vector<std::string> options) override {
    return speaker_program(SPEAKER, options);
  }
  spec::Program losing_rank_1() override { return speaker({"--hang-at", "1", "--crash-rank", "1"}); }
  std::filesystem::path folder_of(TaskId task) override {
    return folder_.path() / ("task-" + std::to_string(task));
  }
  std::filesystem::path output_of(TaskId task) override {
    return folder_.path() / ("output-" + std::to_string(task) + ".log");
  }

  platform::TemporaryFolder folder_;
  std::unique_ptr<slurm::SlurmWorld> world_;
};

inline std::unique_ptr<Candidate> make_slurm() {
  return std::make_unique<SlurmCandidate>(slurm::Pilots::never);
}

inline std::unique_ptr<Candidate> make_slurm_pilots() {
  return std::make_unique<SlurmCandidate>(slurm::Pilots::always);
}

class WorldContract : public testing::TestWithParam<Factory> {
 protected:
  WorldContract() : candidate_(GetParam()()) {
    if (!candidate_->missing().empty()) return;
    for (const auto& node : candidate_->world().nodes()) view_.apply(Event{Seconds{1}, node});
  }
  void SetUp() override {
    if (const auto why = candidate_->missing(); !why.empty()) GTEST_SKIP() << why;
  }
  void submit(spec::Program program, std::int64_t epochs = 3, Seconds stall = Seconds{60}) {
    spec::TrainJob job;
    job.program = std::move(program);
    job.epochs = epochs;
    job.limits.stall = stall;
    view_.apply(Event{Seconds{1}, JobSubmitted{static_cast<JobId>(view_.jobs.size()), job}});
  }
  DecisionId decide(DecisionBody body) {
    const Decision decision{view_.next_decision, std::move(body)};
    view_.apply(decision);
    candidate_->world().carry_out(decision, view_);
    return decision.id;
  }
  void start(TaskId task = 0, Attempt attempt = 1, Resources granted = {}) {
    decide(Request{task, 0, granted});
    decide(Start{task, attempt, 0, granted});
  }
  // All events until one of this kind came.
  template <class Kind>
  Kind until() {
    for (int rounds = 0; rounds < 600; ++rounds)
      for (auto& event : candidate_->world().wait(Seconds{0.1})) {
        view_.apply(event);
        seen_.push_back(event);
        if (const auto* found = std::get_if<Kind>(&event.body)) return *found;
      }
    ADD_FAILURE() << "waited a minute for nothing";
    return {};
  }
  template <class Kind>
  int count() const {
    int n = 0;
    for (const auto& event : seen_) n += std::holds_alternative<Kind>(event.body);
    return n;
  }

  std::unique_ptr<Candidate> candidate_;
  View view_;
  std::vector<Event> seen_;
};

}  // namespace tandem
