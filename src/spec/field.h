// One key of a spec: the row of a table from which parsing, the JSON Schema and --help are all derived.
//
// A Field is a plain value. `train_fields` is the table of a training spec, `tune_fields` that of a tuning
// spec and `characterize_fields` that of an experiment, made from the same rows, `sim_fields` that of a
// simulation; add a row there and every use follows. Rows of the first three store into a TuneJob, whose
// `base` is the job of a training spec (of an experiment: into an ExperimentDraft); those of a simulation
// into the part of it that their table is about: a DeviceType, a Workload.
#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/catalogue.h"
#include "spec/document.h"
#include "spec/experiment.h"

namespace tandem::spec {

inline constexpr double kYear = 365 * 86400.0;  // s: no stated time is longer

enum class Type {
  word,
  words,  // a list: the words of a command
  names,  // one word or a list of them
  flag,
  whole,
  real,
  any,  // a flag, a number or a word
  bytes,
  seconds,
  watts,
  joules,
  fraction,
  bandwidth,
  frequency,
  table,          // a map of `fields`
  open_table,     // the same, and keys that are checked elsewhere
  table_or_word,  // a map of `fields`, or one word that stands for such a map and is looked up elsewhere
  list,           // of what the one row in `fields` says, `least` to `most` of them
  named,          // a map from names of the user's own to what the one row in `fields` says; the same
};

// May a domain such as {log: [a, b]} stand here?
enum class Domains {
  never,
  in_tuning,  // this is the place, but not in a training spec: said so
  few,        // yes, when its values can be listed; `store` gets them one by one
  all,        // yes; it is read elsewhere
};

// What a field was found to hold: bytes as a whole number; all other quantities as a real one.
using Found = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

// A pointer to what a table is read into: a TuneJob*, a DeviceType*.
using Target = std::any;
using Store = std::function<void(const Target&, const Found&)>;
// Of a table, or of each item of a list or a named map: the part of the target that the rows inside store
// into. Lists and named maps make room for one more; the name of an item of a list is empty.
using Enter = std::function<Target(const Target&, const std::string& name, std::size_t index)>;

// An experiment while it is read: what it shares with a tuning spec, and what is its own.
struct ExperimentDraft : TuneJob {
  Experiment experiment;
};

struct Field {
  std::string name{};
  Type type = Type::word;
  std::string description{};
  bool required = false;
  std::string fallback{};  // as people would write it; the same as in the job (a test holds the two together)
  std::string otherwise{};  // said where there is no fallback value: "no limit"
  std::string instead{};    // a key of another kind of spec, refused here: what to write instead
  Domains domains = Domains::never;
  std::optional<double> least{}, above{}, most{};
  std::optional<std::vector<std::string>> choices{};  // word: what it may be
  std::string pattern{}, shape{};  // word, names of a map: a regular expression, and the same for people
  std::size_t longest = 4096;      // word, names of a map: bytes
  std::vector<Field> fields{};
  Enter enter{};  // none: the rows inside store where this one does
  Store store{};
};

std::vector<Field> train_fields(const Catalogue&);
std::vector<Field> tune_fields(const Catalogue&);
std::vector<Field> characterize_fields(const Catalogue&);
std::vector<Field> sim_fields(const Catalogue&);       // of a SimJob
std::vector<Field> workload_fields(const Catalogue&);  // of a Workload
std::vector<Field> cluster_fields();                   // of a Cluster
std::vector<Field> cluster_file_fields();              // the same and `kind`, for a file of its own
Field hyper_field(const HyperRule&, Domains = Domains::in_tuning);

// The row at `path`, which must exist.
Field& field_at(std::vector<Field>&, std::string_view path);

bool is_table(const Field&);  // a map of `fields`
bool is_many(const Field&);   // a list or a named map

// How a quantity is written.
struct Notation {
  const char* example;
  const char* units;  // of a regular expression
};
std::optional<Notation> notation(Type);

std::string type_text(const Field&);   // for people: "a whole number", "a size such as 2GiB"
bool in_range(const Field&, double);
std::string range_text(const Field&);  // "at least 1 and at most 8"; empty when anything goes
std::string kind_text(const Node&);    // what stands there: "a list", "'64'"

// Reads one value; reports what is wrong with it and returns nullopt. Not for tables.
std::optional<Found> read_value(const Field&, const Node&, const std::string& path, Issues&);

Value to_value(const Found&);  // not for lists

// Reads a map by its table into `target`; reports unknown keys (unless `open`), missing and bad ones.
void read_table(const std::vector<Field>&, bool open, const Node& map, const std::string& path,
                const Target& target, Issues&);

}  // namespace tandem::spec
