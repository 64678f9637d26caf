// How a run is shown while it goes and what is said after it, by the kind of its job (app/kinds.h). Kinds that
// are not in the table here are shown by what their row counts.
#pragma once

#include <memory>
#include <string>

#include "control/ports.h"
#include "store/store.h"

namespace tandem::cli {

// On standard error: a live display on a terminal, plain lines otherwise.
std::unique_ptr<control::Observer> make_display(const store::RunInfo&);

// What one may do next, for a person.
std::string next_steps(const store::RunInfo&, bool has_model);

}  // namespace tandem::cli
