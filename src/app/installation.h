// Where this installation of Tandem keeps its programs, and how a person calls it.
#pragma once

#include <filesystem>
#include <string>

namespace tandem::app {

// The trainer that belongs to this binary: beside it, in ../libexec/tandem, or in PATH.
std::filesystem::path trainer_program();
// The guardian of GPU settings, in the same places.
std::filesystem::path guardian_program();
// What ends all that forked programs leave behind, in the same places.
std::filesystem::path keeper_program();
// How a person calls this binary: "tandem" where PATH finds it, else its path from here.
std::string own_command();
// This binary's own folder.
std::filesystem::path own_folder();

}  // namespace tandem::app
