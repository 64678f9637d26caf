// Calibration before anything is compared: how long jobs take at either speed and with tasks dropped, and
// what dropping costs. From it the load, the deflator's choice and the simulator's service times.
#pragma once

#include <map>
#include <vector>

#include "bench/dias_local/stage.h"
#include "place/dias/dias_deflator.h"

namespace tandem::bench {

struct Calibration {
  struct Drop {
    double seconds = 0;          // median at the base speed
    double loss = 0, worst = 0;  // mean and largest of the runs
  };
  struct Class {
    std::map<double, Drop> by_drop{};  // 0 is there
    double sprinting = 0;              // s, median of a whole job at full speed; 0 where nothing can sprint

    double service() const { return by_drop.at(0).seconds; }
    double speed() const { return sprinting > 0 ? service() / sprinting : 1; }
  };
  std::vector<Class> classes{};  // high, low
  place::PowerStates power{};
};

// `runs` jobs of each kind.
Calibration calibrate(Stage&, int runs);

// The same, after looking again how fast this machine is by now: others work on it too.
Calibration refreshed(Stage&, Calibration, int runs);

// One high job to nine low ones at this load, in jobs a second.
std::vector<double> rates_of(const Calibration&, double load);
// The machine as the deflator sees it.
place::DiasSystem system_of(const Stage&, const Calibration&, double load);
// What the deflator chooses: high jobs lose nothing, low ones at most this.
std::optional<place::DiasDecision> deflate(const place::DiasSystem&, const Calibration&, bool may_sprint,
                                           double low_loss);

// Poisson arrivals, of which one in every ten is high: which one is drawn. The same for every policy and for
// the simulator.
std::vector<bags::BagArrival> arrivals_of(const std::vector<double>& rates, std::size_t jobs,
                                          std::uint64_t seed);

}  // namespace tandem::bench
