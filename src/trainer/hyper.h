// Reading complete hyperparameters, which data::with_defaults has checked: a missing one is a bug.
#pragma once

#include <cassert>

#include "base/value.h"

namespace tandem::trainer {

inline double real(const Values& hyper, const char* name) {
  const auto number = as_number(hyper.at(name));
  assert(number);
  return *number;
}

inline std::int64_t whole(const Values& hyper, const char* name) {
  return std::get<std::int64_t>(hyper.at(name));
}

inline const std::string& word(const Values& hyper, const char* name) {
  return std::get<std::string>(hyper.at(name));
}

}  // namespace tandem::trainer
