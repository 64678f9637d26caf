#include "spec/issue.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace tandem::spec {
namespace {

std::string one_line(std::string_view written, std::size_t most) {
  std::string out = printable(written, most);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return out;
}

}  // namespace

std::string text(const Issue& issue) {
  const std::string where = fmt::format("{}:{}:{}: ", issue.file, issue.line, issue.column);
  return issue.path.empty() ? where + issue.message : where + issue.path + ": " + issue.message;
}

void Issues::add(Place at, std::string_view path, const std::string& message) {
  issues_.push_back({file_, std::max(1, at.line), std::max(1, at.column), std::string(path), message});
}

std::vector<Issue> Issues::in_order() const {
  auto sorted = issues_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Issue& a, const Issue& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  return sorted;
}

std::string quote(std::string_view written) {
  return "'" + one_line(written, 60) + "'";
}

std::string join_path(std::string_view parent, std::string_view key) {
  const std::string shown = one_line(key, 60);
  return parent.empty() ? shown : std::string(parent) + "." + shown;
}

}  // namespace tandem::spec
