// Files that a program Tandem runs can reach: in its task's folder, or beside it where it runs as the same
// user. It may have put a pipe, a device or a link in their place, or a link in that of their folder.
//
// They are opened by descriptor, one part of the path after the other, never through a link and never waiting,
// and are plain files or refused: then a SystemError says so. Functions without state.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "platform/descriptor.h"

namespace tandem::platform {

// The file `below` of `folder`. The folder itself is trusted, what is below it is not. `flags` as for open(2);
// a file that is made has mode 0600. Empty where there is no such file (or folder) and `flags` do not make it.
Descriptor open_plain(const std::filesystem::path& folder, const std::filesystem::path& below, int flags);
// The folder `below` of `folder`, to reach files in it; empty where it is not there.
Descriptor open_plain_folder(const std::filesystem::path& folder, const std::filesystem::path& below);
// A file in such a folder to write at the end of; made where there is none. What is there and is no plain
// file, or has a second name, is replaced.
Descriptor open_plain_log(const Descriptor& folder, const std::string& name);
// The whole file, of at most so many bytes; none where it is not there, or longer. Throws SystemError.
std::optional<std::string> read_plain(const std::filesystem::path& file, std::size_t most);

// Copies plain files, folders and links (as links, followed by nobody) of `from` to `to`, which is made where
// it is not there; what is neither is left out, and so is what `wanted` does not want, by its name in `from`.
// Holes stay holes. SystemError where a file would leave less than 16 MiB of the disk free.
void copy_plain_tree(const std::filesystem::path& from, const std::filesystem::path& to,
                     const std::function<bool(const std::string& name)>& wanted);

}  // namespace tandem::platform
