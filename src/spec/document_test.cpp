#include "spec/document.h"

#include <gtest/gtest.h>

namespace tandem::spec {
namespace {

struct Outcome {
  std::optional<Node> root;
  std::vector<Issue> issues;
};

Outcome read(std::string_view text) {
  Issues issues("f");
  auto root = read_document(text, issues);
  return {std::move(root), issues.in_order()};
}

// The only issue of `text` is at this place and says this.
void expect_issue(std::string_view text, int line, int column, const std::string& says) {
  const auto [root, issues] = read(text);
  ASSERT_EQ(issues.size(), 1u) << text.substr(0, 60);
  EXPECT_EQ(issues[0].line, line) << text.substr(0, 60);
  EXPECT_EQ(issues[0].column, column) << text.substr(0, 60);
  EXPECT_NE(issues[0].message.find(says), std::string::npos) << issues[0].message;
}

Value value_of(const std::string& plain) {
  const auto means = meaning({.kind = Node::Kind::scalar, .text = plain});
  return means.value.value_or(std::string("problem: " + means.problem));
}

TEST(Document, RemembersPlaces) {
  const auto [root, issues] = read("a: 1\nb:\n  c: [x, 'y']\n");
  ASSERT_TRUE(issues.empty());
  const Node* list = root->find("b")->find("c");
  EXPECT_EQ(root->entries[1].at.line, 2);
  EXPECT_EQ(list->at.line, 3);
  EXPECT_EQ(list->at.column, 6);
  EXPECT_EQ(list->items[1].at.column, 10);
  EXPECT_TRUE(list->items[1].quoted);
  EXPECT_FALSE(list->items[0].quoted);
  EXPECT_EQ(root->find("nothing"), nullptr);
}

TEST(Document, ByteOrderMarkAndWindowsLinesAreFine) {
  const auto [root, issues] = read(
      "\xef\xbb\xbf"
      "a: 1\r\nb: \xc3\xa9\r\n");
  ASSERT_TRUE(issues.empty());
  EXPECT_EQ(root->find("a")->text, "1");
  EXPECT_EQ(root->find("b")->text, "\xc3\xa9");
  EXPECT_EQ(root->find("b")->at.line, 2);
}

TEST(Document, NothingWrittenPointsAtItsKey) {
  const auto [root, issues] = read("a:\nb: 2\n");
  EXPECT_EQ(root->find("a")->kind, Node::Kind::null);
  EXPECT_EQ(root->find("a")->at.line, 1);
}

TEST(Document, RefusesDuplicateKeys) {
  expect_issue("a: 1\nb: 2\na: 3\n", 3, 1, "'a' is given twice");
}

TEST(Document, RefusesAnchorsAliasesMergeKeysAndTags) {
  expect_issue("a: &x 1\n", 1, 4, "anchors");
  expect_issue("a: !!str 1\n", 1, 4, "tags");
  expect_issue("a: !thing {b: 1}\n", 1, 4, "tags");
  expect_issue("<<: {a: 1}\n", 1, 1, "merge keys");
  const auto cyclic = read("a: &x [*x]\n").issues;
  ASSERT_EQ(cyclic.size(), 2u);
  EXPECT_NE(cyclic[0].message.find("anchors"), std::string::npos);
  EXPECT_NE(cyclic[1].message.find("aliases"), std::string::npos);
}

TEST(Document, RefusesKeysThatAreNoWords) {
  expect_issue("? [a, b]\n: 1\n", 1, 3, "a key must be a word");
  expect_issue("~: 1\n", 1, 1, "a key must be a word");
}

TEST(Document, RefusesSeveralAndNoDocuments) {
  expect_issue("a: 1\n---\nb: 2\n", 2, 1, "second document");
  expect_issue("", 1, 1, "empty");
  expect_issue("# only a comment\n", 1, 1, "empty");
  expect_issue("---\n", 1, 1, "empty");
}

TEST(Document, RefusesBrokenText) {
  expect_issue("a: 1\nb: \xff\n", 2, 4, "byte 0xff is not a character");
  expect_issue("a: \xed\xa0\x80\n", 1, 4, "not a character");
  expect_issue("a: \xc0\xaf\n", 1, 4, "not a character");
  expect_issue("a: \xc3", 1, 4, "not a character");
  expect_issue("a: \x1b[31m\n", 1, 4, "control character");
  expect_issue(std::string_view("a: 1\n\0b: 2", 11), 2, 1, "control character");
  expect_issue("a: 1\rb: 2", 1, 5, "control character");
}

TEST(Document, RefusesTooDeepAndTooLarge) {
  EXPECT_TRUE(read(std::string(32, '[') + std::string(32, ']')).issues.empty());
  expect_issue(std::string(33, '[') + std::string(33, ']'), 1, 33, "deeper than 32");
  EXPECT_EQ(read(std::string(100'000, '[')).issues.size(), 1u);
  EXPECT_TRUE(read("a: " + std::string(kLargestDocument - 3, 'x')).issues.empty());
  expect_issue("a: " + std::string(kLargestDocument, 'x'), 1, 1, "at most 1048576");
}

TEST(Document, SyntaxErrorsHaveALine) {
  expect_issue("a: 1\nb: [1, 2\n", 3, 1, "not valid YAML");
  expect_issue("a: b: c\n", 1, 5, "not valid YAML");
  expect_issue("a: 'open\n", 2, 1, "ends inside a quote");
  expect_issue("a: \"open", 2, 1, "ends inside a quote");
  expect_issue("a: *nobody\n", 1, 4, "not valid YAML");
}

TEST(Document, PlainScalarsFollowTheCoreSchema) {
  EXPECT_EQ(value_of("true"), Value(true));
  EXPECT_EQ(value_of("FALSE"), Value(false));
  EXPECT_EQ(value_of("yes"), Value("yes"));
  EXPECT_EQ(value_of("64"), Value(std::int64_t{64}));
  EXPECT_EQ(value_of("+7"), Value(std::int64_t{7}));
  EXPECT_EQ(value_of("-7"), Value(std::int64_t{-7}));
  EXPECT_EQ(value_of("010"), Value(std::int64_t{10}));
  EXPECT_EQ(value_of("0o17"), Value(std::int64_t{15}));
  EXPECT_EQ(value_of("0xFf"), Value(std::int64_t{255}));
  EXPECT_EQ(value_of("9223372036854775807"), Value(INT64_MAX));
  EXPECT_EQ(value_of("0.05"), Value(0.05));
  EXPECT_EQ(value_of(".5"), Value(0.5));
  EXPECT_EQ(value_of("5."), Value(5.0));
  EXPECT_EQ(value_of("+1e-3"), Value(0.001));
  EXPECT_EQ(value_of("1E3"), Value(1000.0));
  for (const char* word :
       {"1_000", "1e", "e5", ".", "-", "+", "0x", "0o8", "1.2.3", "--1", "12:30", "2GiB", "inf"})
    EXPECT_EQ(value_of(word), Value(std::string(word)));
}

TEST(Document, QuotedScalarsAreWords) {
  const auto [root, issues] = read("{a: '1', b: \"true\", c: \".nan\"}");
  for (const auto& entry : root->entries) EXPECT_EQ(meaning(entry.value).value, Value(entry.value.text));
}

TEST(Document, NumbersThatAreNoneAreRefused) {
  for (const char* bad :
       {".nan", ".NaN", ".inf", "-.Inf", "+.INF", "9223372036854775808", "1e999", "1e-999"}) {
    const auto means = meaning({.kind = Node::Kind::scalar, .text = bad});
    EXPECT_FALSE(means.value) << bad;
    EXPECT_FALSE(means.problem.empty()) << bad;
  }
}

}  // namespace
}  // namespace tandem::spec
