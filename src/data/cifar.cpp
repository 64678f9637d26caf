#include "data/cifar.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tandem::data {
namespace {

constexpr std::size_t kImage = 3 * 32 * 32;
constexpr std::size_t kRow = 1 + kImage;
constexpr int kClasses = 10;

bool is_training_batch(const std::string& name) {
  return name.starts_with("data_batch") && (name.ends_with(".bin") || name.ends_with(".bin.gz"));
}

}  // namespace

void parse_cifar(ByteSpan bytes, const std::string& where, Part& part) {
  if (bytes.empty()) throw UserError(fmt::format("{}: empty", where));
  if (bytes.size() % kRow != 0) {
    throw UserError(
        fmt::format("{}: {} bytes are no whole number of {}-byte CIFAR-10 rows ({} left over): "
                    "truncated, or not the binary version",
                    where, bytes.size(), kRow, bytes.size() % kRow));
  }
  const std::size_t rows = bytes.size() / kRow;
  for (std::size_t row = 0; row < rows; ++row) {
    if (bytes[row * kRow] >= kClasses) {
      throw UserError(fmt::format("{}: label {} of row {} (byte {}) is out of range 0 to {}", where,
                                  bytes[row * kRow], row, row * kRow, kClasses - 1));
    }
  }
  part.values.reserve(part.values.size() + rows * kImage);
  for (std::size_t row = 0; row < rows; ++row) {
    part.labels.push_back(bytes[row * kRow]);
    for (std::uint8_t pixel : bytes.subspan(row * kRow + 1, kImage)) {
      part.values.push_back(static_cast<float>(pixel) / 255);
    }
  }
  part.count += static_cast<std::int64_t>(rows);
}

CifarFiles find_cifar_files(const std::filesystem::path& data) {
  CifarFiles files;
  for (const auto* name : {"cifar10", "cifar10/cifar-10-batches-bin", "cifar10-subset"}) {
    for (const auto& entry : sorted_entries(data / name)) {
      if (is_training_batch(entry.filename().string())) files.train.push_back(entry);
    }
    if (!files.train.empty()) {
      files.folder = data / name;
      files.test = find_plain_or_gzip(files.folder, {"test_batch.bin"});
      break;
    }
  }
  return files;
}

Dataset load_cifar(const std::filesystem::path& data) {
  const CifarFiles files = find_cifar_files(data);
  if (files.train.empty()) {
    throw UserError(
        fmt::format("dataset 'cifar10': no data_batch*.bin[.gz] in {0}/cifar10 or {0}/cifar10-subset; "
                    "put the binary version of CIFAR-10 there",
                    data.string()));
  }
  if (files.test.empty()) {
    throw UserError(
        fmt::format("dataset 'cifar10': test_batch.bin[.gz] is missing in {}", files.folder.string()));
  }
  Dataset dataset;
  dataset.name = "cifar10";
  dataset.kind = Kind::image;
  dataset.shape = {3, 32, 32};
  dataset.classes = kClasses;
  dataset.class_names = {"airplane", "automobile", "bird",  "cat",  "deer",
                         "dog",      "frog",       "horse", "ship", "truck"};
  for (const auto& batch : files.train) parse_cifar(read_decoded(batch), batch.string(), dataset.train);
  parse_cifar(read_decoded(files.test), files.test.string(), dataset.test);
  dataset.source = files.folder.string() + ", CIFAR-10 binary";
  return dataset;
}

}  // namespace tandem::data
