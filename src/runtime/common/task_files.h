// The files of a task that worlds read and write: checkpoints a clone begins with, and what programs print.
// Programs can put anything in their place, so they are opened as platform/plain_file.h does.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "event/ids.h"
#include "platform/credentials.h"

namespace tandem::runtime {

inline constexpr std::size_t kLastBytes = 4096;  // what is looked at for the last lines

// A task's folder is of the user its program runs as; `none`: ours. Made where there is none.
void make_task_folder(const std::filesystem::path&, const std::optional<platform::Credentials>& as);

// A clone begins with what the other task has on disk, but for its output. It is copied once: a second attempt
// goes on from the clone's own. Both tasks are of one user.
void copy_checkpoints(const std::filesystem::path& from_task, const std::filesystem::path& to_task,
                      const std::optional<platform::Credentials>& as = {});

// The last lines of a text, made printable.
std::string last_lines(std::string_view);
// Those of a file, or of what was written after `from`; "" where it cannot be read.
std::string tail_of(const std::filesystem::path& output_file, off_t from);

// A line of ours at the end of a program's output, where nobody else writes it.
void note(const std::filesystem::path& output_file, TaskId, const std::string& line);

}  // namespace tandem::runtime
