// The exit record: how a program ended, as its agent wrote it on the shared file system. It does not depend
// on Slurm's accounting, which may be off, nor on Tandem being there to hear it.
//
// Written atomically: beside, fsync, rename, fsync of the folder. There is a whole record or none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/units.h"

namespace tandem::slurm {

struct ExitRecord {
  std::string mark;      // of the submission (submit.h)
  std::int64_t job = 0;  // Slurm's id
  std::string node;
  bool signalled = false;  // `status` is a signal, else an exit status
  int status = 0;
  std::string could_not_start;  // why there was no program; empty: there was one
  bool asked_by_slurm =
      false;                 // scancel, the time limit or a drained node ended it: SIGTERM came from outside
  bool lost_tandem = false;  // the agent lost its connection and ended the program
  std::int64_t out_of_memory = 0;  // kills the kernel counted
  Seconds began, ended;            // wall clock of the node
  bool operator==(const ExitRecord&) const = default;
};

nlohmann::json to_json(const ExitRecord&);
// None for what is no record: half of one, another's, garbage.
std::optional<ExitRecord> record_from_json(const nlohmann::json&);

// Throws SystemError when it cannot be made durable.
void write_record(const std::filesystem::path&, const ExitRecord&);
// None when there is none, or when it is not this mark's.
std::optional<ExitRecord> read_record(const std::filesystem::path&, const std::string& mark);

// Also for tickets: durable and whole, readable by the owner alone.
void write_whole(const std::filesystem::path&, const std::string& content);

}  // namespace tandem::slurm
