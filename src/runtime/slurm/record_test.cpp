#include "runtime/slurm/record.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::slurm {
namespace {

ExitRecord a_record() {
  ExitRecord record;
  record.mark = "tandem:r1:0:1:1";
  record.job = 17;
  record.node = "n0";
  record.signalled = true;
  record.status = 9;
  record.out_of_memory = 1;
  record.began = {100};
  record.ended = {101.5};
  return record;
}

TEST(Record, IsReadAsItWasWritten) {
  platform::TemporaryFolder folder;
  const auto file = folder.path() / "exit.json";
  EXPECT_FALSE(read_record(file, a_record().mark)) << "there is none yet";
  write_record(file, a_record());
  EXPECT_EQ(read_record(file, a_record().mark), a_record());
  EXPECT_FALSE(read_record(file, "tandem:r1:0:2:1")) << "another attempt's";
  struct stat about {};
  ASSERT_EQ(::stat(file.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
      << "nothing is left beside it";
}

TEST(Record, HalfOfOneIsNone) {
  platform::TemporaryFolder folder;
  const auto file = folder.path() / "exit.json";
  const std::string whole = to_json(a_record()).dump();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(file, std::ios::trunc) << whole.substr(0, size);
    EXPECT_FALSE(read_record(file, a_record().mark)) << size;
  }
}

TEST(Record, FieldsThatAreMissingOrOfAnotherKindMakeItNone) {
  const auto whole = to_json(a_record());
  ASSERT_TRUE(record_from_json(whole));
  for (const auto& [key, value] : whole.items()) {
    auto without = whole;
    without.erase(key);
    EXPECT_FALSE(record_from_json(without)) << key;
    auto wrong = whole;
    wrong[key] = nlohmann::json::array({1});
    EXPECT_FALSE(record_from_json(wrong)) << key;
  }
}

TEST(Record, WhatCannotBeWrittenIsAnError) {
  EXPECT_THROW(write_record("/proc/nowhere/exit.json", a_record()), SystemError);
}

}  // namespace
}  // namespace tandem::slurm
