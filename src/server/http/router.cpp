#include "server/http/router.h"

#include <algorithm>
#include <cassert>
#include <set>

#include "base/text.h"

namespace tandem::server {
namespace {

bool is_parameter(const std::string& part) {
  return part.size() > 2 && part.front() == '{' && part.back() == '}';
}

std::vector<std::string> split(const std::string& pattern) {
  assert(pattern.starts_with('/'));
  std::vector<std::string> parts;
  for (std::size_t at = 1; at < pattern.size();) {
    const auto end = std::min(pattern.find('/', at), pattern.size());
    assert(end > at);
    parts.push_back(pattern.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& parts) {
  return std::equal(
      pattern.begin(), pattern.end(), parts.begin(), parts.end(),
      [](const auto& wanted, const auto& given) { return is_parameter(wanted) || wanted == given; });
}

bool overlap(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return is_parameter(one) || is_parameter(other) || one == other;
  });
}

}  // namespace

bool plain_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= 128 && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), allowed);
}

void Router::add(std::string method, std::string pattern, Need need, Handler handler, Preparation prepare) {
  assert(handler);
  auto parts = split(pattern);
  for ([[maybe_unused]] const auto& entry : entries_)
    assert(entry.route.method != method || !overlap(entry.parts, parts));
  entries_.push_back({{std::move(method), std::move(pattern), need, std::move(handler), std::move(prepare)},
                      std::move(parts)});
}

Match Router::find(const std::string& method, const Target& target) const {
  std::set<std::string> methods;
  for (const auto& entry : entries_) {
    if (!fits(entry.parts, target.parts)) continue;
    methods.insert(entry.route.method);
    if (entry.route.method != method) continue;
    Match match{&entry.route, {}};
    for (std::size_t i = 0; i < entry.parts.size(); ++i) {
      if (!is_parameter(entry.parts[i])) continue;
      const std::string name = entry.parts[i].substr(1, entry.parts[i].size() - 2);
      if (!plain_name(target.parts[i]))
        throw Refusal(400,
                      "'" + printable(target.parts[i], 60) + "' is no " + name +
                          ": a name has 1 to 128 letters, digits and . _ -, and begins with none of . -");
      match.parameters[name] = target.parts[i];
    }
    return match;
  }
  if (methods.empty()) throw Refusal(404, "there is nothing at " + printable(target.path(), 100));
  const std::string allowed = join({methods.begin(), methods.end()});
  throw Refusal(405, printable(target.path(), 100) + " answers " + allowed + " only", {{"Allow", allowed}});
}

}  // namespace tandem::server
