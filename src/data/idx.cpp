#include "data/idx.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace tandem::data {
namespace {

constexpr std::uint32_t kImageMagic = 0x00000803;  // bytes, three dimensions
constexpr std::uint32_t kLabelMagic = 0x00000801;  // bytes, one dimension
constexpr std::uint32_t kLargestSide = 4096;

std::uint32_t big32(ByteSpan bytes, std::size_t at) {
  return static_cast<std::uint32_t>(bytes[at]) << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 |
         bytes[at + 3];
}

void check_header(ByteSpan bytes, const std::string& where, std::uint32_t magic, std::size_t header_size,
                  const char* content) {
  if (bytes.size() < header_size) {
    throw UserError(fmt::format("{}: only {} bytes, too short for an IDX header of {}; fetch it again", where,
                                bytes.size(), header_size));
  }
  const std::uint32_t found = big32(bytes, 0);
  if (found != magic) {
    throw UserError(
        fmt::format("{}: not IDX {}: opens with 0x{:08x}, expected 0x{:08x}", where, content, found, magic));
  }
}

// Exactly as many bytes as the header promises: fewer is a torn file, more is another file's data.
void check_size(const std::string& where, std::uint64_t there, std::uint64_t promised, const char* what) {
  if (there == promised) return;
  throw UserError(fmt::format("{}: header promises {} bytes of {} but {} are there ({}); fetch it again",
                              where, promised, what, there,
                              there < promised ? "truncated" : "trailing garbage"));
}

Part load_part(const std::filesystem::path& images_path, const std::filesystem::path& labels_path,
               std::int64_t classes, std::vector<std::int64_t>& shape) {
  IdxImages images = parse_idx_images(read_decoded(images_path), images_path.string());
  Part part;
  part.labels = parse_idx_labels(read_decoded(labels_path), labels_path.string(), classes);
  part.count = images.count;
  part.values = std::move(images.values);
  if (static_cast<std::int64_t>(part.labels.size()) != part.count) {
    throw UserError(fmt::format("{}: {} labels, but {} holds {} images; they belong to different sets",
                                labels_path.string(), part.labels.size(), images_path.string(), part.count));
  }
  shape = {1, images.height, images.width};
  return part;
}

}  // namespace

IdxImages parse_idx_images(ByteSpan bytes, const std::string& where) {
  constexpr std::size_t kHeader = 16;
  check_header(bytes, where, kImageMagic, kHeader, "images");
  const std::uint64_t count = big32(bytes, 4);
  const std::uint64_t height = big32(bytes, 8);
  const std::uint64_t width = big32(bytes, 12);
  if (count == 0) throw UserError(fmt::format("{}: holds no images", where));
  if (height == 0 || width == 0 || height > kLargestSide || width > kLargestSide) {
    throw UserError(fmt::format("{}: images of {} x {} pixels; each side must be 1 to {}", where, height,
                                width, kLargestSide));
  }
  check_size(where, bytes.size() - kHeader, count * height * width, "pixels");  // 2^32 * 2^24 fits 64 bits
  IdxImages images{static_cast<std::int64_t>(count),
                   static_cast<std::int64_t>(height),
                   static_cast<std::int64_t>(width),
                   {}};
  images.values.reserve(bytes.size() - kHeader);
  for (std::uint8_t pixel : bytes.subspan(kHeader)) images.values.push_back(static_cast<float>(pixel) / 255);
  return images;
}

std::vector<std::int64_t> parse_idx_labels(ByteSpan bytes, const std::string& where, std::int64_t classes) {
  constexpr std::size_t kHeader = 8;
  check_header(bytes, where, kLabelMagic, kHeader, "labels");
  const ByteSpan body = bytes.subspan(kHeader);
  check_size(where, body.size(), big32(bytes, 4), "labels");
  std::vector<std::int64_t> labels(body.begin(), body.end());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= classes) {
      throw UserError(fmt::format("{}: label {} of item {} (byte {}) is out of range 0 to {}", where,
                                  labels[i], i, kHeader + i, classes - 1));
    }
  }
  return labels;
}

IdxFiles find_idx_files(const std::filesystem::path& folder) {
  IdxFiles files;
  const auto find = [&](const std::string& stem, const std::string& ending) {
    auto path = find_plain_or_gzip(folder, {stem + "-" + ending, stem + "." + ending});
    if (path.empty()) files.absent.push_back(stem + "-" + ending + "[.gz]");
    return path;
  };
  files.train_images = find("train-images", "idx3-ubyte");
  files.train_labels = find("train-labels", "idx1-ubyte");
  files.test_images = find("t10k-images", "idx3-ubyte");
  files.test_labels = find("t10k-labels", "idx1-ubyte");
  return files;
}

Dataset load_idx(const std::string& name, const std::filesystem::path& folder,
                 std::vector<std::string> class_names) {
  const IdxFiles files = find_idx_files(folder);
  if (!files.absent.empty()) {
    throw UserError(fmt::format("dataset '{}': {} not in {}; put the IDX files there", name,
                                join(files.absent), folder.string()));
  }
  Dataset dataset;
  dataset.name = name;
  dataset.kind = Kind::image;
  dataset.classes = static_cast<std::int64_t>(class_names.size());
  dataset.class_names = std::move(class_names);
  dataset.train = load_part(files.train_images, files.train_labels, dataset.classes, dataset.shape);
  std::vector<std::int64_t> test_shape;
  dataset.test = load_part(files.test_images, files.test_labels, dataset.classes, test_shape);
  if (test_shape != dataset.shape) {
    throw UserError(fmt::format("{}: images of {} x {}, but those of {} are {} x {}",
                                files.test_images.string(), test_shape[1], test_shape[2],
                                files.train_images.string(), dataset.shape[1], dataset.shape[2]));
  }
  dataset.source = folder.string() + ", IDX";
  return dataset;
}

}  // namespace tandem::data
