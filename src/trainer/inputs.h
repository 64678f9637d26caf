// Files that a person asks a trained model about, read into samples of the model's shape.
//
// Images: IDX (gzip or plain) or PGM (P2, P5), one channel; tables: CSV, one sample a line, an optional line
// of names first; texts: one sample a file. Nothing is resized, cut or guessed but texts, which are cut or
// padded as in training. UserError names the file, the place in it and what is wrong.
#pragma once

#include <filesystem>
#include <string_view>

#include "trainer/export.h"

namespace tandem::trainer {

data::Part read_samples(const std::filesystem::path&, const ModelCard&);

// The formats, from bytes; `where` names the input in messages.
data::Part parse_pgm(std::string_view bytes, const std::string& where, const ModelCard&);
data::Part parse_csv(std::string_view text, const std::string& where, const ModelCard&);
data::Part parse_text(std::string_view text, const ModelCard&);

}  // namespace tandem::trainer
