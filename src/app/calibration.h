// `tandem sim --calibrate RUN`: this machine as a node of the simulator, from one run on it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/calibrate.h"
#include "store/store.h"

#include <string>

namespace tandem::app {

struct Calibrated {
  store::RunInfo run;
  sim::Calibration found;
  std::vector<sim::MeasuredEpoch> epochs;  // what it was made from
  std::string yaml;                        // a spec with this machine and one epoch, to be swept
};

// UserError for a run of a program whose operations are not known.
Calibrated calibrate_run(store::Store&, const std::string& run);
nlohmann::json calibration_json(const Calibrated&);

}  // namespace tandem::app
