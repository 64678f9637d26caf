#include "app/output_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/complaint_for_test.h"
#include "platform/temporary.h"

namespace tandem::app {
namespace {

class OutputFile : public testing::Test {
 protected:
  std::string refused(const std::string& file) {
    return complaint([&] { require_folder_of(file, "--trace"); });
  }
  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }
  platform::TemporaryFolder folder_{"tandem-output"};
};

TEST_F(OutputFile, WhereItCannotBeIsSaidBeforeAnythingSlow) {
  EXPECT_TRUE(mentions(refused("-"), "'-' is not one"));
  EXPECT_TRUE(mentions(refused(at("none/x.csv")), "there is no folder " + at("none")));
  EXPECT_TRUE(mentions(refused(at("")), "is a folder; give a file"));
  for (const auto& fine : {std::string(), std::string("x.csv"), at("x.csv")}) require_folder_of(fine, "--trace");
  EXPECT_FALSE(std::filesystem::exists(at("x.csv"))) << "nothing is made yet";
}

TEST_F(OutputFile, IsWrittenAsItIsInPlaceOfWhatWasThere) {
  std::ofstream(at("x")) << "something longer that was there before";
  const std::string text("a\n\0b\r\n", 6);
  write_file(at("x"), text);
  std::ifstream in(at("x"), std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text);
}

TEST_F(OutputFile, WhatCannotBeWrittenIsNeverSaidToBe) {
  EXPECT_TRUE(mentions(complaint([&] { write_file(at("none/x"), "a"); }), "cannot write"));
  EXPECT_THROW(write_file("/dev/full", "a"), SystemError) << "the disk is full";
}

}  // namespace
}  // namespace tandem::app
