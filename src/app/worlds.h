// The worlds a run can have, by name: this machine (whole, or split into nodes), a Slurm cluster, or a
// simulated one whose clock follows the real one. The one place where worlds are made, with what belongs to
// them.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/catalogue.h"
#include "control/ports.h"
#include "runtime/local/machine_gpus.h"
#include "runtime/local/world.h"
#include "sim/world/world.h"
#include "spec/cluster.h"

namespace tandem::app {

struct WorldSetup {
  std::string world = "local";
  std::string nodes{};               // a cluster: a ready one's name, or a file
  std::string run{};                 // the run's id
  std::filesystem::path folder{};    // and its folder
  std::string trainer{};             // program of built-in models
  std::filesystem::path programs{};  // where Tandem's own programs are
  std::filesystem::path guardian{};  // the program that puts GPU settings back
  double time_factor = 1;            // simulated seconds a real one
  // Of this machine. As it stands: for jobs to come.
  struct Here {
    bool sensor = true;         // tasks are measured
    spec::EnergySpec energy{};  // how
    bool gpus = true;           // they are handed out
    std::optional<spec::SystemSpace>
        asked{};              // the job's, where there is one only: it is checked against them
    int lanes = 1;            // so many nodes, each of them the whole machine (runtime/local/world.h)
    bool output_each = true;  // each task's output in its own folder, not in the run's
    bool watched = true;      // the load of nodes is observed
    runtime::Separation separation{};  // of its programs
    bool waits_for_space = true;  // see local::LocalOptions
  } here{};
  struct {
    std::string partition{}, account{}, qos{}, constraint{};
    std::optional<Seconds> time{};
  } slurm{};
};

// A world with what belongs to it.
struct HostedWorld {
  std::unique_ptr<local::MachineGpus> gpus;  // null: the world sets none
  std::unique_ptr<control::Sensor> sensor;   // null: the world tells joules itself, or nobody does
  std::unique_ptr<control::World> world;     // gone before its sensor
  std::function<void()> interrupt;           // ends a wait; from any thread
};

const std::vector<ChoiceEntry>& worlds();
HostedWorld make_world(const WorldSetup&);  // UserError for what cannot be
// Of the world of this name, before there is one; what it can really do it says itself. UserError as above.
control::Capabilities capabilities_of(const std::string& world);

// For something short on this machine that is part of no run: no GPUs, no watch; measured where `energy` says
// how.
HostedWorld make_scratch_world(const std::filesystem::path& folder,
                               const std::optional<spec::EnergySpec>& energy = {});

// The nodes of a cluster as this machine can play them. UserError where one has more cores than there are,
// or all of them together more memory or GPUs.
std::vector<local::LocalNode> local_nodes(const spec::Cluster&, const platform::Topology&, Bytes memory,
                                          std::size_t gpus);
std::vector<sim::NodeGroup> simulated_nodes(const spec::Cluster&);

}  // namespace tandem::app
