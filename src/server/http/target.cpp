#include "server/http/target.h"

#include <algorithm>

#include "base/text.h"
#include "server/http/http_message.h"

namespace tandem::server {
namespace {

[[noreturn]] void refuse_target(const std::string& why) {
  throw Refusal(400, "the address asked for " + why);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decode(std::string_view written) {
  std::string out;
  for (std::size_t at = 0; at < written.size(); ++at) {
    char c = written[at];
    if (c == '%') {
      const int high = at + 2 < written.size() ? hex_digit(written[at + 1]) : -1;
      const int low = at + 2 < written.size() ? hex_digit(written[at + 2]) : -1;
      if (high < 0 || low < 0) refuse_target("has a % that two hexadecimal digits do not follow");
      c = static_cast<char>(high * 16 + low);
      at += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) refuse_target("holds a control character");
    out += c;
  }
  if (printable(out, out.size() + 1) != out) refuse_target("is not UTF-8");
  return out;
}

std::string decode_part(std::string_view written) {
  if (written.empty()) refuse_target("has an empty part ('//', or a slash at its end)");
  std::string part = decode(written);
  if (part == "." || part == "..") refuse_target("holds '.' or '..'");
  if (part.find_first_of("/\\") != std::string::npos) refuse_target("holds a hidden slash or a backslash");
  return part;
}

std::map<std::string, std::string> parse_query(std::string_view written) {
  std::map<std::string, std::string> query;
  while (!written.empty()) {
    const auto pair = written.substr(0, written.find('&'));
    written.remove_prefix(std::min(written.size(), pair.size() + 1));
    const auto equals = std::min(pair.find('='), pair.size());
    const std::string key = decode(pair.substr(0, equals));
    if (key.empty()) refuse_target("has a query without a name");
    if (!query.emplace(key, decode(pair.substr(std::min(equals + 1, pair.size())))).second)
      refuse_target("gives '" + printable(key, 60) + "' twice in its query");
  }
  return query;
}

}  // namespace

std::string Target::path() const {
  std::string out;
  for (const auto& part : parts) out += "/" + part;
  return out.empty() ? "/" : out;
}

Target parse_target(std::string_view written) {
  if (!written.starts_with('/')) refuse_target("does not start with '/'");
  if (written.find('#') != std::string_view::npos) refuse_target("holds a '#'");
  Target target;
  const auto question = std::min(written.find('?'), written.size());
  target.query = parse_query(written.substr(std::min(question + 1, written.size())));
  std::string_view path = written.substr(1, question - 1);
  if (path.empty()) return target;
  for (;;) {
    const auto part = path.substr(0, path.find('/'));
    target.parts.push_back(decode_part(part));
    if (part.size() == path.size()) return target;
    path.remove_prefix(part.size() + 1);
  }
}

}  // namespace tandem::server
