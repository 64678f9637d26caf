#include "data/idx.h"

#include "data/scratch_for_test.h"

namespace tandem::data {
namespace {

std::string images(std::uint32_t count, std::uint32_t height, std::uint32_t width,
                   const std::string& pixels) {
  return big32(0x803) + big32(count) + big32(height) + big32(width) + pixels;
}

std::string labels(std::uint32_t count, const std::string& body) {
  return big32(0x801) + big32(count) + body;
}

std::string image_refusal(const std::string& bytes) {
  return complaint([&] { parse_idx_images(bytes_of(bytes), "some.idx"); });
}

std::string label_refusal(const std::string& bytes) {
  return complaint([&] { parse_idx_labels(bytes_of(bytes), "some.idx", 10); });
}

TEST(IdxImages, ScalesPixelsToOne) {
  const auto parsed = parse_idx_images(bytes_of(images(2, 1, 2, std::string("\x00\xff\x33\x00", 4))), "x");
  EXPECT_EQ(parsed.count, 2);
  EXPECT_EQ(parsed.height, 1);
  EXPECT_EQ(parsed.width, 2);
  EXPECT_EQ(parsed.values, (std::vector<float>{0, 1, 0.2f, 0}));
}

TEST(IdxImages, RefusesWhatTheHeaderDoesNotPromise) {
  EXPECT_MENTIONS(image_refusal(""), "only 0 bytes");
  EXPECT_MENTIONS(image_refusal("\x89PNG and more than sixteen"), "opens with 0x89504e47");
  EXPECT_MENTIONS(image_refusal(labels(10, std::string(10, '\1'))), "expected 0x00000803");
  EXPECT_MENTIONS(image_refusal(images(2, 2, 2, "1234567")), "truncated");
  EXPECT_MENTIONS(image_refusal(images(2, 2, 2, "123456789")), "trailing garbage");
  EXPECT_MENTIONS(image_refusal(images(0, 28, 28, "")), "no images");
  EXPECT_MENTIONS(image_refusal(images(1, 0, 28, "")), "0 x 28");
}

TEST(IdxImages, AbsurdSizesAreRefusedBeforeAllocating) {
  EXPECT_MENTIONS(image_refusal(images(0xffffffff, 4096, 4096, "few")), "truncated");
  EXPECT_MENTIONS(image_refusal(images(1, 0xffffffff, 0xffffffff, "few")), "4294967295 x 4294967295");
  EXPECT_MENTIONS(image_refusal(images(0x40000000, 2, 2, "")),
                  "4294967296 bytes");  // 32 bits would wrap to 0
}

TEST(IdxLabels, RefusesBadCountsAndLabels) {
  EXPECT_EQ(parse_idx_labels(bytes_of(labels(3, std::string("\x00\x09\x04", 3))), "x", 10),
            (std::vector<std::int64_t>{0, 9, 4}));
  EXPECT_MENTIONS(label_refusal(labels(2, std::string("\x00\x0a", 2))), "label 10 of item 1 (byte 9)");
  EXPECT_MENTIONS(label_refusal(labels(3, std::string(2, '\0'))), "truncated");
  EXPECT_MENTIONS(label_refusal(labels(0xffffffff, "")), "4294967295 bytes");
  EXPECT_MENTIONS(label_refusal(images(1, 1, 1, "x")), "expected 0x00000801");
}

class IdxFolder : public testing::Test {
 protected:
  IdxFolder() {
    scratch.write("train-images-idx3-ubyte", images(2, 2, 2, "abcdefgh"));
    scratch.write("train-labels-idx1-ubyte.gz", gzip(labels(2, std::string("\x00\x01", 2))));
    scratch.write("t10k-images-idx3-ubyte.gz", gzip(images(1, 2, 2, "abcd")));
    scratch.write("t10k-labels-idx1-ubyte", labels(1, std::string("\x01", 1)));
  }
  Dataset load() { return load_idx("small", scratch.path(), {"no", "yes"}); }
  Scratch scratch;
};

TEST_F(IdxFolder, ReadsPlainAndGzipTogether) {
  const Dataset dataset = load();
  EXPECT_EQ(dataset.shape, (std::vector<std::int64_t>{1, 2, 2}));
  EXPECT_EQ(dataset.classes, 2);
  EXPECT_EQ(dataset.train.count, 2);
  EXPECT_EQ(dataset.train.values.size(), 8u);
  EXPECT_EQ(dataset.test.labels, (std::vector<std::int64_t>{1}));
  EXPECT_MENTIONS(dataset.source, scratch.path().string());
}

TEST_F(IdxFolder, SaysWhichFilesAreAbsent) {
  std::filesystem::remove(scratch.path() / "t10k-labels-idx1-ubyte");
  EXPECT_MENTIONS(complaint([&] { load(); }),
                  "t10k-labels-idx1-ubyte[.gz] not in " + scratch.path().string());
}

TEST_F(IdxFolder, RefusesImagesAndLabelsThatDoNotMatch) {
  scratch.write("t10k-labels-idx1-ubyte", labels(2, std::string("\x01\x01", 2)));
  EXPECT_MENTIONS(complaint([&] { load(); }), "2 labels, but");
}

TEST_F(IdxFolder, RefusesTestImagesOfAnotherSize) {
  scratch.write("t10k-images-idx3-ubyte.gz", gzip(images(1, 2, 3, "abcdef")));
  EXPECT_MENTIONS(complaint([&] { load(); }), "2 x 3");
}

TEST_F(IdxFolder, NamesTheTruncatedGzip) {
  const std::string packed = gzip(images(1, 2, 2, "abcd"));
  scratch.write("t10k-images-idx3-ubyte.gz", packed.substr(0, packed.size() - 3));
  const std::string said = complaint([&] { load(); });
  EXPECT_MENTIONS(said, "t10k-images-idx3-ubyte.gz");
  EXPECT_MENTIONS(said, "ends early");
}

}  // namespace
}  // namespace tandem::data
