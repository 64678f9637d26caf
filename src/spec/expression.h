// A condition people write between parameters: `batch_size % cores == 0`, `layers < 3 or dropout > 0.1`.
//
// Grammar, loosest first: or, and, not, comparisons (== != < <= > >=), + -, * / %, unary -, parentheses;
// numbers, quantities with units (2GiB), 'words' in quotes, true, false, and names of parameters. Pure
// values. Division and remainder by zero, and comparing a word with a number, make the whole condition false.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "base/value.h"

namespace tandem::spec {

class Expression {
 public:
  // The expression, or what is wrong with it: "expected a value after '%' at column 14".
  static std::variant<Expression, std::string> parse(std::string_view text);

  // True also when a name it uses has no value: a condition on what does not exist says nothing.
  bool holds(const Values&) const;
  const std::set<std::string>& names() const { return names_; }
  const std::string& text() const { return text_; }  // as written
  bool operator==(const Expression& other) const { return text_ == other.text_; }

  struct Term;  // a node of the tree

 private:
  std::string text_;
  std::set<std::string> names_;
  std::shared_ptr<const Term> root_;
};

}  // namespace tandem::spec
