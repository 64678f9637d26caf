// Small datasets and private folders for the trainer's tests.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/random.h"
#include "data/models.h"
#include "trainer/learner.h"

namespace tandem::trainer {

// A folder of its own, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tandem-trainer-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Images whose class is where they are bright: learnable within a few steps.
inline data::Part bright_images(std::int64_t count, std::int64_t side, std::int64_t classes,
                                std::uint64_t seed) {
  data::Part part;
  part.count = count;
  Random random(seed);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t label = static_cast<std::int64_t>(random.below(classes));
    part.labels.push_back(label);
    for (std::int64_t pixel = 0; pixel < side * side; ++pixel) {
      const bool bright = pixel / side * classes / side == label;
      part.values.push_back(static_cast<float>(random.uniform(0, 0.4) + (bright ? 0.6 : 0)));
    }
  }
  return part;
}

inline data::Dataset images(std::int64_t side = 16) {
  data::Dataset dataset;
  dataset.name = "bright";
  dataset.kind = data::Kind::image;
  dataset.shape = {1, side, side};
  dataset.classes = 4;
  dataset.class_names = {"top", "upper", "lower", "bottom"};
  dataset.train = bright_images(200, side, 4, 1);
  dataset.test = bright_images(60, side, 4, 2);
  return dataset;
}

// Texts of class c are full of words of class c.
inline data::Part word_texts(std::int64_t count, std::int64_t length, std::uint64_t seed) {
  data::Part part;
  part.count = count;
  Random random(seed);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t label = static_cast<std::int64_t>(random.below(2));
    const std::int64_t used = length - static_cast<std::int64_t>(random.below(4));
    part.labels.push_back(label);
    for (std::int64_t at = 0; at < length; ++at) {
      const auto own = static_cast<std::int64_t>(2 + 4 * label + random.below(4));
      part.tokens.push_back(at >= used ? 0 : random.uniform() < 0.5 ? own : 10 + random.below(4));
    }
  }
  return part;
}

inline data::Dataset texts() {
  data::Dataset dataset;
  dataset.name = "words";
  dataset.kind = data::Kind::text;
  dataset.shape = {10};
  dataset.classes = 2;
  dataset.class_names = {"left", "right"};
  dataset.words = {"<pad>", "<unknown>", "a", "b", "c", "d", "e", "f", "g", "h", "x1", "x2", "x3", "x4"};
  dataset.train = word_texts(120, 10, 1);
  dataset.test = word_texts(40, 10, 2);
  return dataset;
}

// y = 100 + 30 a + 10 a b, with features of very different size.
inline data::Part rows(std::int64_t count, std::uint64_t seed) {
  data::Part part;
  part.count = count;
  Random random(seed);
  for (std::int64_t i = 0; i < count; ++i) {
    const double a = random.uniform(), b = random.uniform();
    part.values.insert(part.values.end(), {static_cast<float>(1000 * a), static_cast<float>(b)});
    part.targets.push_back(static_cast<float>(100 + 30 * a + 10 * a * b));
  }
  return part;
}

inline data::Dataset table() {
  data::Dataset dataset;
  dataset.name = "rows";
  dataset.kind = data::Kind::table;
  dataset.shape = {2};
  dataset.train = rows(200, 1);
  dataset.test = rows(60, 2);
  return dataset;
}

inline data::Dataset dataset_for(const std::string& model) {
  const std::string& input = data::model(model).input;
  return input == "image" ? images() : input == "text" ? texts() : table();
}

inline Setup setup_for(const std::string& model, Values hyper = {}, std::int64_t seed = 1) {
  return {model, data::with_defaults(data::model(model), hyper), seed};
}

}  // namespace tandem::trainer
