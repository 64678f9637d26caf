// Small helpers for messages to people.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// The known name a person most likely meant, or nullopt when nothing is near enough to suggest.
std::optional<std::string> nearest(std::string_view written, const std::vector<std::string>& known);

// " (did you mean 'x'?)" or "".
std::string did_you_mean(std::string_view written, const std::vector<std::string>& known);

std::string join(const std::vector<std::string>&, std::string_view separator = ", ");

// Lines of at most `width` characters, broken at spaces; a longer word has a line of its own. One line of ""
// for nothing.
std::vector<std::string> wrapped(std::string_view, std::size_t width);
// How many characters of UTF-8 there are.
std::size_t characters(std::string_view);

// Text from outside made safe to print, in a terminal, a log or a page: control characters (C0 but newline and
// tab, DEL, C1) and those that change the direction or the lines of text become "\u202e" as JSON writes them,
// broken UTF-8 becomes '?', over-long text is cut.
std::string printable(std::string_view, std::size_t most = 4096);
// The same where nothing may begin a line of its own: newlines and tabs are escaped too.
std::string printable_line(std::string_view, std::size_t most = 4096);
// Of the end of the text: bytes that may be the beginning of a character whose rest is still to come.
std::size_t unfinished_bytes(std::string_view);

}  // namespace tandem
