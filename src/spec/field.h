// One key of a spec: the row of a table from which parsing, the JSON Schema and --help are all derived.
//
// A Field is a plain value. `train_fields` is the table of a training spec; add a row there and every use
// follows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/catalogue.h"
#include "spec/document.h"
#include "spec/job.h"

namespace tandem::spec {

enum class Type {
  word,
  words,  // a list: the words of a command
  flag,
  whole,
  real,
  bytes,
  seconds,
  watts,
  fraction,
  table,       // a map of `fields`
  open_table,  // the same, and keys that are checked elsewhere
};

// What a field was found to hold: bytes as a whole number; seconds, watts and fractions as a real one.
using Found = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;
using Store = std::function<void(TrainJob&, const Found&)>;

struct Field {
  std::string name{};
  Type type = Type::word;
  std::string description{};
  bool required = false;
  std::string
      fallback{};  // as people would write it; the same as in TrainJob (a test holds the two together)
  std::string otherwise{};  // said where there is no fallback value: "no limit"
  bool tunable = false;     // a tuning spec may hold a domain here
  std::optional<double> least{}, above{}, most{};
  std::optional<std::vector<std::string>> choices{};  // word: what it may be
  std::string pattern{}, shape{};                     // word: a regular expression, and the same for people
  std::size_t longest = 4096;                         // word: bytes
  std::vector<Field> fields{};
  Store store{};
};

std::vector<Field> train_fields(const Catalogue&);
Field hyper_field(const HyperRule&);

// The row at `path`, which must exist.
Field& field_at(std::vector<Field>&, std::string_view path);

// How a quantity is written.
struct Notation {
  const char* example;
  const char* units;  // of a regular expression
};
std::optional<Notation> notation(Type);

std::string type_text(const Field&);   // for people: "a whole number", "a size such as 2GiB"
std::string range_text(const Field&);  // "at least 1 and at most 8"; empty when anything goes

// Reads one value; reports what is wrong with it and returns nullopt. Not for tables.
std::optional<Found> read_value(const Field&, const Node&, const std::string& path, Issues&);

// Reads a map by its table into `job`; reports unknown keys (unless `open`), missing and bad ones.
void read_table(const std::vector<Field>&, bool open, const Node& map, const std::string& path, TrainJob& job,
                Issues&);

// True, and reported, when `node` is a domain such as {log: [a, b]}, which only a tuning spec may hold.
bool refuse_domain(const Node&, const std::string& path, Issues&);

}  // namespace tandem::spec
