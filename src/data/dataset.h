// Datasets in memory, ready to be cut into batches: one contiguous array a part, no per-sample objects.
//
// `load` knows the names in `datasets()`. Files are looked for in Folders::data/NAME (--data or TANDEM_DATA);
// what Tandem makes itself (kernel timings) is kept in Folders::cache. Bad files throw UserError that names
// the file, the place in it and what is wrong; nothing is guessed or clamped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/catalogue.h"

namespace tandem::data {

enum class Kind { image, text, table };

// One part of a dataset; which arrays are filled follows from the kind.
struct Part {
  std::int64_t count = 0;
  std::vector<float> values;  // image: count x channels x height x width in [0,1]; table: count x features
  std::vector<std::int64_t> tokens;  // text: count x length; 0 pads, 1 is an unknown word
  std::vector<std::int64_t> labels;  // image, text, and table with classes > 0
  std::vector<float> targets;        // table with classes == 0: what a regression learns
};

// How a number of a table was scaled: stored = (ln(raw) - mean) / deviation.
struct Column {
  std::string name;
  double mean = 0, deviation = 1;
};

struct Dataset {
  std::string name;
  Kind kind = Kind::image;
  std::vector<std::int64_t> shape;  // of one sample: {1,28,28}, {length} or {features}
  std::int64_t classes = 0;         // 0: regression
  std::vector<std::string> class_names;
  std::vector<std::string> words;  // text: the vocabulary; tokens index it
  std::vector<Column> columns;     // table: one a feature
  Column target;                   // table, regression
  Part train, test;
  std::string source;  // for people: "procedural, seed 1", "/data/mnist, IDX"
};

struct Folders {
  std::filesystem::path data;   // where the user keeps datasets; may be absent
  std::filesystem::path cache;  // where Tandem keeps what it made
};

// From TANDEM_DATA (default ../shared/data when it exists, else ./data) and TANDEM_CACHE (default
// ~/.cache/tandem).
Folders folders_from_environment();

const std::vector<DatasetEntry>& datasets();

// Reads or makes a dataset. Throws UserError for an unknown name (with the nearest one), absent or bad files.
// The first load of a kernel table runs its kernels, for up to a minute: `prepare` it where that would be in
// the way.
Dataset load(const std::string& name, const Folders&);

// One line for `tandem data list`: is it here, and if not, what to do.
struct Availability {
  bool available = false;
  std::string detail;
  bool can_be_made = false;  // here, by `prepare`, in a while
};
Availability availability(const std::string& name, const Folders&);

// For `tandem data get`: makes what Tandem can make (a broken kernel table is made anew) and returns one line
// on what is there now. UserError says which files go where when the user has to bring them.
using Progress = std::function<void(double fraction)>;
std::string prepare(const std::string& name, const Folders&, const Progress& progress = {});

// For `tandem data check`: reads the whole dataset and says what is in it. Bad files throw as in `load`.
struct Summary {
  std::string name, source;
  Kind kind = Kind::image;
  std::vector<std::int64_t> shape;
  std::int64_t classes = 0, train = 0, test = 0;
  std::size_t vocabulary = 0;  // text
  std::vector<std::string> class_names;
  std::vector<std::int64_t> train_balance, test_balance;  // samples a class
};
Summary check(const std::string& name, const Folders&);

std::string_view text(Kind);  // "image", "text", "table"

}  // namespace tandem::data
