#include "base/text.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

const std::vector<std::string> kNames{"batch_size", "learning_rate", "epochs", "sgd"};

TEST(Text, SuggestsTheNearestName) {
  EXPECT_EQ(nearest("batchsize", kNames), "batch_size");
  EXPECT_EQ(nearest("learnig_rate", kNames), "learning_rate");
  EXPECT_EQ(nearest("epoch", kNames), "epochs");
  EXPECT_EQ(nearest("SGD", kNames), "sgd") << "capitals are a common slip";
  EXPECT_EQ(nearest("batch", kNames), "batch_size") << "a beginning is a good hint";
}

TEST(Text, SuggestsNothingWhenNothingIsNear) {
  EXPECT_FALSE(nearest("temperature", kNames));
  EXPECT_FALSE(nearest("x", {"y"})) << "no letter in common";
  EXPECT_FALSE(nearest("", kNames));
  EXPECT_FALSE(nearest("epochs", {}));
  EXPECT_FALSE(nearest(std::string(65, 'a'), {std::string(65, 'a')}));
}

TEST(Text, WrapsAtSpaces) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped("one two three", 6), (Lines{"one", "two", "three"}));
  EXPECT_EQ(wrapped("a/very/long/path and more", 8), (Lines{"a/very/long/path", "and more"})) << "kept whole";
  EXPECT_EQ(wrapped("\u00b1\u00b1\u00b1 \u00b1\u00b1\u00b1", 7),
            Lines{"\u00b1\u00b1\u00b1 \u00b1\u00b1\u00b1"})
      << "characters count, not bytes";
  EXPECT_EQ(wrapped(" two  spaces ", 80), Lines{"two spaces"});
  EXPECT_EQ(wrapped("", 10), Lines{""});
  EXPECT_EQ(wrapped("a b", 0), (Lines{"a", "b"}));
}

TEST(Text, DidYouMean) {
  EXPECT_EQ(did_you_mean("epoch", kNames), " (did you mean 'epochs'?)");
  EXPECT_EQ(did_you_mean("temperature", kNames), "");
}

TEST(Text, JoinKeepsEmptyParts) {
  EXPECT_EQ(join({}), "");
  EXPECT_EQ(join({"a", "b"}), "a, b");
  EXPECT_EQ(join({"", "b", ""}, "|"), "|b|");
}

TEST(Text, PrintableKeepsTextAndBreaksNothing) {
  EXPECT_EQ(printable("plain\ttext\n"), "plain\ttext\n");
  EXPECT_EQ(printable("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST(Text, PrintableDisarmsTerminalsAndBrokenBytes) {
  EXPECT_EQ(printable("\x1b[31m\x7f\r"), R"(\u001b[31m\u007f\u000d)");
  EXPECT_EQ(printable("\xc2\x9b"), R"(\u009b)") << "a one-character CSI";
  EXPECT_EQ(printable("\xff\xc3"), "??");
  EXPECT_EQ(printable("\xc3("), "?(");
  EXPECT_EQ(printable("\xe0\x80\x80"), "???") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "???") << "half a surrogate pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????") << "beyond Unicode";
}

TEST(Text, PrintableLetsNothingTurnTextAround) {
  for (const char* character : {"\xd8\x9c", "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xa9",
                                "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9"}) {
    const auto shown = printable(std::string("a") + character + "b");
    EXPECT_EQ(shown.size(), 8U) << shown;
    EXPECT_EQ(shown.substr(0, 3), "a\\u") << shown;
  }
  EXPECT_EQ(printable("\xe2\x80\xae"), R"(\u202e)");
  EXPECT_EQ(printable("\xe2\x80\x9c\xe2\x80\xaf"), "\xe2\x80\x9c\xe2\x80\xaf") << "their neighbours are text";
}

TEST(Text, PrintableLineIsOneLine) {
  EXPECT_EQ(printable_line("a\nb\tc\x1b"), R"(a\u000ab\u0009c\u001b)");
}

TEST(Text, KnowsWhatIsStillToCome) {
  EXPECT_EQ(unfinished_bytes(""), 0U);
  EXPECT_EQ(unfinished_bytes("plain"), 0U);
  EXPECT_EQ(unfinished_bytes("x\xc2"), 1U);
  EXPECT_EQ(unfinished_bytes("x\xe2\x80"), 2U);
  EXPECT_EQ(unfinished_bytes("x\xf0\x9f\x98"), 3U);
  EXPECT_EQ(unfinished_bytes("x\xe2\x80\xae"), 0U);
  EXPECT_EQ(unfinished_bytes("\x80\x80\x80\x80"), 0U) << "nothing began";
}

TEST(Text, PrintableCutsLongText) {
  EXPECT_EQ(printable("abcdef", 3), "abc...");
  EXPECT_EQ(printable("abc", 3), "abc");
}

}  // namespace
}  // namespace tandem
