#include "data/cifar.h"

#include "data/scratch_for_test.h"

namespace tandem::data {
namespace {

std::string row(int label, char pixel) {
  return std::string(1, static_cast<char>(label)) + std::string(3072, pixel);
}

TEST(Cifar, ReadsRows) {
  Part part;
  parse_cifar(bytes_of(row(3, '\0') + row(9, '\xff')), "x", part);
  EXPECT_EQ(part.count, 2);
  EXPECT_EQ(part.labels, (std::vector<std::int64_t>{3, 9}));
  ASSERT_EQ(part.values.size(), 2u * 3072);
  EXPECT_EQ(part.values.front(), 0.f);
  EXPECT_EQ(part.values.back(), 1.f);
}

TEST(Cifar, RefusesBadBytesAndKeepsThePart) {
  Part part;
  const auto refusal = [&](const std::string& bytes) {
    return complaint([&] { parse_cifar(bytes_of(bytes), "batch.bin", part); });
  };
  EXPECT_MENTIONS(refusal(""), "batch.bin: empty");
  EXPECT_MENTIONS(refusal(row(1, 'x').substr(1)), "truncated");
  EXPECT_MENTIONS(refusal(row(1, 'x') + "yy"), "2 left over");
  EXPECT_MENTIONS(refusal(row(1, 'x') + row(10, 'x')), "label 10 of row 1 (byte 3073)");
  EXPECT_EQ(part.count, 0);
  EXPECT_TRUE(part.labels.empty());
}

TEST(CifarFolder, JoinsBatchesInOrderOfName) {
  const Scratch scratch;
  scratch.write("cifar10/data_batch_2.bin", row(2, 'b'));
  scratch.write("cifar10/data_batch_1.bin.gz", gzip(row(1, 'a')));
  scratch.write("cifar10/test_batch.bin", row(7, 't'));
  scratch.write("cifar10/readme.html", "ignored");
  const Dataset dataset = load_cifar(scratch.path());
  EXPECT_EQ(dataset.train.labels, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(dataset.test.labels, (std::vector<std::int64_t>{7}));
  EXPECT_EQ(dataset.shape, (std::vector<std::int64_t>{3, 32, 32}));
  EXPECT_EQ(dataset.class_names[7], "horse");
}

TEST(CifarFolder, FallsBackToTheSubset) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.path() / "cifar10");
  scratch.write("cifar10-subset/data_batch.bin.gz", gzip(row(1, 'a')));
  scratch.write("cifar10-subset/test_batch.bin.gz", gzip(row(1, 'a')));
  EXPECT_MENTIONS(load_cifar(scratch.path()).source, "cifar10-subset");
}

TEST(CifarFolder, SaysWhatIsMissing) {
  const Scratch scratch;
  EXPECT_MENTIONS(complaint([&] { load_cifar(scratch.path()); }), "no data_batch*.bin[.gz]");
  scratch.write("cifar10/data_batch_1.bin", row(1, 'a'));
  EXPECT_MENTIONS(complaint([&] { load_cifar(scratch.path()); }), "test_batch.bin[.gz] is missing");
}

}  // namespace
}  // namespace tandem::data
