// Where a run is worked on: on this machine (concurrent jobs of an experiment sharing the cores), or on a
// Slurm cluster.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/worlds.h"
#include "spec/experiment.h"
#include "store/store.h"

namespace tandem::app {

struct RunWorld {
  std::string world = "local";
  std::string partition{}, account{}, qos{}, constraint{};  // of every Slurm job
  std::optional<Seconds> time{};                            // limit of each
  bool here() const { return capabilities_of(world).here; }
};

nlohmann::json json_of(const RunWorld&);
// Its trials are tried by whoever asks for them (app/ask_tell.h).
bool is_asked(const store::RunInfo&);
// This machine where the run says nothing. UserError for one that is asked: it has no world.
RunWorld world_of(const store::RunInfo&);

// Made by the same hands as a server's.
HostedWorld there(const RunWorld&, const store::RunInfo&, const std::filesystem::path& folder);

// As many lanes of this machine (runtime/local/world.h) as the point with most processes has.
int lanes_for(const spec::Experiment&);
// UserError for what could never run here: more cores than the machine has, or more memory at once.
void check_fits_here(const spec::Experiment&, const Resources& machine);

}  // namespace tandem::app
