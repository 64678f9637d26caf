#include "graph/zoo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace tandem::graph {
namespace {

std::string refusal(const std::string& name) {
  try {
    make(name);
  } catch (const UserError& error) {
    return error.what();
  }
  return "it was not refused";
}

TEST(Zoo, HasThePublishedNumbersOfParameters) {
  for (const ZooEntry& entry : zoo())
    EXPECT_NEAR(make(entry.name).parameters(), entry.published.parameters, entry.published.rounding)
        << entry.name << ": " << entry.published.source;
}

TEST(Zoo, HasThePublishedMultiplyAdds) {
  for (const ZooEntry& entry : zoo()) {
    if (!entry.published.multiply_adds) continue;
    const double published = *entry.published.multiply_adds;
    EXPECT_NEAR(multiply_adds(make(entry.name)), published, 0.02 * published)
        << entry.name << ": " << entry.published.source;
  }
}

TEST(Zoo, EveryModelGoesFromInputToLoss) {
  for (const ZooEntry& entry : zoo()) {
    SCOPED_TRACE(entry.name);
    const Model model = make(entry.name);
    EXPECT_NO_THROW(check(model));
    EXPECT_EQ(model.name, entry.name);
    EXPECT_EQ(model.operations.front().kind, Kind::input);
    EXPECT_EQ(model.operations.back().kind, Kind::loss);
    std::vector<bool> used(model.operations.size());
    for (const Operation& operation : model.operations)
      for (const std::uint32_t input : operation.inputs) used[input] = true;
    EXPECT_EQ(std::count(used.begin(), used.end(), false), 1) << "only the loss may end anything";
  }
}

TEST(Zoo, GoingBackCostsAtLeastGoingForwardAndAtMostTwice) {
  for (const ZooEntry& entry : zoo()) {
    const Model model = make(entry.name);
    EXPECT_GE(model.backward_flops(), model.forward_flops()) << entry.name;
    EXPECT_LE(model.backward_flops(), 2 * model.forward_flops()) << entry.name;
  }
}

TEST(Zoo, SaysWhatEachIsAndWhereTheNumbersAreFrom) {
  for (const ZooEntry& entry : zoo()) {
    EXPECT_FALSE(entry.description.empty()) << entry.name;
    EXPECT_FALSE(entry.published.source.empty()) << entry.name;
  }
}

// Where only rounded numbers are published, these were added up by hand.
TEST(Zoo, CountsTheCifarResNetsExactly) {
  // With n blocks a stage: stem 464, stage one 4672 n, stages two and three 13952 + 18560 (n - 1) and
  // 55552 + 73984 (n - 1), dense 650.
  EXPECT_EQ(make("resnet32").parameters(), 464'154);
  EXPECT_EQ(make("resnet56").parameters(), 853'018);
}

TEST(Zoo, CountsTheWordModelExactly) {
  const double layer = 4.0 * 650 * (650 + 650) + 4 * 650;
  EXPECT_EQ(make("lstm").parameters(), 10'000.0 * 650 + 2 * layer + 650 * 10'000.0 + 10'000);
}

TEST(Zoo, CountsTheTransformersWork) {
  // A layer: four projections and two of 3072, at each of 384 steps, and two products over all pairs of them.
  const double layer = 384.0 * (4 * 768 * 768 + 2 * 768 * 3072) + 2 * 384.0 * 384 * 768;
  EXPECT_EQ(multiply_adds(make("transformer")), 12 * layer + 384.0 * 768 * 2);
}

TEST(Zoo, HasEachNameOnce) {
  std::vector<std::string> names;
  for (const ZooEntry& entry : zoo()) names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"lenet5", "alexnet", "vgg16", "vgg19", "inception1",
                                             "inception3", "mobilenet", "resnet32", "resnet56", "resnet50",
                                             "resnet101", "resnet152", "lstm", "transformer"}));
}

TEST(Zoo, AnUnknownNameSuggestsTheNearest) {
  EXPECT_NE(refusal("mobilnet").find("did you mean 'mobilenet'?"), std::string::npos) << refusal("mobilnet");
  EXPECT_NE(refusal("ResNet-50").find("did you mean 'resnet50'?"), std::string::npos) << refusal("ResNet-50");
  EXPECT_NE(refusal("quux").find("the models are lenet5, alexnet"), std::string::npos) << refusal("quux");
}

}  // namespace
}  // namespace tandem::graph
