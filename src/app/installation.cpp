#include "app/installation.h"

#include <unistd.h>
#include <cstdlib>
#include <sstream>

namespace tandem::app {
namespace fs = std::filesystem;
fs::path own_folder();
namespace {

fs::path program_of_ours(const fs::path& name) {
  for (const fs::path& candidate : {own_folder() / name, own_folder() / "../libexec/tandem" / name})
    if (::access(candidate.c_str(), X_OK) == 0) return fs::weakly_canonical(candidate);
  return name;
}

}  // namespace

fs::path own_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::current_path() : self.parent_path();
}

std::string own_command() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code error;
    if (fs::equivalent(fs::path(folder) / "tandem", "/proc/self/exe", error)) return "tandem";
  }
  const std::string relative = fs::proximate(own_folder() / "tandem").string();
  return relative.starts_with("..") ? (own_folder() / "tandem").string() : relative;
}

fs::path trainer_program() {
  return program_of_ours("tandem-trainer");
}

fs::path guardian_program() {
  return program_of_ours("tandem-guardian");
}

fs::path keeper_program() {
  return program_of_ours("tandem-keeper");
}

}  // namespace tandem::app
