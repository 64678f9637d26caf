// What bench/search looks for the lowest point of: standard functions, mixed and conditional spaces, and
// tables of real measurements. Optuna and Tandem are given the same ones: this is the only place they are
// written down.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/value.h"
#include "spec/space.h"

namespace tandem::bench {

struct Problem {
  std::string name;
  int trials = 100;
  spec::Space space;
  std::function<double(const Values&)> loss;
};

// The functions, and the tables found in `data`; why a table is missing goes into `skipped`.
std::vector<Problem> problems(const std::string& data, std::vector<std::string>& skipped);

// A domain in a few words.
spec::Domain real(double low, double high);
spec::Domain log_real(double low, double high);
spec::Domain whole(double low, double high);
spec::Domain log_whole(double low, double high);
spec::Domain words(const std::vector<std::string>&);

// The tables alone.
std::vector<Problem> tables(const std::string& data, std::vector<std::string>& skipped);

}  // namespace tandem::bench
