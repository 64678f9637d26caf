// `tandem sim --trace FILE --policy a,b`: a job trace replayed on a cluster, one row a policy.
#pragma once

#include "app/trace_study.h"
#include "cli/command.h"

namespace tandem::cli {

// Describes the options, in a group of their own.
void add_trace_options(CLI::App&, app::TraceOptions&);
int simulate_trace(const app::TraceOptions&, const JsonOption&);

}  // namespace tandem::cli
