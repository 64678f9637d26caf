#include "spec/token.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/units.h"
#include "spec/issue.h"

namespace tandem::spec::lexing {
namespace {

bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool digit(char c) {
  return c >= '0' && c <= '9';
}
bool space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The number of a quantity such as 2GiB in its base unit.
std::optional<double> scaled_quantity(std::string_view number, std::string_view unit) {
  const std::string written = std::string(number) + std::string(unit);
  if (const auto bytes = parse_bytes(written)) return static_cast<double>(*bytes);
  if (const auto seconds = parse_seconds(written)) return seconds->value;
  if (const auto watts = parse_watts(written)) return watts->value;
  if (const auto joules = parse_joules(written)) return joules->value;
  return std::nullopt;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> tokens() {
    std::vector<Token> out;
    do {
      skip_spaces();
      out.push_back(next());
      at_ = out.back().past;
    } while (out.back().kind != Token::Kind::end);
    return out;
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void skip_spaces() {
    while (space(peek())) ++at_;
  }
  std::string_view letters(std::size_t from) const {
    std::size_t past = from;
    while (past < text_.size() && letter(text_[past])) ++past;
    return text_.substr(from, past - from);
  }
  Token token(Token::Kind kind, std::size_t length) const {
    return {kind, at_, at_ + length, std::string(text_.substr(at_, length))};
  }

  Token next() const {
    const char c = peek();
    if (at_ == text_.size()) return token(Token::Kind::end, 0);
    if (digit(c) || (c == '.' && digit(peek(1)))) return number();
    if (letter(c) || c == '_') return name();
    if (c == '\'' || c == '"') return word();
    for (const std::string_view two : {"==", "!=", "<=", ">="})
      if (text_.substr(at_, 2) == two) return token(Token::Kind::sign, 2);
    if (std::string_view("<>+-*/%()").find(c) != std::string_view::npos) return token(Token::Kind::sign, 1);
    unexpected();
  }

  [[noreturn]] void unexpected() const {
    std::size_t length = 1;  // the whole of a character beyond ASCII
    while ((static_cast<unsigned char>(peek(length)) & 0xc0) == 0x80) ++length;
    const char c = peek();
    const char* hint = c == '='   ? ": write == to compare"
                       : c == '&' ? ": write and"
                       : c == '|' ? ": write or"
                       : c == '!' ? ": write not"
                                  : "";
    fail(fmt::format("unexpected {} at column {}{}", quote(text_.substr(at_, length)), at_ + 1, hint));
  }

  Token name() const {
    std::size_t length = 1;
    while (letter(peek(length)) || digit(peek(length)) || peek(length) == '_' || peek(length) == '.')
      ++length;
    return token(Token::Kind::name, length);
  }

  Token word() const {
    const auto closing = text_.find(peek(), at_ + 1);
    if (closing == std::string_view::npos)
      fail(fmt::format("the word that begins at column {} has no closing quote", at_ + 1));
    Token out = token(Token::Kind::word, closing + 1 - at_);
    out.text = out.text.substr(1, out.text.size() - 2);
    return out;
  }

  Token number() const {
    Token out = token(Token::Kind::number, 0);
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), out.number);
    const auto out_of_range = [&] {
      fail(fmt::format("the number at column {} is too large or too small", at_ + 1));
    };
    if (error != std::errc()) out_of_range();
    out.past = at_ + static_cast<std::size_t>(end - begin);
    // A unit follows directly or after spaces; a name cannot follow a number, so nothing else is meant.
    std::size_t from = out.past;
    while (from < text_.size() && space(text_[from])) ++from;
    const auto unit = letters(from);
    if (unit.empty() || (from != out.past && !scaled_quantity("1", unit))) return finish(out);
    if (!scaled_quantity("1", unit))
      fail(fmt::format("{} at column {} is not a unit", quote(unit), from + 1));
    const auto value = scaled_quantity(text_.substr(at_, out.past - at_), unit);
    if (!value) out_of_range();
    out.number = *value;
    out.past = from + unit.size();
    return finish(out);
  }

  Token finish(Token out) const {
    out.text = text_.substr(out.at, out.past - out.at);
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

void fail(std::string message) {
  throw Problem{std::move(message)};
}

bool Token::is(std::string_view word) const {
  return (kind == Kind::name || kind == Kind::sign) && text == word;
}

bool Token::begins_value() const {
  if (kind == Kind::name) return text != "and" && text != "or";
  return kind == Kind::number || kind == Kind::word || is("(") || is("-");
}

std::vector<Token> tokens(std::string_view text) {
  return Lexer(text).tokens();
}

}  // namespace tandem::spec::lexing
