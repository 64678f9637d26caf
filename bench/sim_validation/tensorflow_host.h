// From the names in a row of TensorFlow's tables to what the simulator needs. Rules, not a list of rows: a
// system, GPU or model that nobody wrote down gets the nearest that is known, and `assumed` says so.
//
// Constants are those of docs/validation-study.md A.3; links and devices come from the ready clusters dgx-1
// and k80-cloud, so what is validated is what `tandem sim` offers by these names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/cluster.h"

namespace tandem::bench {

inline constexpr double kFeed = 14e9;    // bytes a second of decoded images to the GPUs of a host
inline constexpr double kSsd = 2e9;      // bytes a second
inline constexpr double kJpeg = 110e3;   // bytes of an image on disk
inline constexpr double kDecoded = 350;  // images a second a core decodes
inline constexpr double kBoardMates =
    0.04;  // K80: both dies of a board are busy, each takes that much longer
inline constexpr double kNcclLaunch = 8e-3;  // s a step and GPU after the first
inline constexpr int kUsualGpus = 8;         // of a host

struct Host {
  spec::Cluster cluster{};  // as many nodes as are asked for
  std::string device{};
  double slower_together = 0;  // computing of a GPU takes that share longer when several run
  std::vector<std::string> assumed{};
};
// GPUs are in one host unless system or strategy say that they are distributed.
Host host_of(const std::string& system, const std::string& gpu, const std::string& strategy, int gpus);

// How a strategy of the tables is called here.
struct HowTrained {
  std::string strategy{};
  bool variables_on_gpu = false;
  double launch = 0;
};
std::optional<HowTrained> how_trained(const std::string& strategy);
// Parameter servers, as the page tells: one a host; all GPUs where they hold the variables.
int servers_of(const std::string& model, const HowTrained&, int hosts, int gpus);

// The name in our zoo; nullopt: we have no such model.
std::optional<std::string> zoo_name(const std::string& model);

}  // namespace tandem::bench
