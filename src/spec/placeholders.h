// `{learning_rate}` in a command: where a value goes when the program starts. Pure functions.
//
// A placeholder is a name in braces, `{folder}`; `{{folder}}` stands for the text {folder}. All other braces
// are text: those of JSON, of awk, and `${HOME}` of a shell.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/catalogue.h"
#include "spec/document.h"
#include "spec/tune_job.h"

namespace tandem::spec {

struct Piece {
  bool placeholder = false;
  std::string text;  // the name, or text as it is
  bool operator==(const Piece&) const = default;
};
std::vector<Piece> pieces_of(std::string_view written);

// What a placeholder may name beside hyperparameters.
const std::vector<std::string>& own_placeholders();
inline constexpr const char* kParameterFile = "file";

// Of a program without SDK: that every placeholder names something, that what is searched reaches the
// program, that its metrics can be read, and (judged) its objectives are among them. Notes in `job` whether
// its command has placeholders.
void check_adapted(const Node* program, TuneJob& job, bool judged, Issues&);

}  // namespace tandem::spec
