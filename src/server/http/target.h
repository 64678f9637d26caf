// The target of a request ("/v1/jobs/7?limit=5") taken apart, or refused: one way to write each path, and no
// way out of it. Pure; thread-safe.
//
// Refused with 400: what does not start with '/', empty parts, "." and "..", a slash, backslash, NUL or
// control character behind a %xx, broken %xx or UTF-8, a query with a key given twice.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::server {

struct Target {
  std::vector<std::string> parts;  // of the path, decoded; "/" has none
  std::map<std::string, std::string> query;

  std::string path() const;
};

// Throws Refusal.
Target parse_target(std::string_view);

}  // namespace tandem::server
