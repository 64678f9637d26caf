#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "spec/field.h"
#include "spec/parse.h"
#include "spec/sample_catalogue.h"

namespace tandem::spec {
namespace {

using nlohmann::json;

const json kSchema = schema(sample_catalogue());

TEST(Schema, IsDraft2020AndClosed) {
  EXPECT_EQ(kSchema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(kSchema["type"], "object");
  EXPECT_EQ(kSchema["required"], (json{"kind", "program"}));
  EXPECT_EQ(kSchema["additionalProperties"], false);
  for (const char* table : {"program", "system", "limits", "checkpoints", "energy"})
    EXPECT_EQ(kSchema["properties"][table]["additionalProperties"], false) << table;
}

TEST(Schema, HasEveryKeyOfTheTableWithItsDescription) {
  for (const auto& field : train_fields(sample_catalogue())) {
    const json& written = kSchema["properties"][field.name];
    EXPECT_EQ(written["description"], field.description);
    for (const auto& inner : field.fields)
      EXPECT_EQ(written["properties"][inner.name]["description"], inner.description);
  }
}

TEST(Schema, NamesModelsDatasetsAndDefaults) {
  const json& program = kSchema["properties"]["program"];
  EXPECT_EQ(program["properties"]["model"]["enum"], (json{"lenet5", "lstm", "jacobi"}));
  EXPECT_EQ(program["properties"]["dataset"]["enum"], (json{"digits", "mnist", "debian", "kernels"}));
  EXPECT_EQ(program["oneOf"].size(), 2u);
  EXPECT_EQ(kSchema["properties"]["system"]["properties"]["cores"]["default"], 1);
  EXPECT_EQ(kSchema["properties"]["system"]["properties"]["cores"]["minimum"], 1);
  EXPECT_EQ(kSchema["properties"]["limits"]["properties"]["stall"]["default"], "10min");
}

TEST(Schema, OffersTheHyperparametersOfAllModels) {
  const json& hyper = kSchema["properties"]["hyper"]["properties"];
  for (const char* name : {"epochs", "batch_size", "learning_rate", "dropout", "optimizer", "nesterov"})
    EXPECT_TRUE(hyper.contains(name)) << name;
}

TEST(Schema, NarrowsHyperparametersAndDatasetsToTheModel) {
  const json& lstm = kSchema["allOf"][1];
  EXPECT_EQ(lstm["if"]["properties"]["program"]["properties"]["model"]["const"], "lstm");
  const json& then = lstm["then"]["properties"];
  EXPECT_EQ(then["program"]["properties"]["dataset"]["enum"], json{"debian"});
  EXPECT_EQ(then["hyper"]["additionalProperties"], false);
  EXPECT_TRUE(then["hyper"]["properties"].contains("epochs"));
  EXPECT_FALSE(then["hyper"]["properties"].contains("dropout"));
  EXPECT_EQ(then["hyper"]["properties"]["batch_size"]["maximum"], 65536);
}

TEST(Schema, HasAModelsOwnRuleForEpochs) {
  const json& epochs = kSchema["allOf"][2]["then"]["properties"]["hyper"]["properties"]["epochs"];
  EXPECT_EQ(epochs["maximum"], 500);
  EXPECT_EQ(epochs["default"], 50);
}

// The schema and the parser must agree on every unit.
TEST(Schema, QuantityPatternsAcceptWhatTheParserAccepts) {
  for (const auto& [path, prefix] :
       {std::pair("memory", "system"), std::pair("stall", "limits"), std::pair("busy", "energy")}) {
    const json& field = kSchema["properties"][prefix]["properties"][path];
    const std::regex pattern(field["pattern"].get<std::string>());
    for (const char* unit : {"B", "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "TB", "us", "ms",
                             "s", "sec", "m",   "min", "h",   "d",  "mW", "W",  "kW", "",   "x"}) {
      for (const char* number : {"2", "1.5 ", ".5", "1e1", "-1", "two"}) {
        const std::string written = number + std::string(unit);
        const bool parses = std::string(path) == "memory"  ? parse_bytes(written).has_value()
                            : std::string(path) == "stall" ? parse_seconds(written).has_value()
                                                           : parse_watts(written).has_value();
        EXPECT_EQ(std::regex_match(written, pattern), parses) << path << ": " << written;
      }
    }
  }
}

TEST(Schema, OfAnEmptyCatalogueStillStands) {
  EXPECT_FALSE(schema(Catalogue{}).contains("allOf"));
}

TEST(Describe, NamesEveryKey) {
  const std::string help = describe_train();
  for (const char* words :
       {"kind ", "program.model", "program.command", "hyper.epochs", "system.memory", "limits.stall",
        "checkpoints.keep", "energy.source", "default: 10min", "default: no limit", "required",
        "a size such as 2GiB", "at least 1 and at most 65536"})
    EXPECT_NE(help.find(words), std::string::npos) << words;
}

TEST(Describe, TheExampleIsAGoodSpec) {
  const auto result = parse_train(example_train(), "example", sample_catalogue());
  EXPECT_TRUE(result.job) << (result.issues.empty() ? "" : text(result.issues[0]));
}

}  // namespace
}  // namespace tandem::spec
