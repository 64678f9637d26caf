#include <fmt/format.h>

#include "graph/zoo_models.h"

namespace tandem::graph::models {
namespace {

constexpr int kFeatures = 768;

void encoder_layer(Layers& net) {
  const Point from = net.here();
  net.attention(12).dropout().add(from).layer_norm();
  const Point attended = net.here();
  net.dense(4 * kFeatures).activation("gelu").dense(kFeatures).dropout().add(attended).layer_norm();
}

}  // namespace

void lstm(Layers& net) {
  constexpr int kWords = 10'000, kUnits = 650, kSteps = 35;
  net.input({1, kSteps, 1}).embedding(kWords, kUnits).dropout();
  net.lstm(kUnits).dropout().lstm(kUnits).dropout();
  net.dense(kWords).loss();
}

void transformer(Layers& net) {
  constexpr int kSteps = 384, kPositions = 512, kLayers = 12;
  const Point tokens = net.input({1, kSteps, 1}).here();
  net.within("embeddings");
  const Point words = net.embedding(30'522, kFeatures).here();
  const Point positions = net.at(tokens).embedding(kPositions, kFeatures).here();
  net.at(tokens).embedding(2, kFeatures).add(positions).add(words).layer_norm().dropout();
  for (int layer = 1; layer <= kLayers; ++layer) {
    net.within(fmt::format("layer{}", layer));
    encoder_layer(net);
  }
  // Where the answer begins and where it ends.
  net.within("head").dense(2).loss();
}

}  // namespace tandem::graph::models
