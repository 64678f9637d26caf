#include "base/error.h"

#include <cerrno>
#include <system_error>

namespace tandem {

SystemError::SystemError(const std::string& what_happened, int number)
    : std::runtime_error(number == 0 ? what_happened
                                     : what_happened + ": " + std::generic_category().message(number)),
      error_number(number) {}

void throw_errno(const std::string& doing) {
  throw SystemError(doing, errno);
}

}  // namespace tandem
