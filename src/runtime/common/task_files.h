// The files of a task that worlds read and write: checkpoints a clone begins with, and what programs print.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "event/ids.h"
#include "platform/credentials.h"

namespace tandem::runtime {

// A task's folder is of the user its program runs as; `none`: ours. Made where there is none.
void make_task_folder(const std::filesystem::path&, const std::optional<platform::Credentials>& as);

// A clone begins with what the other task has on disk. It is copied once: a second attempt goes on from the
// clone's own. Both tasks are of one user.
void copy_checkpoints(const std::filesystem::path& from_task, const std::filesystem::path& to_task,
                      const std::optional<platform::Credentials>& as = {});

// The last lines a program printed, made printable.
std::string tail_of(const std::string& output_file, off_t from);

// A line of ours among a program's output.
void note(const std::filesystem::path& output_file, TaskId, const std::string& line);

}  // namespace tandem::runtime
