// The IDX format of MNIST and its relatives: big-endian header (magic, one size a dimension), then bytes.
//
// The parsers take bytes and allocate only after the header agrees with the number of bytes that are really
// there. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/files.h"

namespace tandem::data {

struct IdxImages {
  std::int64_t count = 0, height = 0, width = 0;
  std::vector<float> values;  // count x height x width in [0,1]
};

// `where` names the input in messages. UserError says what is wrong and at which byte.
IdxImages parse_idx_images(ByteSpan, const std::string& where);
std::vector<std::int64_t> parse_idx_labels(ByteSpan, const std::string& where, std::int64_t classes);

// One of the four files, and what is there of it.
struct IdxFiles {
  std::filesystem::path train_images, train_labels, test_images, test_labels;  // empty: absent
  std::vector<std::string> absent;  // names a person would look for
};
IdxFiles find_idx_files(const std::filesystem::path& folder);

// Fills shape, train and test. UserError when a file is absent or bad, or images and labels do not match.
Dataset load_idx(const std::string& name, const std::filesystem::path& folder,
                 std::vector<std::string> class_names);

}  // namespace tandem::data
