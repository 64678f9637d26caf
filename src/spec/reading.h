// What reading every kind of spec begins and ends with; for the files of this folder that read one, and for
// commands that take several kinds.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/document.h"

namespace tandem::spec {

// The document, when it is of this kind; one of another kind would only collect noise if it were read.
std::optional<Node> read_kind(std::string_view text, const std::string& kind, Issues&);

// Throws one UserError that lists all issues, one a line.
[[noreturn]] void refuse(const std::vector<Issue>&);

// UserError when it cannot be read. Of a file that is too long only so much as shows that it is.
std::string read_file(const std::filesystem::path&);

}  // namespace tandem::spec
