// A YAML document as a tree that remembers where everything was written; the only file that knows yaml-cpp.
//
// Stricter than YAML: no duplicate keys, anchors, aliases, merge keys or tags, one document, keys are words,
// UTF-8 without control characters, at most kLargestDocument bytes and kDeepestNesting levels. What breaks
// these rules is an Issue; the rest of the tree still comes back, so that one reading reports everything.
// Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"
#include "spec/issue.h"

namespace tandem::spec {

inline constexpr std::size_t kLargestDocument = 1 << 20;
inline constexpr int kDeepestNesting = 32;

struct Entry;

struct Node {
  enum class Kind {
    broken,
    null,
    scalar,
    list,
    map
  };  // broken: an issue was reported already, say no more of it
  Kind kind = Kind::broken;
  Place at;
  std::string text;            // scalar: as written, without quotes; null: empty where nothing is written
  bool quoted = false;         // scalar: quoted or a block, so always a word
  std::vector<Node> items;     // list
  std::vector<Entry> entries;  // map, in the order written

  const Node* find(std::string_view key) const;  // null when this is no map or has no such key
};

struct Entry {
  std::string key;
  Place at;
  Node value;
};

// The root, when there is one to speak of; issues are added to `issues`.
std::optional<Node> read_document(std::string_view text, Issues& issues);

// What a plain scalar means by the YAML 1.2 core schema. `problem` is set instead of `value` for numbers that
// are not finite or do not fit.
struct Meaning {
  std::optional<Value> value;
  std::string problem;
};
Meaning meaning(const Node& scalar);

}  // namespace tandem::spec
