#include "graph/layers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::graph {
namespace {

const Operation& find(const Model& model, const std::string& name) {
  for (const Operation& operation : model.operations)
    if (operation.name == name) return operation;
  ADD_FAILURE() << "there is no operation '" << name << "'";
  return model.operations.front();
}

TEST(Layers, CountsAConvolutionFromItsShapes) {
  Layers net("m");
  net.input({3, 8, 8}).conv(4).conv(8, {.stride = 2, .bias = false});
  const Model model = net.finish();
  const Operation& first = find(model, "conv");
  EXPECT_EQ(first.outputs, 4 * 8 * 8);
  EXPECT_EQ(first.parameters, 4 * (3 * 3 * 3) + 4);
  EXPECT_EQ(first.forward_flops, 2 * (3 * 3 * 3) * (4 * 8 * 8));
  EXPECT_EQ(first.backward_flops, first.forward_flops) << "nobody needs the gradient of the input";
  const Operation& second = find(model, "conv2");
  EXPECT_EQ(second.outputs, 8 * 4 * 4);
  EXPECT_EQ(second.parameters, 8 * (4 * 3 * 3));
  EXPECT_EQ(second.forward_flops, 2 * (4 * 3 * 3) * (8 * 4 * 4));
  EXPECT_EQ(second.backward_flops, 2 * second.forward_flops);
}

TEST(Layers, ADepthwiseConvolutionSeesOneChannelAMap) {
  Layers net("m");
  net.input({16, 10, 10}).conv(16, {.groups = 16});
  const Operation conv = net.finish().operations.at(1);
  EXPECT_EQ(conv.parameters, 16 * (3 * 3) + 16);
  EXPECT_EQ(conv.forward_flops, 2 * (3 * 3) * (16 * 10 * 10));
}

TEST(Layers, PaddingDecidesTheSize) {
  Layers net("m");
  const Point from = net.input({3, 224, 224}).here();
  EXPECT_EQ(net.conv(64, {.kernel = 11, .stride = 4, .padding = {2, 2}}).here().shape, (Shape{64, 55, 55}));
  EXPECT_EQ(net.max_pool(3, 2).here().shape, (Shape{64, 27, 27}));
  EXPECT_EQ(net.at(from).conv(8, {.kernel = 7, .stride = 2}).here().shape, (Shape{8, 112, 112}));
  EXPECT_EQ(net.at(from).conv(8, {.kernel = {1, 7}, .padding = kValid}).here().shape, (Shape{8, 224, 218}));
  EXPECT_EQ(net.at(from).conv(8, {.kernel = {7, 1}, .padding = {3, 0}}).here().shape, (Shape{8, 224, 224}));
}

TEST(Layers, DenseWorksOnChannelsAtEveryPositionAndOnAllOfAFlatPicture) {
  Layers sequence("m");
  sequence.input({6, 5, 1}).dense(4);
  const Operation each = sequence.finish().operations.at(1);
  EXPECT_EQ(each.parameters, 6 * 4 + 4);
  EXPECT_EQ(each.forward_flops, 5 * 2 * 6 * 4);
  EXPECT_EQ(each.outputs, 5 * 4);

  Layers picture("m");
  picture.input({6, 5, 5}).flatten().dense(4, false);
  const Operation all = picture.finish().operations.at(1);
  EXPECT_EQ(all.parameters, 6 * 5 * 5 * 4);
  EXPECT_EQ(all.forward_flops, 2 * 6 * 5 * 5 * 4);
  EXPECT_EQ(all.outputs, 4);
}

TEST(Layers, WhatIsElementWiseCostsBackwardAsForward) {
  Layers net("m");
  net.input({2, 4, 4}).conv(8).relu().max_pool(2, 2).global_pool().softmax();
  const Model model = net.finish();
  EXPECT_EQ(find(model, "relu").forward_flops, 8 * 4 * 4);
  EXPECT_EQ(find(model, "max_pool").forward_flops, (8 * 2 * 2) * (2 * 2));
  EXPECT_EQ(find(model, "global_pool").forward_flops, 8 * 2 * 2);
  EXPECT_EQ(find(model, "global_pool").outputs, 8);
  EXPECT_EQ(find(model, "softmax").forward_flops, 3 * 8);
  for (const char* name : {"relu", "max_pool", "global_pool", "softmax"}) {
    EXPECT_EQ(find(model, name).backward_flops, find(model, name).forward_flops) << name;
    EXPECT_EQ(find(model, name).parameters, 0) << name;
  }
}

TEST(Layers, NothingRunsBackwardBeforeTheFirstParameters) {
  Layers net("m");
  net.input({2, 4, 4}).max_pool(2, 2).relu().dense(3);
  const Model model = net.finish();
  EXPECT_EQ(find(model, "max_pool").backward_flops, 0);
  EXPECT_EQ(find(model, "relu").backward_flops, 0);
  EXPECT_EQ(find(model, "dense").backward_flops, find(model, "dense").forward_flops);
}

TEST(Layers, NormalisationTrainsAScaleAndAShiftAChannel) {
  Layers net("m");
  net.input({3, 4, 4}).conv(8).batch_norm().layer_norm();
  const Model model = net.finish();
  for (const char* name : {"batch_norm", "layer_norm"}) {
    EXPECT_EQ(find(model, name).parameters, 2 * 8);
    EXPECT_EQ(find(model, name).forward_flops, 5 * 8 * 4 * 4);
    EXPECT_EQ(find(model, name).backward_flops, 2 * 5 * 8 * 4 * 4);
  }
}

TEST(Layers, BranchesComeTogetherByAddingOrSideBySide) {
  Layers net("m");
  const Point from = net.input({4, 6, 6}).conv(4).here();
  const Point sum = net.conv(4).add(from).here();
  const Point wide = net.at(sum).conv(12, {.kernel = 1}).here();
  const Point pooled = net.at(sum).max_pool(3, 1, kSame).here();
  net.concat({wide, pooled});
  EXPECT_EQ(net.here().shape, (Shape{16, 6, 6}));
  const Model model = net.finish();
  EXPECT_EQ(find(model, "add").inputs, (std::vector<std::uint32_t>{2, 1}));
  EXPECT_EQ(find(model, "add").forward_flops, 4 * 6 * 6);
  EXPECT_EQ(find(model, "concat").inputs, (std::vector<std::uint32_t>{4, 5}));
  EXPECT_EQ(find(model, "concat").outputs, 16 * 6 * 6);
  EXPECT_EQ(find(model, "concat").forward_flops, 0);
}

TEST(Layers, AShortcutChangesTheShapeForNothing) {
  Layers net("m");
  const Point from = net.input({3, 8, 8}).conv(4).here();
  const Point shortcut = net.shortcut(8, 2).here();
  net.at(from).conv(8, {.stride = 2}).add(shortcut);
  const Model model = net.finish();
  EXPECT_EQ(find(model, "shortcut").outputs, 8 * 4 * 4);
  EXPECT_EQ(find(model, "shortcut").forward_flops, 0);
  EXPECT_EQ(find(model, "shortcut").parameters, 0);
}

TEST(Layers, AnLstmUsesItsWeightsAtEveryStep) {
  Layers net("m");
  net.input({1, 7, 1}).embedding(100, 5).lstm(3);
  const Model model = net.finish();
  const Operation& embedding = find(model, "embedding");
  EXPECT_EQ(embedding.parameters, 100 * 5);
  EXPECT_EQ(embedding.outputs, 7 * 5);
  EXPECT_EQ(embedding.forward_flops, 0);
  EXPECT_EQ(embedding.backward_flops, 7 * 5);
  const Operation& lstm = find(model, "lstm");
  EXPECT_EQ(lstm.parameters, 4 * 3 * (5 + 3) + 4 * 3);
  EXPECT_EQ(lstm.outputs, 7 * 3);
  EXPECT_EQ(lstm.forward_flops, 7 * (2 * 4 * 3 * (5 + 3) + 9 * 3));
  EXPECT_EQ(lstm.backward_flops, 2 * lstm.forward_flops);
}

TEST(Layers, AttentionIsFourProjectionsAndTwoProducts) {
  Layers net("m");
  net.input({1, 6, 1}).embedding(50, 8).attention(2);
  EXPECT_EQ(net.here().shape, (Shape{8, 6, 1}));
  const Model model = net.finish();
  for (const char* name : {"query", "key", "value", "projection"}) {
    EXPECT_EQ(find(model, name).parameters, 8 * 8 + 8) << name;
    EXPECT_EQ(find(model, name).forward_flops, 6 * 2 * 8 * 8) << name;
  }
  const Operation& scores = find(model, "scores");
  EXPECT_EQ(scores.inputs, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(scores.outputs, 2 * 6 * 6) << "one a head and pair of steps";
  EXPECT_EQ(scores.forward_flops, 2 * 8 * 6 * 6);
  EXPECT_EQ(scores.backward_flops, 2 * scores.forward_flops);
  EXPECT_EQ(find(model, "softmax").forward_flops, 3 * 2 * 6 * 6);
  const Operation& mixture = find(model, "mixture");
  EXPECT_EQ(mixture.inputs, (std::vector<std::uint32_t>{6, 4}));
  EXPECT_EQ(mixture.outputs, 6 * 8);
  EXPECT_EQ(mixture.forward_flops, scores.forward_flops);
}

TEST(Layers, NamesAreNumberedWithinABlock) {
  Layers net("m");
  net.input({1, 4, 4}).conv(2).conv(2).within("block1").conv(2).conv(2).within("").conv(2).loss();
  const Model model = net.finish();
  std::vector<std::string> names;
  for (const Operation& operation : model.operations) names.push_back(operation.name);
  EXPECT_EQ(names, (std::vector<std::string>{"input", "conv", "conv2", "block1.conv", "block1.conv2", "conv3",
                                             "loss"}));
}

TEST(Layers, TheLossPassesOnOneNumber) {
  Layers net("m");
  net.input({4, 1, 1}).dense(10).loss();
  const Model model = net.finish();
  EXPECT_EQ(model.operations.back().kind, Kind::loss);
  EXPECT_EQ(model.operations.back().outputs, 1);
  EXPECT_EQ(model.operations.back().forward_flops, 3 * 10);
  EXPECT_EQ(model.name, "m");
}

}  // namespace
}  // namespace tandem::graph
