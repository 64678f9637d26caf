// The two kinds of trouble Tandem reports; anything else is a bug and asserts.
//
// UserError: the person can fix it; the message says what is wrong, where, and what to do. Exit code 2.
// SystemError: the world did it to us (disk full, no permission); the owner of the resource may handle it.
// Exit 1. Exceptions of third parties stop at the folder that owns the third party.
#pragma once

#include <stdexcept>
#include <string>

namespace tandem {

struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct SystemError : std::runtime_error {
  explicit SystemError(const std::string& what_happened, int error_number = 0);
  int error_number;  // errno, or 0 when there was none
};

// "writing /x/y: No space left on device" from errno as it is now.
[[noreturn]] void throw_errno(const std::string& doing);

}  // namespace tandem
