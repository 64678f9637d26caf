#include "adapter/filled.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tandem::adapter {
namespace {

using Words = std::vector<std::string>;

Given some() {
  spec::Program program;
  return given(program,
               {{"TANDEM_HYPER",
                 R"({"lr":0.05,"layers":[64,64],"optimizer":{"name":"sgd","deep":{"x":1}},"a.b":true})"},
                {"TANDEM_FOLDER", "/store/task-0"},
                {"TANDEM_EPOCHS", "9"},
                {"TANDEM_CORES", "2"}});
}

TEST(Filled, PlaceholdersBecomeValuesAndNothingElseChanges) {
  EXPECT_EQ(filled(Words{"python3", "train.py", "--lr={lr}", "{layers}", "{folder}/log", "{epochs}-{cores}",
                         "{file}"},
                   some()),
            (Words{"python3", "train.py", "--lr=0.05", "[64,64]", "/store/task-0/log", "9-2",
                   "/store/task-0/parameters.json"}));
  EXPECT_EQ(filled(Words{"{{lr}}", "${lr}", "{ print $1 }", "{1..3}", R"({"lr": {lr}})", "{", "}}"}, some()),
            (Words{"{lr}", "${lr}", "{ print $1 }", "{1..3}", R"({"lr": 0.05})", "{", "}}"}));
  EXPECT_EQ(filled(Words{"; rm -rf {lr} $(x)"}, some()), Words{"; rm -rf 0.05 $(x)"})
      << "one argument stays one";
}

TEST(Filled, GroupsAreReachedByTheirNames) {
  EXPECT_EQ(filled(Words{"{optimizer.name}", "{optimizer.deep.x}", "{a.b}", "{optimizer}"}, some()),
            (Words{"sgd", "1", "true", R"({"deep":{"x":1},"name":"sgd"})"}));
}

TEST(Filled, WhatDoesNotExistTakesItsOptionWithIt) {
  EXPECT_EQ(filled(Words{"go", "--momentum", "{momentum}", "--lr", "{lr}", "--m={momentum}", "last"}, some()),
            (Words{"go", "--lr", "0.05", "last"}));
  EXPECT_EQ(filled(Words{"go", "{momentum}", "--a=b", "{momentum}", "x"}, some()),
            (Words{"go", "--a=b", "x"}));
}

TEST(Filled, OutsideTandemThereAreDefaults) {
  const auto nothing = given(spec::Program{}, {});
  EXPECT_EQ(filled(Words{"{epochs}", "{seed}", "{cores}", "{folder}"}, nothing), (Words{"1", "1", "1", "."}));
  EXPECT_THROW(given(spec::Program{}, {{"TANDEM_HYPER", "[1]"}}), UserError);
}

TEST(ParameterFile, HoldsAllHyperparameters) {
  const auto hyper = nlohmann::json::parse(
      R"({"lr":1e-05,"big":1e22,"layers":[64,1e-07],"o":{"n":"sgd"},"none":null,"w":"yes"})");
  EXPECT_EQ(nlohmann::json::parse(parameter_file(hyper, "json")), hyper);
  EXPECT_EQ(parameter_file(hyper, "yaml"), R"("big": 1.0e+22
"layers": [64, 1.0e-07]
"lr": 1.0e-05
"none": null
"o": {"n": "sgd"}
"w": "yes"
)");
  EXPECT_EQ(parameter_file(nlohmann::json::object(), "yaml"), "{}\n");
}

TEST(ParameterFile, IsWrittenWhereTheCommandAsksForIt) {
  spec::Program program;
  program.command = {"go", "--config={file}"};
  EXPECT_FALSE(wants_file(program)) << "an old job's command is taken as it is";
  program.placeholders = true;
  EXPECT_TRUE(wants_file(program));
  program.command = {"go", "{{file}}"};
  EXPECT_FALSE(wants_file(program));
}

}  // namespace
}  // namespace tandem::adapter
