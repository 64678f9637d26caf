// `tandem`: parses the command line, runs one command, turns trouble into messages and exit codes.
#pragma once

namespace tandem::cli {

// Returns the exit code. Kinds of jobs that are not built in have been added before (app/kinds.h).
int run(int argc, char** argv);

}  // namespace tandem::cli
