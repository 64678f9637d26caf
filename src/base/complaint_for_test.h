// What tests say of errors.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace tandem {

// What the UserError of `action` says; a test failure when it throws none.
template <class Action>
std::string complaint(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no UserError";
  return "";
}

inline bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace tandem
