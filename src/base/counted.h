// So many of something, as people write it: "1 trial", "2 trials", "0 trials".
#pragma once

#include <concepts>
#include <string>

namespace tandem {

std::string counted(std::integral auto count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

}  // namespace tandem
