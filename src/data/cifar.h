// CIFAR-10 in its binary form: rows of one label byte and 3 x 32 x 32 pixel bytes, no header. Thread-safe.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/files.h"

namespace tandem::data {

// Appends the rows to `part`. UserError names the row and byte; then `part` is unchanged.
void parse_cifar(ByteSpan, const std::string& where, Part& part);

struct CifarFiles {
  std::filesystem::path folder;              // empty: no training batch anywhere
  std::vector<std::filesystem::path> train;  // sorted by name
  std::filesystem::path test;                // empty: absent
};

// Looks in DATA/cifar10, DATA/cifar10/cifar-10-batches-bin and DATA/cifar10-subset; the first with batches
// wins.
CifarFiles find_cifar_files(const std::filesystem::path& data);

Dataset load_cifar(const std::filesystem::path& data);

}  // namespace tandem::data
