#include "graph/import.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/zoo.h"

namespace tandem::graph {
namespace {

std::string model_of(const std::string& operations) {
  return R"({"name": "mine", "operations": [)" + operations + "]}";
}

const std::string kPixels = R"({"name": "pixels", "kind": "input", "forward_flops": 0, "outputs": 784})";

Model read(const std::string& operations) {
  return read_model(model_of(operations), "mine.json");
}

std::string refusal_of_text(const std::string& text) {
  try {
    read_model(text, "mine.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "it was not refused";
}

std::string refusal(const std::string& operations) {
  return refusal_of_text(model_of(operations));
}

testing::AssertionResult says(const std::string& message, const std::string& part) {
  if (message.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in: " << message;
}

TEST(Import, ReadsWhatIsWrittenAndFillsInTheRest) {
  const Model model = read(kPixels + R"(, {"name": "layer", "kind": "dense", "inputs": ["pixels"],
      "forward_flops": 15680, "parameters": 7850, "outputs": 10})");
  EXPECT_EQ(model.name, "mine");
  ASSERT_EQ(model.operations.size(), 2u);
  EXPECT_EQ(model.operations[0].kind, Kind::input);
  EXPECT_EQ(model.operations[0].parameters, 0);
  const Operation& layer = model.operations[1];
  EXPECT_EQ(layer.inputs, std::vector<std::uint32_t>{0});
  EXPECT_EQ(layer.forward_flops, 15680);
  EXPECT_EQ(layer.backward_flops, 2 * 15680) << "twice the forward when nothing is said";
  EXPECT_EQ(layer.parameters, 7850);
  EXPECT_EQ(layer.outputs, 10);
}

TEST(Import, GivesBackEveryModelOfTheZoo) {
  for (const ZooEntry& entry : zoo()) {
    const Model model = make(entry.name);
    const Model back = read_model(to_json(model).dump(), "zoo");
    EXPECT_EQ(back.name, model.name);
    EXPECT_TRUE(back.operations == model.operations) << entry.name;
  }
}

TEST(Import, KeepsNumbersToTheLastBit) {
  const Model model{"odd", {Operation{"a", Kind::recurrent, {}, 0.1, 1.0 / 3, 1e300, 2.5e-300}}};
  EXPECT_TRUE(read_model(to_json(model).dump(), "odd").operations == model.operations);
}

TEST(Import, PutsOperationsAfterTheirInputs) {
  const Model model = read(R"(
      {"name": "c", "kind": "loss", "inputs": ["b", "a"], "forward_flops": 1, "outputs": 1},
      {"name": "b", "kind": "dense", "inputs": ["a"], "forward_flops": 1, "outputs": 1},
      {"name": "z", "kind": "input", "forward_flops": 0, "outputs": 1},
      {"name": "a", "kind": "input", "forward_flops": 0, "outputs": 1})");
  ASSERT_EQ(model.operations.size(), 4u);
  EXPECT_EQ(model.operations[0].name, "z");
  EXPECT_EQ(model.operations[1].name, "a");
  EXPECT_EQ(model.operations[2].name, "b");
  EXPECT_EQ(model.operations[3].name, "c");
  EXPECT_EQ(model.operations[3].inputs, (std::vector<std::uint32_t>{2, 1}));
}

TEST(Import, RefusesACycleAndShowsIt) {
  const std::string message = refusal(kPixels + R"(,
      {"name": "after", "kind": "loss", "inputs": ["b"], "forward_flops": 1, "outputs": 1},
      {"name": "a", "kind": "dense", "inputs": ["pixels", "b"], "forward_flops": 1, "outputs": 1},
      {"name": "b", "kind": "dense", "inputs": ["a"], "forward_flops": 1, "outputs": 1})");
  EXPECT_TRUE(says(message, "mine.json: the operations have a cycle: 'b' needs 'a' needs 'b'"));
  const std::string itself =
      refusal(R"({"name": "a", "kind": "dense", "inputs": ["a"], "forward_flops": 1, "outputs": 1})");
  EXPECT_TRUE(says(itself, "'a' needs 'a'"));
}

TEST(Import, RefusesNamesItDoesNotKnowAndSuggestsTheNearest) {
  EXPECT_TRUE(says(refusal(R"({"name": "a", "kind": "dense", "forward_flop": 1, "outputs": 1})"),
                   "mine.json, operation 1: unknown key 'forward_flop' (did you mean 'forward_flops'?)"));
  EXPECT_TRUE(says(refusal_of_text(R"({"name": "a", "operation": []})"), "did you mean 'operations'?"));
  EXPECT_TRUE(says(refusal(R"({"name": "a", "kind": "convolutoin", "forward_flops": 1, "outputs": 1})"),
                   "did you mean 'convolution'?"));
  const std::string input = refusal(
      kPixels + R"(, {"name": "a", "kind": "dense", "inputs": ["pixel"], "forward_flops": 1, "outputs": 1})");
  EXPECT_TRUE(says(input, "operation 'a' has the input 'pixel'"));
  EXPECT_TRUE(says(input, "did you mean 'pixels'?"));
}

TEST(Import, RefusesWhatIsMissingOrTwice) {
  EXPECT_TRUE(says(refusal(R"({"name": "a", "kind": "dense", "forward_flops": 1})"), "'outputs' is missing"));
  EXPECT_TRUE(says(refusal(R"({"name": "a", "kind": "dense", "outputs": 1})"), "'forward_flops' is missing"));
  EXPECT_TRUE(says(refusal(kPixels + "," + kPixels), "there are two operations 'pixels'"));
  EXPECT_TRUE(says(refusal(R"({"name": "a", "name": "b"})"), "the key 'name' is twice"));
  EXPECT_TRUE(says(refusal(""), "'operations' must be a list that is not empty"));
}

TEST(Import, RefusesValuesOfTheWrongKind) {
  const auto with_outputs = [](const std::string& outputs) {
    return R"({"name": "a", "kind": "dense", "forward_flops": 1, "outputs": )" + outputs + "}";
  };
  for (const char* outputs : {"-1", "\"1\"", "null", "[1]"})
    EXPECT_TRUE(says(refusal(with_outputs(outputs)), "'outputs' must be a number of at least 0")) << outputs;
  EXPECT_TRUE(says(refusal(R"({"name": "", "kind": "dense", "forward_flops": 1, "outputs": 1})"),
                   "'name' must be a text"));
  const std::string inputs =
      refusal(R"({"name": "a", "kind": "dense", "inputs": "b", "forward_flops": 1, "outputs": 1})");
  EXPECT_TRUE(says(inputs, "'inputs' must be a list of names"));
  EXPECT_TRUE(says(refusal("3"), "operation 1: must be an object"));
}

TEST(Import, RefusesTextThatIsNotJson) {
  EXPECT_TRUE(says(refusal_of_text("{\"name\": "), "mine.json: not JSON"));
  EXPECT_TRUE(says(refusal_of_text(""), "mine.json: not JSON"));
  EXPECT_TRUE(says(refusal_of_text(std::string(100'000, '[')), "nested deeper"));
}

}  // namespace
}  // namespace tandem::graph
