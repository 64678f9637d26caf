// The step model of docs/validation-study.md B for Pollux's and Sia's measurements: one ring over all GPUs,
// its pace set by the network or by the bus of the fullest node. A formula with calibrated units, not the
// simulator: neither hardware nor layers are known here. Its rule of overlap is the simulator's. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/sim_validation/input.h"

namespace tandem::bench {

// Stated, by cluster; all others have neither.
struct Network {
  double beyond_two = 1;  // a ring's unit over three or more nodes, as a share of that over two
  double jitter = 0;      // s, times how the largest of several nodes' delays grows
};
Network network_of(const std::string& cluster);

// From one-node rows and two nodes of one GPU each. Units: seconds that all gradients take over something
// once.
class StepModel {
 public:
  // nullopt: there is nothing to calibrate on; `why` says what is missing.
  static std::optional<StepModel> fit(const SiaSet&, std::string& why);

  double seconds(const std::vector<int>& nodes, int batch) const;
  double computing(int batch) const;
  double across() const { return across_; }  // two nodes
  double bus_of_two() const { return bus_of_two_; }
  double bus_each() const { return bus_each_; }  // more, for every GPU of a node after the second
  std::optional<double> loader() const { return loader_; }

 private:
  struct Fitting {
    double computing = 0, seconds = 0;  // measured
    int gpus = 0;
  };
  void fit_computing(const std::vector<SiaRow>&);
  void fit_across(const std::vector<SiaRow>&);
  void fit_bus(const std::vector<Fitting>&);
  void find_loader(const std::vector<SiaRow>&);
  double bus(int gpus) const { return gpus < 2 ? 0 : bus_of_two_ + bus_each_ * (gpus - 2); }

  std::map<int, double> computing_;  // by batch; not falling
  Network network_;
  double across_ = 0, bus_of_two_ = 0, bus_each_ = 0;
  std::optional<double> loader_;  // samples a second and GPU where nodes wait for their data
};

}  // namespace tandem::bench
