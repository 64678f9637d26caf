#include "runtime/local/templates.h"

#include <gtest/gtest.h>

#include "platform/temporary.h"

namespace tandem::local {
namespace {

using Words = std::vector<std::string>;

TEST(PythonScript, IsAnInterpreterItsOptionsAndAFile) {
  const auto found = python_script({"/usr/bin/python3.11", "-u", "-W", "error", "train.py", "-u", "a b"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->interpreter, (Words{"/usr/bin/python3.11", "-u", "-W", "error"}));
  EXPECT_EQ(found->script, "train.py");
  EXPECT_EQ(found->arguments, (Words{"-u", "a b"}));
}

TEST(PythonScript, EverythingElseStartsCold) {
  for (const Words& command : {Words{}, {"python3"}, {"python3", "-c", "print()"}, {"python3", "-m", "train"},
                               {"python3", "train"}, {"python3", "-"}, {"python3", "-I", "train.py"}, {"python3", "-X"},
                               {"pythonic", "train.py"}, {"python-config", "train.py"}, {"./train.py"},
                               {"bash", "train.py"}})
    EXPECT_FALSE(python_script(command)) << (command.empty() ? "" : command.front());
}

class TemplatesTest : public testing::Test {
 protected:
  TemplatesTest() {
    launch_.arguments = program_.command = {"python3", "train.py"};
    program_.preload = {"auto"};
    launch_.environment = {{"TANDEM_HYPER", "{}"}, {"OMP_NUM_THREADS", "2"}, {"LANG", "C"}};
    launch_.base = Words{"PATH=/bin"};
    launch_.inherited = 7;
  }
  std::string kind() { return templates_.kind_of(launch_, program_); }

  platform::TemporaryFolder folder_;
  Templates templates_{{"run", folder_.path(), "/keeper", {0}}};
  platform::Launch launch_;
  spec::Program program_;
};

TEST_F(TemplatesTest, AKindIsAScriptWithItsEnvironmentButForWhatEachStartHasOfItsOwn) {
  const auto one = kind();
  ASSERT_NE(one, "");
  launch_.environment["TANDEM_HYPER"] = "{\"x\": 1}";
  launch_.environment["OMP_NUM_THREADS"] = "1";
  launch_.arguments.push_back("--lr");
  launch_.mark = "another";
  EXPECT_EQ(kind(), one);
  launch_.environment["LANG"] = "C.UTF-8";
  const auto other = kind();
  EXPECT_NE(other, one);
  launch_.folder = "/tmp";
  EXPECT_NE(kind(), other);
}

TEST_F(TemplatesTest, WhatCannotBeForkedHasNone) {
  program_.preload = {"off"};
  EXPECT_EQ(kind(), "");
  program_.preload = {"torch"};
  EXPECT_NE(kind(), "");
  launch_.inherited = -1;  // a plain program
  EXPECT_EQ(kind(), "");
  launch_.inherited = 7;
  launch_.as.emplace();
  EXPECT_EQ(kind(), "");
  launch_.as.reset();
  launch_.environment["NAME"] = "\xff";
  EXPECT_EQ(kind(), "");
}

TEST_F(TemplatesTest, WithoutAKeeperNothingIsForked) {
  Templates none({"run", folder_.path(), "", {0}});
  EXPECT_EQ(none.kind_of(launch_, program_), "");
}

TEST_F(TemplatesTest, WhatIsLoadedIsLearnedOnce) {
  const auto one = kind();
  EXPECT_TRUE(templates_.wants_to_learn(one));
  EXPECT_FALSE(templates_.fork(one, launch_));
  templates_.learned(one, R"({"folder": "/sdk", "modules": [], "environment": {}})");
  EXPECT_FALSE(templates_.wants_to_learn(one));
  EXPECT_EQ(templates_.news_of(one), "it imports nothing but what comes with Python");
  EXPECT_EQ(templates_.news_of(one), "");
  EXPECT_FALSE(templates_.fork(one, launch_));
}

TEST_F(TemplatesTest, NonsenseStartsCold) {
  for (const char* said : {R"({"folder": 1, "modules": []})", R"({"folder": "/sdk"})", R"({"folder": "/sdk", "modules": {}})"}) {
    launch_.environment["LANG"] += "x";
    const auto one = kind();
    templates_.learned(one, said);
    EXPECT_NE(templates_.news_of(one), "") << said;
    EXPECT_FALSE(templates_.fork(one, launch_));
  }
}

}  // namespace
}  // namespace tandem::local
