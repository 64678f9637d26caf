#include "runtime/bags/words.h"

#include <gtest/gtest.h>

#include <fstream>

#include "platform/temporary.h"

namespace tandem::bags {
namespace {

TEST(Words, AreRunsOfLettersAndDigits) {
  WordCounts counts;
  count_words("a cat, a  hat -- c++20 na\xc3\xafve cat", counts);
  const WordCounts expected{{"a", 2}, {"cat", 2}, {"hat", 1}, {"c", 1}, {"20", 1}, {"na\xc3\xafve", 1}};
  EXPECT_EQ(counts, expected);
}

TEST(Pieces, TogetherAreTheTextAndCutNoWord) {
  const std::string text = generated_text(5000, 1) + " " + std::string(400, 'x') + " end";
  WordCounts whole;
  count_words(text, whole);
  for (const int tasks : {1, 2, 7, 50, 1000}) {
    std::string all;
    WordCounts parts;
    for (int task = 0; task < tasks; ++task) {
      all += piece(text, task, tasks);
      count_words(piece(text, task, tasks), parts);
    }
    EXPECT_EQ(all, text);
    EXPECT_EQ(parts, whole) << tasks;
  }
}

TEST(GeneratedText, IsTheSameForTheSameSeedAndOfAPowerLaw) {
  const std::string text = generated_text(200'000, 7);
  EXPECT_EQ(text.size(), 200'000u);
  EXPECT_EQ(text, generated_text(200'000, 7));
  EXPECT_NE(text, generated_text(200'000, 8));
  WordCounts counts;
  count_words(text, counts);
  EXPECT_GT(counts["w1"], 5 * counts["w50"]);
  EXPECT_GT(counts["w50"], 0u);
}

TEST(Documents, AreTheTextFilesInSmallLetters) {
  const platform::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "b");
  std::ofstream(folder.path() / "b" / "second") << "Hat";
  std::ofstream(folder.path() / "a") << "A Cat";
  std::ofstream(folder.path() / "binary") << std::string("x\0y", 3);
  const auto found = collect_documents(folder.path(), 9, 1);
  EXPECT_EQ(found.text, "a cat\nhat");
  EXPECT_EQ(found.files, 2u);
  EXPECT_FALSE(found.generated);
}

TEST(Documents, ThatAreTooFewAreReplacedAndItIsSaid) {
  const platform::TemporaryFolder folder;
  std::ofstream(folder.path() / "a") << "A Cat";
  const auto found = collect_documents(folder.path(), 1000, 3);
  EXPECT_TRUE(found.generated);
  EXPECT_EQ(found.text, generated_text(1000, 3));
  EXPECT_TRUE(collect_documents(folder.path() / "absent", 10, 1).generated);
}

}  // namespace
}  // namespace tandem::bags
