// The words, numbers and signs of an Expression. Pure; for expression.cpp alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tandem::spec::lexing {

// What is wrong with an expression; never leaves Expression::parse.
struct Problem {
  std::string message;
};
[[noreturn]] void fail(std::string message);

struct Token {
  enum class Kind { end, number, word, name, sign };
  Kind kind = Kind::end;
  std::size_t at = 0, past = 0;  // its bytes: [at, past)
  std::string text;              // without quotes; the unit is part of a number's value
  double number = 0;

  bool is(std::string_view word) const;  // a name or sign, and this one
  bool begins_value() const;             // could a value begin here?
};

// Ends with a token of kind `end`. Throws Problem.
std::vector<Token> tokens(std::string_view text);

}  // namespace tandem::spec::lexing
