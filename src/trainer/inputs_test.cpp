#include "trainer/inputs.h"

#include <fstream>

#include "base/error.h"
#include "trainer/testing.h"

namespace tandem::trainer {
namespace {

using namespace std::string_literals;

ModelCard card_of(data::Kind kind, std::vector<std::int64_t> shape) {
  ModelCard card;
  card.kind = kind;
  card.shape = std::move(shape);
  card.words = {"<pad>", "<unknown>", "hello", "world"};
  return card;
}

const ModelCard kImage = card_of(data::Kind::image, {1, 2, 3});

TEST(Inputs, PgmAsTextAndAsBytesAreTheSame) {
  const data::Part plain = parse_pgm("P2\n# a comment\n3 2\n10\n0 1 2\n5 9 10\n", "f", kImage);
  const data::Part bytes = parse_pgm("P5 3 2 10\n\0\1\2\5\11\12"s, "f", kImage);
  const data::Part wide = parse_pgm("P5 3 2 1000\n\0\0\0\144\0\310\1\364\3\204\3\350"s, "f", kImage);
  const std::vector<float> expected{0, 0.1F, 0.2F, 0.5F, 0.9F, 1};
  EXPECT_EQ(plain.values, expected);
  EXPECT_EQ(bytes.values, expected);
  EXPECT_EQ(wide.values, expected);
}

TEST(Inputs, BadPgmIsRefused) {
  for (const std::string& bad : {"P2"s, "P2 3"s, "P2 3 2 0 1 1 1 1 1 1"s, "P2 3 2 10 0 1 2 5 9"s,
                                 "P2 3 2 10 0 1 2 5 9 11"s, "P5 3 2 255\nabc"s, "P2 4 2 10 0 0 0 0 0 0 0 0"s,
                                 "P2 -3 2 10 0"s, "P2 99999999999999999999 2 10"s, "P2 # no end"s})
    EXPECT_THROW(parse_pgm(bad, "f", kImage), UserError) << bad;
}

TEST(Inputs, CsvRowsWithAndWithoutNames) {
  const ModelCard card = card_of(data::Kind::table, {2});
  const data::Part part = parse_csv("size,threads\r\n1, 2.5\r\n\r\n-3e2,4\n", "f", card);
  EXPECT_EQ(part.count, 2);
  EXPECT_EQ(part.values, (std::vector<float>{1, 2.5F, -300, 4}));
}

TEST(Inputs, BadCsvIsRefusedWithItsLine) {
  const ModelCard card = card_of(data::Kind::table, {2});
  for (const char* bad :
       {"", "a,b\n", "1,2\n3,x\n", "1,2\n3\n", "1,2\n1,2,3\n", "1,nan\n", "1,inf\n", "a,b\nc,d\n"})
    EXPECT_THROW(parse_csv(bad, "f", card), UserError) << bad;
  try {
    parse_csv("1,2\n3,x\n", "rows.csv", card);
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("rows.csv:2"), std::string::npos) << error.what();
  }
}

TEST(Inputs, TextIsReadAsInTraining) {
  const ModelCard card = card_of(data::Kind::text, {4});
  EXPECT_EQ(parse_text("Hello, strange WORLD", card).tokens, (std::vector<std::int64_t>{2, 1, 3, 0}));
  EXPECT_EQ(parse_text("world world world world world", card).tokens.size(), 4U);
}

TEST(Inputs, FilesAreReadByTheModelsKind) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "image.pgm") << "P2 3 2 1 0 0 1 1 0 0";
  EXPECT_EQ(read_samples(folder.path() / "image.pgm", kImage).count, 1);
  std::ofstream(folder.path() / "images.idx") << "\0\0\10\3\0\0\0\1\0\0\0\2\0\0\0\3\0\1\2\3\4\5"s;
  EXPECT_EQ(read_samples(folder.path() / "images.idx", kImage).count, 1);
  std::ofstream(folder.path() / "rows.csv") << "1,2\n";
  EXPECT_EQ(read_samples(folder.path() / "rows.csv", card_of(data::Kind::table, {2})).count, 1);
  EXPECT_THROW(read_samples(folder.path() / "absent", kImage), UserError);
  EXPECT_THROW(read_samples(folder.path() / "rows.csv", kImage), UserError);
}

}  // namespace
}  // namespace tandem::trainer
