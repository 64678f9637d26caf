// What a GPU's settings were before Tandem changed them, as the guardian is told and as a file keeps it.
//
// The file is for when Tandem and its guardian are killed at once. It is of one boot of the machine: the
// driver forgets limits and locks when the machine starts again. Nothing is kept here; thread-safe.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "platform/nvml.h"

namespace tandem::platform {

struct FormerSetting {
  std::string uuid;
  std::optional<double> watts;  // the power limit; nullopt: it is not touched
  bool unlock = false;          // its clock was locked by us and is to be unlocked
  pid_t owner = 0;              // who changed it
  bool operator==(const FormerSetting&) const = default;
};

// "GPU-1234 700 unlock 4711", one line; "-" where nothing is to be done.
std::string to_line(const FormerSetting&);
std::optional<FormerSetting> parse_former(std::string_view line);

// Only these characters are in the UUIDs of NVIDIA's GPUs; others would be dangerous in a file's name.
bool is_plain_uuid(std::string_view);

std::filesystem::path lock_file(const std::filesystem::path& folder, const std::string& uuid);
std::filesystem::path former_file(const std::filesystem::path& folder, const std::string& uuid);
// Whole or not at all. Throws SystemError.
void write_former(const std::filesystem::path& folder, const FormerSetting&);
// nullopt: there is none, or it is of an earlier boot (then it is removed). Throws SystemError where it is
// there and cannot be trusted: not ours, or not readable.
std::optional<FormerSetting> read_former(const std::filesystem::path& folder, const std::string& uuid);
// Whether there is one, or the beginning of one: whoever wrote it was killed before it was whole.
bool left_behind(const std::filesystem::path& folder, const std::string& uuid);
void remove_former(const std::filesystem::path& folder, const std::string& uuid);

// Sets the GPU to what it was. "" or why not: try again, a GPU may be busy coming back.
std::string put_back(Nvml&, const FormerSetting&);

// "the power limit of 700 W", "the power limit of 700 W and the free clock".
std::string text(const FormerSetting&);

}  // namespace tandem::platform
