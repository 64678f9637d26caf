// What is wrong with a spec and where. Issues are collected, never thrown one at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::spec {

// Counts from 1, as editors do; columns count bytes.
struct Place {
  int line = 1, column = 1;
};

struct Issue {
  std::string file;
  int line = 1, column = 1;
  std::string path;     // "system.memory"; empty: the whole document
  std::string message;  // one line
};

std::string text(const Issue&);  // "job.yaml:3:7: system.memory: needs a unit, such as 2GiB"

// Collects the issues of one file.
class Issues {
 public:
  explicit Issues(std::string file) : file_(std::move(file)) {}

  void add(Place at, std::string_view path, const std::string& message);
  bool empty() const { return issues_.empty(); }
  std::size_t size() const { return issues_.size(); }
  std::vector<Issue> in_order() const;  // by line and column

 private:
  std::string file_;
  std::vector<Issue> issues_;
};

// Words of the user's inside a message: on one line, printable, not too long, in quotes.
std::string quote(std::string_view written);
std::string join_path(std::string_view parent, std::string_view key);

}  // namespace tandem::spec
