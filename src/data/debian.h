// Package descriptions from this machine's own apt lists, to be classified by section: real text on every
// Debian.
//
// A sample is the package's name and description, in words. The most frequent sections are the classes; of
// their packages a fixed number is kept, chosen and split by a hash of the name, so that the same lists give
// the same dataset. Lists may be plain, gzip or LZ4. Without lists the installed packages (dpkg's status) do.
// Thread-safe.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"

namespace tandem::data {

struct Package {
  std::string name, section, description;
};

// Paragraphs of "Field: value" lines; those without a name, section or description are left out. Never fails:
// what is no such line is passed over, as apt does.
std::vector<Package> parse_packages(std::string_view);

struct DebianOptions {
  std::filesystem::path lists = "/var/lib/apt/lists";
  std::filesystem::path status = "/var/lib/dpkg/status";
  std::size_t sections = 16;     // at most
  std::size_t fewest = 20;       // packages a section needs to count
  std::size_t packages = 20000;  // at most, over all sections
};

struct DebianFiles {
  std::vector<std::filesystem::path> lists;  // readable forms
  std::size_t unreadable = 0;                // lists in a form Tandem does not read (xz, zstd)
};
DebianFiles find_debian_lists(const DebianOptions& options = {});

Dataset load_debian(const DebianOptions& options = {});

}  // namespace tandem::data
