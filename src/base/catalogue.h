// Tables of named choices: models with their hyperparameters, datasets, search algorithms. Each folder offers
// its own table; the cli puts them together. The same table validates specs, feeds --help and generates the
// JSON Schema.
#pragma once

#include <string>
#include <vector>

#include "base/value.h"

namespace tandem {

struct HyperRule {
  enum class Kind { whole, real, flag, word };
  std::string name, description;
  Kind kind = Kind::real;
  Value fallback;                  // used when the spec does not say
  double low = 0, high = 0;        // whole and real: allowed range, both ends included
  std::vector<std::string> words;  // word: what it may be
};

struct ModelEntry {
  std::string name, description;
  std::string input;  // "image", "text" or "table": the kind of dataset it learns from
  std::vector<HyperRule> hyper;
};

struct DatasetEntry {
  std::string name, description;
  std::string kind;  // "image", "text" or "table"
};

// Any other named choice: a search algorithm, a policy.
struct ChoiceEntry {
  std::string name, description;
};

struct Catalogue {
  std::vector<ModelEntry> models;
  std::vector<DatasetEntry> datasets;
  std::vector<ChoiceEntry> algorithms{};  // of searches; empty: any name is taken
  std::vector<ChoiceEntry> zoo{};         // models that can be simulated; the same
  std::vector<ChoiceEntry> strategies{};  // of simulated training; the same
  std::vector<ChoiceEntry> schedulers{};  // of a simulated device's operations; the same
};

}  // namespace tandem
