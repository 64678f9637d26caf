// The files of a task that worlds read and write: checkpoints a clone begins with, and what programs print.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "event/ids.h"

namespace tandem::runtime {

// A clone begins with what the other task has on disk. It is copied once: a second attempt goes on from the
// clone's own.
void copy_checkpoints(const std::filesystem::path& from_task, const std::filesystem::path& to_task);

// The last lines a program printed, made printable.
std::string tail_of(const std::string& output_file, off_t from);

// A line of ours among a program's output.
void note(const std::filesystem::path& output_file, TaskId, const std::string& line);

}  // namespace tandem::runtime
