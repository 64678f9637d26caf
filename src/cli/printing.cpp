#include "cli/printing.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "base/printable_stream.h"
#include "base/text.h"

namespace tandem::cli {

void print_output(std::string_view bytes) {
  if (!::isatty(STDOUT_FILENO)) return write_as_it_is(std::cout, bytes);
  std::string text(bytes);
  std::replace(text.begin(), text.end(), '\r', '\n');  // progress bars, one below the other
  std::cout << text;
}

void print_table(const std::function<std::string(bool colour)>& table) {
  const std::string plain = table(false);
  if (::isatty(STDOUT_FILENO) && printable(plain, plain.size() + 1) == plain)
    write_as_it_is(std::cout, table(true));
  else
    std::cout << plain;
}

}  // namespace tandem::cli
