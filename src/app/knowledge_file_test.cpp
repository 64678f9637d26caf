#include "app/knowledge_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/complaint_for_test.h"
#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::app {
namespace {

class KnowledgeFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    const auto file = folder_.path() / "known.json";
    std::ofstream(file) << text;
    return file;
  }
  platform::TemporaryFolder folder_{"tandem-knowledge-test"};
  store::Store store_{folder_.path() / "store"};
};

TEST_F(KnowledgeFile, WhatWasExportedIsImportedOnce) {
  KnownWorkload known;
  known.machine = "here";
  known.batch = 64;
  known.reference = {2, 0, 1.0};
  known.measured.push_back({{2, 0, 1.0}, 0.5, std::nullopt, 3});
  const auto file = write(knowledge_json({known}).dump());
  EXPECT_EQ(import_knowledge(store_, file, Seconds{1}), 1u);
  EXPECT_EQ(import_knowledge(store_, file, Seconds{2}), 1u);
  EXPECT_EQ(knowledge_json(store_.knowledge("", {}, 100)), knowledge_json({known})) << "the second time added nothing";
}

TEST_F(KnowledgeFile, AnythingElseIsRefusedByName) {
  for (const char* text : {"", "[1]", "{\"tandem_knowledge\": 2, \"works\": []}", "{\"tandem_knowledge\": 1}",
                           "{\"tandem_knowledge\": 1, \"works\": [{\"batch\": \"many\"}]}"}) {
    const auto file = write(text);
    EXPECT_NE(complaint([&] { import_knowledge(store_, file, Seconds{1}); }).find(file), std::string::npos) << text;
  }
  EXPECT_THROW(import_knowledge(store_, folder_.path() / "absent", Seconds{1}), UserError);
  EXPECT_TRUE(store_.knowledge("", {}, 100).empty());
}

}  // namespace
}  // namespace tandem::app
