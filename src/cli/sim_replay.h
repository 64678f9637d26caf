// `tandem sim --replay RUN`: how well the simulator predicts a run that was really made.
#pragma once

#include "cli/command.h"

namespace tandem::cli {

// Prints; returns the exit code.
int replay_run(const StoreOption&, const std::string& run, const JsonOption&);

}  // namespace tandem::cli
