#include "place/infra/infra_nodes.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace tandem::place {
namespace {

const NodeFacts kServer{24, 2.3e9, 128 * kGiB, 2, 16 * kGiB, 1.25e9};

Observation at(double seconds, double cpu = 0) {
  Observation out{{seconds}};
  out.in_use[Resource::cpu] = cpu;
  return out;
}

TEST(Catalogue, NoticesChangedHardwareAndForgetsWhatWasSeenOfTheOld) {
  Catalogue catalogue;
  EXPECT_EQ(catalogue.found("a", kServer), Found::joined);
  catalogue.observed("a", at(1));
  catalogue.worked("a", 2);
  EXPECT_EQ(catalogue.found("a", kServer), Found::same);
  EXPECT_EQ(catalogue.nodes().at("a").seen.size(), 1u);
  for (const auto change :
       {+[](NodeFacts& f) { f.cores = 12; }, +[](NodeFacts& f) { f.clock = 1e9; },
        +[](NodeFacts& f) { f.memory = kGiB; }, +[](NodeFacts& f) { f.gpus = 1; },
        +[](NodeFacts& f) { f.gpu_memory = kGiB; }, +[](NodeFacts& f) { f.bandwidth = 1; }}) {
    catalogue.found("a", kServer);
    catalogue.observed("a", at(1));
    catalogue.worked("a", 2);
    const int before = catalogue.nodes().at("a").entry;
    NodeFacts changed = kServer;
    change(changed);
    EXPECT_EQ(catalogue.found("a", changed), Found::changed);
    const Node& node = catalogue.nodes().at("a");
    EXPECT_EQ(node.facts, changed);
    EXPECT_EQ(node.entry, before + 1);
    EXPECT_TRUE(node.seen.empty());
    EXPECT_TRUE(node.slowness.empty());
  }
}

TEST(Catalogue, KeepsAWindow) {
  Catalogue catalogue(3);
  catalogue.found("a", kServer);
  for (int i = 0; i < 5; ++i) {
    catalogue.observed("a", at(i));
    catalogue.worked("a", 1 + i);
  }
  const Node& node = catalogue.nodes().at("a");
  ASSERT_EQ(node.seen.size(), 3u);
  EXPECT_EQ(node.seen.front().at.value, 2);
  EXPECT_EQ(node.slowness.front(), 3);
  catalogue.gone("a");
  EXPECT_TRUE(catalogue.nodes().empty());
}

TEST(Catalogue, RefusesWhatCannotBe) {
  Catalogue catalogue;
  EXPECT_THROW(catalogue.observed("a", at(1)), SystemError);
  EXPECT_THROW(catalogue.worked("a", 1), SystemError);
  catalogue.found("a", kServer);
  for (const double wrong : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(catalogue.observed("a", at(1, wrong)), SystemError);
  Observation late = at(1);
  late.latency = {-1};
  EXPECT_THROW(catalogue.observed("a", late), SystemError);
  EXPECT_THROW(catalogue.worked("a", 0), SystemError);
  EXPECT_TRUE(catalogue.nodes().at("a").seen.empty());
}

TEST(NodeFacts, AmountsAreOfWhatIsThere) {
  EXPECT_EQ(amount(kServer, Resource::cpu), 24 * 2.3e9);
  EXPECT_EQ(amount(kServer, Resource::gpu_memory), 16.0 * kGiB);
  NodeFacts plain = kServer;
  plain.gpus = 0;
  EXPECT_EQ(amount(plain, Resource::gpu_memory), 0) << "no GPU, whatever is said of its memory";
}

}  // namespace
}  // namespace tandem::place
