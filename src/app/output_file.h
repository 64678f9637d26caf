// Files that a command writes beside what it prints.
#pragma once

#include <string>

namespace tandem::app {

// Known before anything slow is done. UserError when `file`, the value of `option`, cannot be written for
// want of a folder; nothing where none was asked for.
void require_folder_of(const std::string& file, const char* option);
// UserError when it may not be written there, SystemError when writing fails.
void write_file(const std::string& file, const std::string& text);

}  // namespace tandem::app
