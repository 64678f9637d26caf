#include "spec/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

namespace tandem::spec {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Without it yaml-cpp takes a quote that is still open at the end for closed.
constexpr const char* kDocumentEnd = "...\n";

Place place(const YAML::Mark& mark) {
  return {mark.line + 1, mark.column + 1};
}

// Bytes of the UTF-8 character that starts at `at`; 0 where there is none, or one that YAML does not allow.
std::size_t character(std::string_view s, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < s.size() ? static_cast<unsigned char>(s[at + i]) : 0u;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) {
    const bool line_end = lead == '\n' || (lead == '\r' && byte(1) == '\n');
    return line_end || lead == '\t' || (lead >= 0x20 && lead != 0x7f) ? 1 : 0;
  }
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
  if (length == 0) return 0;
  unsigned point = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(i) & 0x3f);
  }
  const unsigned least = length == 2   ? 0xa0
                         : length == 3 ? 0x800
                                       : 0x10000;  // below 0xa0: control characters
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  return point >= least && point <= 0x10ffff && !surrogate ? length : 0;
}

bool characters_are_good(std::string_view text, Issues& issues) {
  Place at;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character(text, i);
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(text[i]);
      issues.add(at, "",
                 fmt::format("byte 0x{:02x} is {}; a spec is plain UTF-8 text", byte,
                             byte < 0x80 ? "a control character" : "not a character in UTF-8"));
      return false;
    }
    at = text[i] == '\n' ? Place{at.line + 1, 1} : Place{at.line, at.column + static_cast<int>(length)};
    i += length;
  }
  return true;
}

struct TooDeep {
  Place at;
};

// Turns yaml-cpp's events into Nodes. Works on events because its nodes hide duplicate keys and follow
// aliases.
class Builder : public YAML::EventHandler {
 public:
  Builder(std::string_view text, Issues& issues) : text_(text), issues_(issues) {}

  std::optional<Node> root;
  Place document_at;

  void OnDocumentStart(const YAML::Mark& mark) override { document_at = place(mark); }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto kind = allowed(mark, "?", anchor) ? Node::Kind::null : Node::Kind::broken;
    add({.kind = kind, .at = place(mark), .text = writes_null(mark) ? "null" : ""});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    issues_.add(place(mark), "", "aliases (*name) are not allowed in a spec; write the value out");
    add({.kind = Node::Kind::broken, .at = place(mark)});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const auto kind = allowed(mark, tag, anchor) ? Node::Kind::scalar : Node::Kind::broken;
    add({.kind = kind, .at = place(mark), .text = value, .quoted = tag == "!"});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::list, mark, tag, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::map, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    bool broken = false;         // the whole container breaks a rule
    std::optional<Node> key;     // map: the key whose value comes next
    std::set<std::string> seen;  // map: keys so far
  };

  // Reports anchors and tags ("?" and "!" are yaml-cpp's marks for plain and quoted).
  bool allowed(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) issues_.add(place(mark), "", "anchors (&name) are not allowed in a spec");
    const bool tagged = tag != "?" && tag != "!" && !tag.empty();
    if (tagged) issues_.add(place(mark), "", "tags (!name) are not allowed in a spec");
    return anchor == 0 && !tagged;
  }

  // ~ and null are written; nothing at all is not.
  bool writes_null(const YAML::Mark& mark) const {
    const auto from = std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size());
    const auto rest = text_.substr(from);
    return rest.starts_with('~') || rest.starts_with("null") || rest.starts_with("Null") ||
           rest.starts_with("NULL");
  }

  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (static_cast<int>(open_.size()) >= kDeepestNesting) throw TooDeep{place(mark)};
    Open opened{.node = {.kind = kind, .at = place(mark)}, .key = {}, .seen = {}};
    opened.broken = !allowed(mark, tag, anchor);
    open_.push_back(std::move(opened));
  }

  void close() {
    Node node = std::move(open_.back().node);
    if (open_.back().broken) node.kind = Node::Kind::broken;
    open_.pop_back();
    add(std::move(node));
  }

  void add(Node node) {
    if (open_.empty()) {
      root = std::move(node);
    } else if (Open& parent = open_.back(); parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      check_key(parent, node);
      parent.key = std::move(node);
    } else {
      if (node.kind == Node::Kind::null && node.text.empty())
        node.at = parent.key->at;  // nothing was written: point at its key
      if (parent.key->kind != Node::Kind::broken)
        parent.node.entries.push_back({parent.key->text, parent.key->at, std::move(node)});
      parent.key.reset();
    }
  }

  // A bad key is reported and marked broken, so that its value is left out.
  void check_key(Open& parent, Node& key) {
    if (key.kind == Node::Kind::broken) return;
    std::string problem;
    if (key.kind != Node::Kind::scalar)
      problem = "a key must be a word";
    else if (key.text == "<<" && !key.quoted)
      problem = "merge keys (<<) are not allowed in a spec; write the values out";
    else if (!parent.seen.insert(key.text).second)
      problem = "key " + quote(key.text) + " is given twice";
    if (problem.empty()) return;
    issues_.add(key.at, "", problem);
    key.kind = Node::Kind::broken;
  }

  std::string_view text_;
  Issues& issues_;
  std::vector<Open> open_;
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  for (auto candidate : words)
    if (word == candidate) return true;
  return false;
}

bool all_of(std::string_view digits, bool (*allowed)(char)) {
  for (char c : digits)
    if (!allowed(c)) return false;
  return !digits.empty();
}

bool decimal(char c) {
  return c >= '0' && c <= '9';
}
bool octal(char c) {
  return c >= '0' && c <= '7';
}
bool hexadecimal(char c) {
  return decimal(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool looks_real(std::string_view unsigned_part) {
  const auto exponent = unsigned_part.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    auto power = unsigned_part.substr(exponent + 1);
    if (!power.empty() && (power[0] == '-' || power[0] == '+')) power.remove_prefix(1);
    if (!all_of(power, decimal)) return false;
  }
  const auto mantissa = unsigned_part.substr(0, exponent);
  const auto point = mantissa.find('.');
  const auto before = mantissa.substr(0, point);
  const auto after = point == std::string_view::npos ? std::string_view() : mantissa.substr(point + 1);
  if (before.empty()) return all_of(after, decimal);
  return all_of(before, decimal) && (after.empty() || all_of(after, decimal));
}

Meaning whole_meaning(std::string_view digits, int base) {
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), whole, base);
  if (error != std::errc()) return {{}, "the number is too large"};
  return {whole, ""};
}

Meaning real_meaning(std::string_view written) {
  double real = 0;
  const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), real);
  if (error != std::errc() || !std::isfinite(real)) return {{}, "the number is too large or too small"};
  return {real, ""};
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const auto& entry : entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

std::optional<Node> read_document(std::string_view text, Issues& issues) {
  if (text.size() > kLargestDocument) {
    issues.add(
        {}, "",
        fmt::format("the document has {} bytes; a spec has at most {}", text.size(), kLargestDocument));
    return std::nullopt;
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (!characters_are_good(text, issues)) return std::nullopt;
  Builder builder(text, issues);
  try {
    std::istringstream stream{std::string(text) + (text.ends_with('\n') ? "" : "\n") + kDocumentEnd};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    auto root = std::move(builder.root);
    if (root && parser.HandleNextDocument(builder))
      issues.add(builder.document_at, "", "a second document begins here; a spec is one document");
    if (root && root->kind != Node::Kind::null) return root;
    issues.add({}, "", "the document is empty; a spec begins with its kind, such as 'kind: train'");
  } catch (const YAML::Exception& error) {
    const bool at_end = error.mark.pos >= static_cast<int>(text.size());
    issues.add(
        place(error.mark), "",
        "not valid YAML: " + (at_end ? "the document ends inside a quote, bracket or brace" : error.msg));
  } catch (const TooDeep& deep) {
    issues.add(deep.at, "", fmt::format("nested deeper than {} levels", kDeepestNesting));
  }
  return std::nullopt;
}

Meaning meaning(const Node& scalar) {
  const std::string_view written = scalar.text;
  if (scalar.quoted) return {Value(scalar.text), ""};
  if (is_one_of(written, {"true", "True", "TRUE"})) return {true, ""};
  if (is_one_of(written, {"false", "False", "FALSE"})) return {false, ""};
  const bool has_sign = written.starts_with('-') || written.starts_with('+');
  const auto bare = written.substr(has_sign ? 1 : 0);
  const auto without_plus = written.substr(written.starts_with('+') ? 1 : 0);  // from_chars knows no plus
  if (is_one_of(bare, {".inf", ".Inf", ".INF"}) || is_one_of(written, {".nan", ".NaN", ".NAN"}))
    return {{}, "infinity and not-a-number are not allowed"};
  if (all_of(bare, decimal)) return whole_meaning(without_plus, 10);
  if (written.starts_with("0o") && all_of(written.substr(2), octal))
    return whole_meaning(written.substr(2), 8);
  if (written.starts_with("0x") && all_of(written.substr(2), hexadecimal))
    return whole_meaning(written.substr(2), 16);
  if (looks_real(bare)) return real_meaning(without_plus);
  return {Value(scalar.text), ""};
}

}  // namespace tandem::spec
