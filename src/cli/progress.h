// Shows a run as it goes, on standard error: a live display on a terminal, plain lines otherwise.
#pragma once

#include <memory>
#include <string>

#include "control/ports.h"

namespace tandem::cli {

std::unique_ptr<control::Observer> make_progress(const std::string& name, const std::string& run);

}  // namespace tandem::cli
