#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "spec/field.h"
#include "spec/parse.h"
#include "spec/parse_sim.h"
#include "spec/sample_catalogue.h"

namespace tandem::spec {
namespace {

using nlohmann::json;

const json kWhole = schema(sample_catalogue());
const json kSchema = kWhole["$defs"]["train"];
const json kTune = kWhole["$defs"]["tune"];

TEST(Schema, IsDraft2020AndChoosesByKind) {
  EXPECT_EQ(kWhole["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(kWhole["type"], "object");
  EXPECT_EQ(kWhole["required"], json{"kind"});
  EXPECT_EQ(kWhole["properties"]["kind"]["enum"], (json{"train", "tune", "characterize", "sim", "cluster"}));
  EXPECT_EQ(kWhole["if"]["properties"]["kind"]["const"], "tune");
  EXPECT_EQ(kWhole["then"]["$ref"], "#/$defs/tune");
  const json& other = kWhole["else"];
  EXPECT_EQ(other["if"]["properties"]["kind"]["const"], "sim");
  EXPECT_EQ(other["then"]["$ref"], "#/$defs/sim");
  EXPECT_EQ(other["else"]["then"]["$ref"], "#/$defs/cluster");
  EXPECT_EQ(other["else"]["else"]["if"]["properties"]["kind"]["const"], "characterize");
  EXPECT_EQ(other["else"]["else"]["then"]["$ref"], "#/$defs/characterize");
  EXPECT_EQ(other["else"]["else"]["else"]["$ref"], "#/$defs/train");
  EXPECT_EQ(kSchema["properties"]["kind"]["enum"], json{"train"});
  EXPECT_EQ(kTune["properties"]["kind"]["enum"], json{"tune"});
}

TEST(Schema, IsClosed) {
  for (const auto& schema : {kSchema, kTune}) {
    EXPECT_EQ(schema["type"], "object");
    EXPECT_EQ(schema["required"], (json{"kind", "program"}));
    EXPECT_EQ(schema["additionalProperties"], false);
    for (const char* table : {"program", "system", "limits", "checkpoints", "energy"})
      EXPECT_EQ(schema["properties"][table]["additionalProperties"], false) << table;
  }
  for (const char* table : {"search", "objective", "budget"})
    EXPECT_EQ(kTune["properties"][table]["additionalProperties"], false) << table;
}

// The rows that are not refused, of both tables.
void expect_every_key(const json& schema, const std::vector<Field>& fields) {
  std::size_t shown = 0;
  for (const auto& field : fields) {
    if (!field.instead.empty()) {
      EXPECT_FALSE(schema["properties"].contains(field.name)) << field.name;
      continue;
    }
    ++shown;
    ASSERT_TRUE(schema["properties"].contains(field.name)) << field.name;
    const json& written = schema["properties"][field.name];
    EXPECT_EQ(written["description"], field.description);
    if (!field.fields.empty() && field.name != "hyper" && !is_many(field))
      expect_every_key(written, field.fields);
  }
  EXPECT_EQ(schema["properties"].size(), shown);
}

TEST(Schema, HasEveryKeyOfTheTablesWithItsDescription) {
  expect_every_key(kSchema, train_fields(sample_catalogue()));
  expect_every_key(kTune, tune_fields(sample_catalogue()));
  const json& epochs = kSchema["properties"]["hyper"]["properties"]["epochs"];
  EXPECT_EQ(epochs["description"], "passes over the training data");
  EXPECT_FALSE(kTune["properties"]["hyper"]["properties"].contains("epochs"));
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

// The forms of domain a schema allows, beside one value.
std::set<std::string> forms(const json& schema) {
  std::set<std::string> out;
  for (const auto& option : schema["anyOf"])
    if (option.contains("required")) out.insert(option["required"][0]);
  return out;
}

TEST(Schema, TakesDomainsWhereTheParserDoes) {
  using Forms = std::set<std::string>;
  const json& lenet = kTune["allOf"][0]["then"]["properties"]["hyper"];
  EXPECT_EQ(forms(lenet["properties"]["batch_size"]), (Forms{"choice", "int", "log"}));
  EXPECT_EQ(forms(lenet["properties"]["dropout"]), (Forms{"choice", "range", "log"}));
  EXPECT_EQ(forms(lenet["properties"]["optimizer"]), (Forms{"choice"}));
  EXPECT_EQ(forms(lenet["properties"]["nesterov"]), (Forms{"choice"}));
  EXPECT_EQ(lenet["additionalProperties"], false);
  EXPECT_FALSE(lenet["properties"].contains("epochs"));
  const json& system = kTune["properties"]["system"]["properties"];
  EXPECT_EQ(forms(system["cores"]), (Forms{"choice", "int"}));
  EXPECT_EQ(forms(system["memory"]), (Forms{"choice"}));
  EXPECT_EQ(forms(system["speed"]), (Forms{"choice"}));
  EXPECT_EQ(forms(kTune["properties"]["hyper"]["additionalProperties"]),
            (Forms{"choice", "range", "log", "int"}));
  EXPECT_EQ(forms(kTune["properties"]["hyper"]["properties"]["dropout"]),
            (Forms{"choice", "range", "log", "int"}));
  EXPECT_FALSE(kSchema["properties"]["system"]["properties"]["cores"].contains("anyOf"));
}

TEST(Schema, DomainsHaveTheRangeOfTheirRuleAndConditions) {
  const json& batch = kTune["allOf"][0]["then"]["properties"]["hyper"]["properties"]["batch_size"];
  EXPECT_EQ(batch["anyOf"][0]["type"], "integer");
  for (const auto& option : batch["anyOf"]) {
    if (!option.contains("required")) continue;
    const std::string form = option["required"][0];
    const json& values = option["properties"][form];
    EXPECT_EQ(values["items"]["maximum"], 65536) << form;
    EXPECT_EQ(values["minItems"], form == "choice" ? 1 : 2);
    EXPECT_EQ(values["maxItems"], form == "choice" ? 10'000 : 2);
    EXPECT_EQ(option["additionalProperties"], false);
    EXPECT_EQ(option["properties"]["when"]["$ref"], "#/$defs/when");
  }
  for (const auto& option : kTune["properties"]["system"]["properties"]["cores"]["anyOf"])
    EXPECT_FALSE(option.contains("properties") && option["properties"].contains("when"));
  EXPECT_EQ(kWhole["$defs"]["when"]["maxProperties"], 1);
}

TEST(Schema, TuningHasTheModelsRuleForEpochsAndTheAlgorithms) {
  const json& search = kTune["properties"]["search"]["properties"];
  EXPECT_EQ(search["algorithm"]["enum"], (json{"random", "hyperband"}));
  EXPECT_EQ(search["max_epochs"]["default"], 9);
  const json& jacobi = kTune["allOf"][2]["then"]["properties"];
  EXPECT_EQ(jacobi["search"]["properties"]["max_epochs"]["maximum"], 500);
  EXPECT_FALSE(kTune["allOf"][0]["then"]["properties"].contains("search"));
}

// The schema and the parser must agree on every unit.
TEST(Schema, QuantityPatternsAcceptWhatTheParserAccepts) {
  for (const auto& [path, prefix] : {std::pair("memory", "system"), std::pair("stall", "limits"),
                                     std::pair("busy", "energy"), std::pair("energy", "budget")}) {
    const json& table = kSchema["properties"].contains(prefix) ? kSchema : kTune;
    const json& field = table["properties"][prefix]["properties"][path];
    const std::regex pattern(field["pattern"].get<std::string>());
    for (const char* unit :
         {"B",   "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "TB", "us", "ms",  "s", "sec", "m",
          "min", "h",   "d",   "mW",  "W",   "kW", "J",  "kJ", "MJ", "Wh", "kWh", "",  "x"}) {
      for (const char* number : {"2", "1.5 ", ".5", "1e1", "-1", "two"}) {
        const std::string written = number + std::string(unit);
        const bool parses = std::string(path) == "memory"  ? parse_bytes(written).has_value()
                            : std::string(path) == "stall" ? parse_seconds(written).has_value()
                            : std::string(path) == "busy"  ? parse_watts(written).has_value()
                                                           : parse_joules(written).has_value();
        EXPECT_EQ(std::regex_match(written, pattern), parses) << path << ": " << written;
      }
    }
  }
}

TEST(Schema, OfSimulationsIsClosedAndHasEveryKey) {
  const json sim = kWhole["$defs"]["sim"];
  EXPECT_EQ(sim["required"], (json{"kind", "cluster", "workloads"}));
  EXPECT_EQ(sim["additionalProperties"], false);
  const json& workload = sim["properties"]["workloads"]["items"];
  EXPECT_EQ(sim["properties"]["workloads"]["minItems"], 1);
  EXPECT_EQ(workload["additionalProperties"], false);
  EXPECT_EQ(workload["allOf"].size(), 2u) << "one model, one length";
  expect_every_key(workload, workload_fields(sample_catalogue()));
  EXPECT_EQ(workload["properties"]["model"]["enum"][1], "alexnet");
  EXPECT_EQ(workload["properties"]["strategy"]["default"], "default");
  EXPECT_EQ(workload["properties"]["epochs"]["exclusiveMinimum"], 0.0);
  const json& cluster = sim["properties"]["cluster"]["anyOf"];
  EXPECT_EQ(cluster[0]["type"], "string");
  EXPECT_EQ(cluster[2]["enum"][0], "kth");
  const json& table = cluster[1]["properties"];
  EXPECT_EQ(cluster[1]["required"], (json{"devices", "node_types", "nodes"}));
  EXPECT_EQ(table["devices"]["additionalProperties"]["properties"]["power"]["maxItems"], 2);
  EXPECT_EQ(table["nodes"]["additionalProperties"]["type"], "integer");
  EXPECT_EQ(table["nodes"]["propertyNames"]["maxLength"], 64);
  EXPECT_EQ(kWhole["$defs"]["cluster"]["properties"]["kind"]["enum"], json{"cluster"});
  EXPECT_EQ(kWhole["$defs"]["cluster"]["properties"]["nodes"], table["nodes"]);
}

TEST(Schema, BandwidthAndFrequencyPatternsAcceptWhatTheParserAccepts) {
  const json cluster = kWhole["$defs"]["cluster"]["properties"];
  const json device = cluster["devices"]["additionalProperties"]["properties"];
  const auto pattern = [](const json& field) { return std::regex(field["pattern"].get<std::string>()); };
  const std::regex bandwidth = pattern(device["memory_bandwidth"]), frequency = pattern(device["clock"]);
  for (const char* unit :
       {"B/s",  "KiB/s", "MiB/s", "GiB/s", "TiB/s", "kB/s", "MB/s", "GB/s", "TB/s", "b/s", "kb/s", "Mb/s",
        "Gb/s", "Tb/s",  "Hz",    "kHz",   "MHz",   "GHz",  "B",    "GB",   "s",    "",    "x"}) {
    for (const char* number : {"2", "1.5 ", ".5", "1e1", "-1", "two"}) {
      const std::string written = number + std::string(unit);
      EXPECT_EQ(std::regex_match(written, bandwidth), parse_bandwidth(written).has_value()) << written;
      EXPECT_EQ(std::regex_match(written, frequency), parse_frequency(written).has_value()) << written;
    }
  }
}

TEST(Schema, OfAnEmptyCatalogueStillStands) {
  const json empty = schema(Catalogue{});
  EXPECT_FALSE(empty["$defs"]["train"].contains("allOf"));
  EXPECT_FALSE(empty["$defs"]["tune"].contains("allOf"));
  EXPECT_FALSE(empty["$defs"]["tune"]["properties"]["search"]["properties"]["algorithm"].contains("enum"));
  const json& workload = empty["$defs"]["sim"]["properties"]["workloads"]["items"]["properties"];
  EXPECT_FALSE(workload["model"].contains("enum"));
}

TEST(Describe, NamesEveryKey) {
  const std::string help = describe_train();
  for (const char* words :
       {"kind ", "program.model", "program.command", "hyper.epochs", "system.memory", "limits.stall",
        "checkpoints.keep", "energy.source", "default: 10min", "default: no limit", "required",
        "a size such as 2GiB", "at least 1 and at most 65536"})
    EXPECT_NE(help.find(words), std::string::npos) << words;
}

TEST(Describe, NamesEveryKeyOfATuningSpec) {
  const std::string help = describe_tune();
  for (const char* words :
       {"kind ",
        "program.model",
        "search.algorithm",
        "search.max_epochs",
        "search.reduction",
        "search.trials",
        "search.seed",
        "search.pruning",
        "default: hyperband",
        "hyper ",
        "constraints",
        "system.cores",
        "a whole number, at least 1 and at most 65536, or a domain; default: what the machine has",
        "objective.maximise",
        "objective.minimise",
        "objective.target",
        "objective.cost.energy",
        "divided by their sum",
        "budget.time",
        "budget.energy",
        "an energy such as 20kJ",
        "limits.stall",
        "limits.retries",
        "limits.processes",
        "checkpoints.keep",
        "energy.source",
        "{log: [0.001, 0.1]}",
        "when: {optimizer: sgd}"})
    EXPECT_NE(help.find(words), std::string::npos) << words;
  for (const char* words : {"hyper.epochs", "limits.time", "  seed"})
    EXPECT_EQ(help.find(words), std::string::npos) << words;
}

TEST(Describe, NamesEveryKeyOfASimulation) {
  const std::string help = describe_sim();
  for (const char* words :
       {"cluster.devices.NAME.memory_bandwidth", "a bandwidth such as 12GB/s or 10Gb/s", "cluster.nodes",
        "cluster.node_types.NAME.gpus_an_uplink", "cluster.network.cables[].from", "cluster.failures.repair",
        "workloads[].sample_bytes", "default: data is in memory",
        "a list, each item a power such as 95W, 2 items", "Ready clusters:", "dgx-1",
        "Kinds of network:", "torus"})
    EXPECT_NE(help.find(words), std::string::npos) << words;
}

TEST(Describe, TheExamplesAreGoodSpecs) {
  const auto result = parse_train(example_train(), "example", sample_catalogue());
  EXPECT_TRUE(result.job) << (result.issues.empty() ? "" : text(result.issues[0]));
  const auto tune = parse_tune(example_tune(), "example", sample_catalogue());
  EXPECT_TRUE(tune.job) << (tune.issues.empty() ? "" : text(tune.issues[0]));
  const auto sim = parse_sim(example_sim(), "example", sample_catalogue());
  EXPECT_TRUE(sim.job) << (sim.issues.empty() ? "" : text(sim.issues[0]));
}

}  // namespace
}  // namespace tandem::spec
