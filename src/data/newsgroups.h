// 20-newsgroups as its folders of messages: 20news-bydate-train/CLASS/FILE and 20news-bydate-test/CLASS/FILE,
// or one 20news/CLASS/FILE that is split by a hash of each message's name. The header of a message is left
// out but for its subject: the other lines name the group. Thread-safe.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "data/dataset.h"

namespace tandem::data {

// The subject and the body of a message; a message without a header is all body.
std::string message_text(std::string_view message);

struct NewsgroupsFolders {
  std::filesystem::path train, test;  // empty test: split `train`; empty train: not here
};

// Looks in DATA and in DATA/newsgroups.
NewsgroupsFolders find_newsgroups(const std::filesystem::path& data);

Dataset load_newsgroups(const std::filesystem::path& data);

}  // namespace tandem::data
