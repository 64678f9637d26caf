#include "data/text.h"

#include <gtest/gtest.h>

#include "data/debian.h"
#include "data/newsgroups.h"
#include "data/scratch_for_test.h"

namespace tandem::data {
namespace {

using Words = std::vector<std::string>;

TEST(Words, AreLowerCaseRunsOfLettersAndDigits) {
  EXPECT_EQ(words_of("Libfoo-2.0, the (GREAT) caf\xc3\xa9!"),
            (Words{"libfoo", "2", "0", "the", "great", "caf"}));
  EXPECT_EQ(words_of(""), Words{});
}

TEST(EncodeText, FrequentWordsFirstRareOnesUnknown) {
  const std::vector<TextSample> train = {{{"b", "a", "b"}, 0}, {{"a", "b", "once"}, 1}};
  const std::vector<TextSample> test = {{{"new", "a", "b", "b", "a"}, 1}};
  Dataset dataset;
  encode_text(train, test, {.vocabulary = 10, .length = 4, .rarest = 2}, dataset);
  EXPECT_EQ(dataset.words, (Words{"<pad>", "<unknown>", "b", "a"}));
  EXPECT_EQ(dataset.train.tokens, (std::vector<std::int64_t>{2, 3, 2, 0, 3, 2, 1, 0}));
  EXPECT_EQ(dataset.test.tokens, (std::vector<std::int64_t>{1, 3, 2, 2}));
  EXPECT_EQ(dataset.shape, (std::vector<std::int64_t>{4}));
}

TEST(EncodeText, VocabularyIsCapped) {
  Dataset dataset;
  encode_text({{{"a", "b", "c", "c"}, 0}}, {}, {.vocabulary = 4, .length = 2, .rarest = 1}, dataset);
  EXPECT_EQ(dataset.words, (Words{"<pad>", "<unknown>", "c", "a"}));
}

TEST(MessageText, KeepsSubjectAndBody) {
  EXPECT_EQ(message_text("From: a@b\nSubject: hello\nNewsgroups: sci.med\n\nBody: text\n"),
            " hello\nBody: text\n");
  EXPECT_EQ(message_text("no header here\n\nat all"), "no header here\n\nat all");
  EXPECT_EQ(message_text(""), "");
}

class Newsgroups : public testing::Test {
 protected:
  void write_class(const std::string& folder, int files) {
    for (int i = 0; i < files; ++i) {
      scratch.write(folder + "/" + std::to_string(i),
                    "Subject: s\n\nword" + std::to_string(i % 3) + " common\n");
    }
  }
  Scratch scratch;
};

TEST_F(Newsgroups, ReadsTheByDateFolders) {
  write_class("20news-bydate-train/sci.med", 3);
  write_class("20news-bydate-train/alt.x", 4);
  write_class("20news-bydate-test/sci.med", 1);
  write_class("20news-bydate-test/alt.x", 2);
  const Dataset dataset = load_newsgroups(scratch.path());
  EXPECT_EQ(dataset.class_names, (Words{"alt.x", "sci.med"}));
  EXPECT_EQ(dataset.train.labels, (std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(dataset.test.count, 3);
  EXPECT_EQ(dataset.train.tokens.size(), 7u * static_cast<std::size_t>(dataset.shape[0]));
}

TEST_F(Newsgroups, SplitsTheSingleFolderTheSameEveryTime) {
  write_class("newsgroups/20news/a", 40);
  write_class("newsgroups/20news/b", 40);
  const Dataset dataset = load_newsgroups(scratch.path());
  EXPECT_EQ(dataset.train.count + dataset.test.count, 80);
  EXPECT_GT(dataset.test.count, 4);
  EXPECT_LT(dataset.test.count, 40);
  EXPECT_EQ(load_newsgroups(scratch.path()).test.tokens, dataset.test.tokens);
}

TEST_F(Newsgroups, RefusesAbsentEmptyAndMismatchedFolders) {
  const auto refusal = [&] { return complaint([&] { load_newsgroups(scratch.path()); }); };
  EXPECT_MENTIONS(refusal(), "unpack 20-newsgroups there");
  std::filesystem::create_directories(scratch.path() / "20news");
  EXPECT_MENTIONS(refusal(), "0 folders of messages");
  write_class("20news/a", 5);
  std::filesystem::create_directories(scratch.path() / "20news/b");
  EXPECT_MENTIONS(refusal(), "20news/b: no messages");
  write_class("20news-bydate-train/a", 2);
  write_class("20news-bydate-train/b", 2);
  write_class("20news-bydate-test/a", 2);
  EXPECT_MENTIONS(refusal(), "not the same groups");
}

TEST(Packages, ParagraphsBecomePackages) {
  const auto packages = parse_packages(
      "Package: tool\nDepends: libc6\nSection: contrib/games\nDescription: a toy\n with more\n .\n\n"
      "Package: nameless-section\nDescription: left out\n\n"
      "garbage without colon\nPackage: last\nSection: net\nDescription: at the end");
  ASSERT_EQ(packages.size(), 2u);
  EXPECT_EQ(packages[0].name, "tool");
  EXPECT_EQ(packages[0].section, "games");
  EXPECT_EQ(packages[0].description, "a toy with more .");
  EXPECT_EQ(packages[1].description, "at the end");
}

std::string many_packages(const std::string& section, int count, const std::string& description) {
  std::string list;
  for (int i = 0; i < count; ++i) {
    list += "Package: " + section + std::to_string(i) + "\nSection: " + section +
            "\nDescription: " + description + "\n\n";
  }
  return list;
}

class Debian : public testing::Test {
 protected:
  DebianOptions options() const {
    return {
        .lists = scratch.path() / "lists", .status = scratch.path() / "status", .sections = 2, .fewest = 20};
  }
  Scratch scratch;
};

TEST_F(Debian, TheMostFrequentSectionsAreTheClasses) {
  scratch.write("lists/a_Packages.gz",
                gzip(many_packages("games", 40, "a game") + many_packages("net", 30, "a net")));
  scratch.write("lists/b_Packages",
                many_packages("doc", 60, "a manual") + many_packages("games", 40, "repeated"));
  const Dataset dataset = load_debian(options());
  EXPECT_EQ(dataset.class_names, (Words{"doc", "games"}));
  EXPECT_EQ(dataset.train.count + dataset.test.count, 100);
  EXPECT_GT(dataset.test.count, 5);
  EXPECT_MENTIONS(dataset.source, "2 package lists");
  EXPECT_EQ(load_debian(options()).train.tokens, dataset.train.tokens);
}

TEST_F(Debian, KeepsAtMostTheAskedNumber) {
  scratch.write("lists/a_Packages", many_packages("doc", 60, "a") + many_packages("games", 60, "b"));
  auto fewer = options();
  fewer.packages = 50;
  const Dataset dataset = load_debian(fewer);
  EXPECT_EQ(dataset.train.count + dataset.test.count, 50);
}

TEST_F(Debian, FallsBackToInstalledPackagesAndSaysSo) {
  scratch.write("lists/a_Packages.xz", "unread");
  EXPECT_EQ(find_debian_lists(options()).unreadable, 1u);
  scratch.write("status", many_packages("doc", 30, "a") + many_packages("net", 30, "b"));
  EXPECT_MENTIONS(load_debian(options()).source, "installed packages only");
}

TEST_F(Debian, RefusesTooLittle) {
  const auto refusal = [&] { return complaint([&] { load_debian(options()); }); };
  EXPECT_MENTIONS(refusal(), "apt-get update");
  scratch.write("lists/a_Packages", many_packages("doc", 30, "a") + many_packages("net", 3, "b"));
  EXPECT_MENTIONS(refusal(), "33 packages, too few");
}

TEST_F(Debian, NamesTheBrokenList) {
  const std::string packed = gzip(many_packages("doc", 30, "a"));
  scratch.write("lists/a_Packages.gz", packed.substr(0, packed.size() / 2));
  EXPECT_MENTIONS(complaint([&] { load_debian(options()); }), "a_Packages.gz");
}

}  // namespace
}  // namespace tandem::data
