// What a run has started on this machine, kept in its folder before any of it begins: whoever comes after a
// crash (resume, rm, doctor, the next start of anything) finds it there and ends it.
//
// One file an attempt's process, processes/MARK.json: process numbers with start times, the session they began,
// the tag they all have (platform/process_tree.h), their cgroups. A number that is somebody else's by now (another start time, another boot) is left alone.
// Whoever reaps holds the run's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "platform/process.h"

namespace tandem::local {

// Before its cgroups are made, then again with its process, before the program begins.
void remember_process(const std::filesystem::path& run_folder, const std::string& name, const std::string& mark,
                      std::uint64_t tag, const std::vector<std::filesystem::path>& cgroups, const platform::Child&);
void forget_process(const std::filesystem::path& run_folder, const std::string& name);

struct Reaped {
  std::size_t processes = 0, cgroups = 0;  // that were there and are no more
  std::vector<pid_t> alive{};              // that could not be ended
  bool any() const { return processes > 0 || cgroups > 0 || !alive.empty(); }
};
Reaped& operator+=(Reaped&, const Reaped&);
std::string text(const Reaped&);  // "3 processes and 2 cgroups"

bool has_leftovers(const std::filesystem::path& run_folder);
Reaped reap_leftovers(const std::filesystem::path& run_folder);

}  // namespace tandem::local
