#include "spec/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "spec/issue.h"
#include "spec/token.h"

namespace tandem::spec {

struct Expression::Term {
  // clang-format off
  enum class Op {
    number, word, flag, name,                               // leaves
    minus, plus, less, times, over, remainder,              // of numbers
    equal, unequal, below, at_most, above, at_least,        // of any two of a kind
    negation, both, either,                                 // of conditions
  };
  // clang-format on
  Op op = Op::flag;
  std::size_t at = 0;  // where its text begins
  double number = 0;
  bool flag = true;
  std::string text;  // of a word or a name
  std::shared_ptr<const Term> left, right;
};

namespace {

using lexing::fail;
using lexing::Token;
using Term = Expression::Term;
using Op = Term::Op;
using TermPointer = std::shared_ptr<const Term>;

constexpr std::size_t kLongest = 4096;
constexpr int kDeepest = 100;

struct Operator {
  std::string_view sign;
  Op op;
};

// Recursive descent, one function a level of the grammar; `depth_` bounds the recursion.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::set<std::string> names;

  TermPointer whole() {
    if (now().kind == Token::Kind::end) fail("is empty; write a condition such as batch_size % cores == 0");
    auto root = either();
    if (now().kind != Token::Kind::end) unexpected();
    if (const auto sort = not_a_condition(*root); !sort.empty())
      fail("is " + sort + ", not a condition: compare it with something, such as ... == 0");
    return root;
  }

 private:
  const Token& now() const { return tokens_[next_]; }
  bool take(std::string_view word) {
    if (!now().is(word)) return false;
    last_ = word;
    ++next_;
    return true;
  }

  [[noreturn]] void unexpected() const {
    const bool chained = std::any_of(kComparisons.begin(), kComparisons.end(),
                                     [&](const Operator& known) { return now().is(known.sign); });
    fail(fmt::format("unexpected {} at column {}{}", quote(now().text), now().at + 1,
                     chained ? ": comparisons do not chain; write a < b and b < c" : ""));
  }

  static TermPointer term(Op op, std::size_t at, TermPointer left, TermPointer right = nullptr) {
    return std::make_shared<Term>(
        Term{.op = op, .at = at, .left = std::move(left), .right = std::move(right)});
  }

  // "a number" or "a word", for terms that can never be true or false.
  static std::string not_a_condition(const Term& term) {
    if (term.op == Op::word) return "a word";
    const bool number = term.op == Op::number || (term.op >= Op::minus && term.op <= Op::remainder);
    return number ? "a number" : "";
  }
  static TermPointer condition(TermPointer term) {
    if (const auto sort = not_a_condition(*term); !sort.empty())
      fail(fmt::format("expected a condition at column {}, not {}", term->at + 1, sort));
    return term;
  }

  TermPointer either() { return joined("or", Op::either, &ExpressionParser::both); }
  TermPointer both() { return joined("and", Op::both, &ExpressionParser::negation); }

  TermPointer joined(std::string_view word, Op op, TermPointer (ExpressionParser::*tighter)()) {
    auto left = (this->*tighter)();
    while (take(word)) {
      left = condition(left);
      const std::size_t at = left->at;
      left = term(op, at, left, condition((this->*tighter)()));
    }
    return left;
  }

  TermPointer negation() {
    const std::size_t at = now().at;
    if (!take("not")) return comparison();
    const Deeper deeper(*this);
    return term(Op::negation, at, condition(negation()));
  }

  TermPointer comparison() {
    auto left = sum();
    for (const auto& [sign, op] : kComparisons)
      if (take(sign)) {
        const std::size_t at = left->at;
        return term(op, at, std::move(left), sum());
      }
    return left;
  }

  TermPointer sum() { return chain(kSums, &ExpressionParser::product); }
  TermPointer product() { return chain(kProducts, &ExpressionParser::minus); }

  template <std::size_t count>
  TermPointer chain(const std::array<Operator, count>& operators,
                    TermPointer (ExpressionParser::*tighter)()) {
    auto left = (this->*tighter)();
    for (;;) {
      const auto found = std::find_if(operators.begin(), operators.end(),
                                      [&](const Operator& known) { return take(known.sign); });
      if (found == operators.end()) return left;
      const std::size_t at = left->at;
      left = term(found->op, at, std::move(left), (this->*tighter)());
    }
  }

  TermPointer minus() {
    const std::size_t at = now().at;
    if (!take("-")) return value();
    const Deeper deeper(*this);
    return term(Op::minus, at, minus());
  }

  TermPointer value() {
    const Token token = now();
    if (token.is("not") || !token.begins_value())
      fail(fmt::format("expected a value{} at column {}", last_.empty() ? "" : " after '" + last_ + "'",
                       token.at + 1));
    if (take("(")) return parentheses();
    ++next_;
    last_.clear();
    auto out = std::make_shared<Term>(Term{.at = token.at, .text = token.text, .left = {}, .right = {}});
    out->op = token.kind == Token::Kind::number ? Op::number
              : token.kind == Token::Kind::word ? Op::word
                                                : Op::name;
    out->number = token.number;
    if (percent(token)) out->number /= 100;
    if (out->op == Op::name && (token.text == "true" || token.text == "false"))
      out->op = Op::flag, out->flag = token.text == "true";
    if (out->op == Op::name) names.insert(token.text);
    return out;
  }

  TermPointer parentheses() {
    const Deeper deeper(*this);
    auto inside = either();
    if (!take(")")) fail(fmt::format("expected ')' at column {}", now().at + 1));
    return inside;
  }

  // 50% is a share; 7%4 is a remainder, because a value follows.
  bool percent(const Token& number) {
    const bool share = number.kind == Token::Kind::number && now().is("%") && now().at == number.past &&
                       !tokens_[next_ + 1].begins_value();
    if (share) ++next_;
    return share;
  }

  // One level deeper for as long as it lives.
  class Deeper {
   public:
    explicit Deeper(ExpressionParser& parser) : parser_(parser) {
      if (++parser.depth_ > kDeepest)
        fail(fmt::format("is nested deeper than {} levels at column {}", kDeepest, parser.now().at));
    }
    ~Deeper() { --parser_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    ExpressionParser& parser_;
  };

  static constexpr std::array<Operator, 6> kComparisons{{{"==", Op::equal},
                                                         {"!=", Op::unequal},
                                                         {"<=", Op::at_most},
                                                         {">=", Op::at_least},
                                                         {"<", Op::below},
                                                         {">", Op::above}}};
  static constexpr std::array<Operator, 2> kSums{{{"+", Op::plus}, {"-", Op::less}}};
  static constexpr std::array<Operator, 3> kProducts{
      {{"*", Op::times}, {"/", Op::over}, {"%", Op::remainder}}};

  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  std::string last_;  // the sign or word just taken; empty after a value
  int depth_ = 0;
};

using Operand = std::variant<bool, double, std::string_view>;
using Answer = std::optional<Operand>;  // nothing: it has none, so the whole condition does not hold

Answer finite_answer(double number) {
  return std::isfinite(number) ? Answer(number) : std::nullopt;
}

Answer arithmetic(Op op, double left, double right) {
  switch (op) {
    case Op::plus:
      return finite_answer(left + right);
    case Op::less:
      return finite_answer(left - right);
    case Op::times:
      return finite_answer(left * right);
    case Op::over:
      return right == 0 ? std::nullopt : finite_answer(left / right);
    default:
      break;
  }
  if (right == 0) return std::nullopt;
  const double rest = std::fmod(left, right);
  return rest != 0 && (rest < 0) != (right < 0) ? rest + right : rest;  // the sign of the divisor
}

template <class Held>
Answer compared(Op op, const Held& left, const Held& right) {
  switch (op) {
    case Op::equal:
      return left == right;
    case Op::unequal:
      return left != right;
    case Op::below:
      return left < right;
    case Op::at_most:
      return left <= right;
    case Op::above:
      return left > right;
    default:
      return left >= right;
  }
}

Answer compare(Op op, const Operand& left, const Operand& right) {
  if (left.index() != right.index()) return std::nullopt;
  if (std::holds_alternative<bool>(left) && op != Op::equal && op != Op::unequal) return std::nullopt;
  return std::visit(
      [&](const auto& held) { return compared(op, held, std::get<std::decay_t<decltype(held)>>(right)); },
      left);
}

Operand operand(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* word = std::get_if<std::string>(&value)) return std::string_view(*word);
  if (const auto* structure = std::get_if<Structure>(&value)) return std::string_view(structure->json);
  return *as_number(value);
}

Answer evaluate(const Term& term, const Values& values);

// Left to right, and no further than needed.
Answer evaluate_condition(const Term& term, const Values& values) {
  const auto left = evaluate(*term.left, values);
  const bool* flag = left ? std::get_if<bool>(&*left) : nullptr;
  if (flag == nullptr) return std::nullopt;
  if (term.op == Op::negation) return !*flag;
  if (*flag == (term.op == Op::either)) return *flag;
  const auto right = evaluate(*term.right, values);
  return right && std::holds_alternative<bool>(*right) ? right : std::nullopt;
}

Answer evaluate(const Term& term, const Values& values) {
  switch (term.op) {
    case Op::number:
      return term.number;
    case Op::word:
      return std::string_view(term.text);
    case Op::flag:
      return term.flag;
    case Op::name:
      return operand(values.at(term.text));
    default:
      break;
  }
  if (term.op >= Op::negation) return evaluate_condition(term, values);
  const auto left = evaluate(*term.left, values);
  const auto right = term.op == Op::minus ? left : evaluate(*term.right, values);
  if (!left || !right) return std::nullopt;
  if (term.op >= Op::equal) return compare(term.op, *left, *right);
  const auto* first = std::get_if<double>(&*left);
  const auto* second = std::get_if<double>(&*right);
  if (first == nullptr || second == nullptr) return std::nullopt;
  return term.op == Op::minus ? finite_answer(-*first) : arithmetic(term.op, *first, *second);
}

}  // namespace

std::variant<Expression, std::string> Expression::parse(std::string_view text) {
  if (text.size() > kLongest)
    return fmt::format("has {} bytes; a condition has at most {}", text.size(), kLongest);
  try {
    ExpressionParser parser(lexing::tokens(text));
    Expression out;
    out.root_ = parser.whole();
    out.names_ = std::move(parser.names);
    out.text_ = text;
    return out;
  } catch (const lexing::Problem& problem) {
    return problem.message;
  }
}

bool Expression::holds(const Values& values) const {
  if (root_ == nullptr) return true;
  for (const auto& name : names_)
    if (!values.contains(name)) return true;
  const auto answer = evaluate(*root_, values);
  const bool* flag = answer ? std::get_if<bool>(&*answer) : nullptr;
  return flag != nullptr && *flag;
}

}  // namespace tandem::spec
