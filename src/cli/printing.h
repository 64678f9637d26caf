// What goes to standard output in another way than text of our own (base/printable_stream.h).
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tandem::cli {

// What a program printed: its bytes as they are, for files and pipes; made printable on a terminal.
void print_output(std::string_view);
// In colour on a terminal, where nothing in it has codes of its own.
void print_table(const std::function<std::string(bool colour)>& table);

}  // namespace tandem::cli
