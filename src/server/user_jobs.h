// A server that is root runs each job as the user who submitted it: what has to be so in its store for that.
#pragma once

#include <filesystem>

#include "platform/credentials.h"

namespace tandem::server {

// Lets users reach their tasks' folders: others may go through the store, its `runs` and the run's folder (mode
// 0711), and nothing else of ours in these is readable for them. UserError where this user cannot get there all
// the same. May be called again; on any thread.
void open_way(const std::filesystem::path& store, const std::filesystem::path& run_folder,
              const platform::Credentials&);

}  // namespace tandem::server
