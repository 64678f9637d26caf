#include "app/run_list.h"

#include <gtest/gtest.h>

#include "app/run_testing.h"
#include "app/runs.h"
#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::app {
namespace {

using sample::Played;
using sample::training;

class RunListTest : public testing::Test {
 protected:
  store::RunInfo add(const std::string& name, std::int64_t epochs, std::int64_t done = -1) {
    auto job = training(epochs);
    job.name = name;
    return sample::keep(store_, job, Played(job, {}, done));
  }
  std::vector<std::string> found(const RunFilter& filter, Seconds now = Seconds{2000}) {
    std::vector<std::string> names;
    for (const auto& listed : find_runs(store_, filter, now)) names.push_back(listed.run.name);
    return names;
  }

  platform::TemporaryFolder folder_{"tandem-run-list"};
  store::Store store_{folder_.path() / "store"};
};

using Names = std::vector<std::string>;

TEST_F(RunListTest, AFilterFindsWhatHasAllOfIt) {
  const auto a = add("a", 3), b = add("b", 3, 1);
  store_.label(a.id, {"paper"}, {}, {});
  EXPECT_EQ(found({}), (Names{"b", "a"})) << "newest first";
  EXPECT_EQ(found({.state = "finished"}), Names{"a"});
  EXPECT_EQ(found({.state = "interrupted"}), Names{"b"});
  EXPECT_EQ(found({.name = "b"}), Names{"b"});
  EXPECT_EQ(found({.kind = "tune"}), Names{});
  EXPECT_EQ(found({.tag = "paper"}), Names{"a"});
  EXPECT_EQ(found({.state = "interrupted", .tag = "paper"}), Names{});
  EXPECT_EQ(found({.older = Seconds{999}}), (Names{"b", "a"}));
  EXPECT_EQ(found({.older = Seconds{1001}}), Names{});
}

TEST_F(RunListTest, ASummaryIsWhatTheRunCameToAndFollowsIt) {
  const auto run = add("a", 3);
  const auto summary = summary_of(store_, run);
  EXPECT_EQ(summary["score"]["metric"], "accuracy");
  EXPECT_DOUBLE_EQ(summary["score"]["value"], 0.75);
  EXPECT_DOUBLE_EQ(summary["seconds"], 30);
  EXPECT_DOUBLE_EQ(summary["joules"], 90);
  EXPECT_EQ(summary["energy_source"], "rapl");
  EXPECT_EQ(summary["progress"]["done"], 3);
  EXPECT_EQ(summary_of(store_, run), summary) << "kept";
  EXPECT_TRUE(store_.summary(run));
}

TEST_F(RunListTest, WithoutAMeterJoulesAreNullAndNotZero) {
  const auto job = training(2);
  const auto run = sample::keep(store_, job, Played(job, {.joules_a_second = {}}));
  EXPECT_TRUE(summary_of(store_, run)["joules"].is_null());
}

TEST_F(RunListTest, ADamagedRunDoesNotHideTheOthers) {
  store_.create_run("train", "bad", "{not json", Seconds{1});
  add("good", 2);
  std::vector<nlohmann::json> rows;
  for (const auto& listed : find_runs(store_, {}, Seconds{2})) rows.push_back(listed_json(store_, listed));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["score"]["metric"], "accuracy");
  EXPECT_EQ(rows[1]["name"], "bad");
}

TEST_F(RunListTest, RunsAreComparedByWhatTheyReached) {
  std::vector<JobRun> runs;
  for (const auto& run : {add("a", 2), add("b", 5)})
    runs.push_back(whole_run(run, replayed(store_, run), store_.run_folder(run.id)));
  const auto found = comparison(store_, runs)["runs"];
  ASSERT_EQ(found.size(), 2U);
  EXPECT_LT(found[0]["score"]["value"], found[1]["score"]["value"]);
  EXPECT_EQ(found[0]["hyper"]["batch_size"], 64);
  EXPECT_EQ(found[1]["name"], "b");
}

TEST_F(RunListTest, ARunIsRemovedWithItsFilesUnlessSomebodyWorksOnIt) {
  const auto run = add("a", 2);
  {
    const auto lock = store::RunLock::take(store_.run_folder(run.id));
    EXPECT_THROW(remove_run(store_, run), UserError);
  }
  EXPECT_EQ(removed_text(remove_run(store_, run)), "Removed " + run.id + ".\n");
  EXPECT_FALSE(std::filesystem::exists(store_.run_folder(run.id)));
  EXPECT_TRUE(store_.runs().empty());
}

TEST(RunList, TagsAreWordsThatCanBeWrittenOnACommandLine) {
  EXPECT_NO_THROW(require_tag("figure-3"));
  for (const std::string& bad : {std::string(), std::string("two words"), std::string("a,b"), std::string("a\nb"),
                                 std::string("\x1b[31m"), std::string(61, 'x')})
    EXPECT_THROW(require_tag(bad), UserError) << bad;
}

}  // namespace
}  // namespace tandem::app
