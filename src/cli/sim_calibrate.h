// `tandem sim --calibrate RUN`: this machine as a node of the simulator, from one run on it.
#pragma once

#include "cli/command.h"

namespace tandem::cli {

struct CalibrateOptions {
  std::string run;
  std::string output{};  // the spec to write; empty: standard output shows it
};

// Prints what was found; returns the exit code.
int calibrate_machine(const StoreOption&, const CalibrateOptions&, const JsonOption&);

}  // namespace tandem::cli
