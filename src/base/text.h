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

// Text from outside made safe to print: control characters and broken UTF-8 become '?', over-long text is
// cut.
std::string printable(std::string_view, std::size_t most = 4096);

}  // namespace tandem
