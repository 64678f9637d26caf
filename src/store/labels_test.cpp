#include <gtest/gtest.h>

#include "platform/temporary.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace tandem::store {
namespace {

class LabelsTest : public testing::Test {
 protected:
  platform::TemporaryFolder folder_{"tandem-labels"};
  Store store_{folder_.path() / "store"};
};

TEST_F(LabelsTest, TagsAndNotesAreKeptByRunAndGoWithIt) {
  const auto a = store_.create_run("train", "a", "{}", Seconds{1}).id;
  const auto b = store_.create_run("train", "b", "{}", Seconds{2}).id;
  EXPECT_TRUE(store_.labels().empty());
  store_.label(a, {"paper", "best", "paper"}, {}, "the one of figure 3");
  store_.label(b, {"paper"}, {}, {});
  EXPECT_EQ(store_.labels()[a].tags, (std::vector<std::string>{"best", "paper"}));
  EXPECT_EQ(store_.labels()[a].note, "the one of figure 3");
  store_.label(a, {}, {"paper", "never given"}, {});
  EXPECT_EQ(store_.labels()[a].tags, std::vector<std::string>{"best"});
  EXPECT_EQ(store_.labels()[a].note, "the one of figure 3") << "no note is no change";
  store_.label(a, {}, {}, "");
  EXPECT_EQ(store_.labels()[a].note, "");
  store_.remove(b);
  EXPECT_FALSE(store_.labels().contains(b));
}

TEST_F(LabelsTest, ASummaryCountsOnlyAsLongAsTheRunHasNotChanged) {
  auto run = store_.create_run("train", "a", "{}", Seconds{1});
  EXPECT_FALSE(store_.summary(run));
  store_.keep_summary(run, "one");
  EXPECT_EQ(store_.summary(run), "one");
  store_.journal(run.id)->append(
      std::vector<control::Entry>{{1, {Seconds{9}, Woke{0}}, {{1, FinishJob{0, JobState::finished, ""}}}}});
  run = store_.find(run.id);
  EXPECT_FALSE(store_.summary(run));
  store_.keep_summary(run, "two");
  EXPECT_EQ(store_.summary(run), "two");
}

// As a store of version 6 has them.
TEST_F(LabelsTest, AnOlderStoreLearnsThem) {
  const auto id = store_.create_run("train", "a", "{}", Seconds{1}).id;
  Database(folder_.path() / "store/tandem.db")
      .execute("DROP TABLE tag; DROP TABLE note; DROP TABLE summary; PRAGMA user_version=6");
  Store again(folder_.path() / "store");
  again.label(id, {"x"}, {}, {});
  EXPECT_EQ(again.labels()[id].tags, std::vector<std::string>{"x"});
}

}  // namespace
}  // namespace tandem::store
