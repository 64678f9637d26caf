#include "app/job_json.h"

#include <gtest/gtest.h>

namespace tandem::app {
namespace {

TEST(Describe, ANodesLoadIsTheLastObservedAndNullWhereNobodyCanTell) {
  View view;
  view.apply(Event{Seconds{100}, NodeJoined{0, "here", {2, kGiB, 1.0}}});
  EXPECT_TRUE(node_json(view, view.nodes[0])["load"].is_null());
  EXPECT_TRUE(node_json(view, view.nodes[0])["bandwidth"].is_null());
  view.apply(Event{Seconds{110}, NodeObserved{0, {.cpu = 0.75, .memory = 0.5}}});
  view.apply(Event{Seconds{120}, NodeObserved{0, {.cpu = 0.25, .latency = Seconds{0.001}}}});
  const auto load = node_json(view, view.nodes[0])["load"];
  EXPECT_EQ(load["since"], 120.0);
  EXPECT_EQ(load["cpu"], 0.25);
  EXPECT_TRUE(load["memory"].is_null()) << "what was known before is not known now";
  EXPECT_EQ(load["latency"], 0.001);
}

}  // namespace
}  // namespace tandem::app
