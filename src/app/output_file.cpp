#include "app/output_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace tandem::app {
namespace fs = std::filesystem;

void require_folder_of(const std::string& file, const char* option) {
  if (file.empty()) return;
  if (file == "-") throw UserError(fmt::format("{} needs a file to write to; '-' is not one", option));
  const fs::path folder = fs::path(file).parent_path();
  if (!folder.empty() && !fs::is_directory(folder))
    throw UserError(
        fmt::format("{} {}: there is no folder {}; make it first", option, file, folder.string()));
  if (fs::is_directory(file)) throw UserError(fmt::format("{} {} is a folder; give a file", option, file));
}

void write_file(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  if (!out) throw UserError("cannot write " + file + ": is its folder there, and may you write to it?");
  out << text << std::flush;
  if (!out) throw_errno("writing " + file);
}

}  // namespace tandem::app
