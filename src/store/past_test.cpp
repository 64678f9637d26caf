#include <gtest/gtest.h>

#include "platform/temporary.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace tandem::store {
namespace {

using Bodies = std::vector<std::string>;

class PastTest : public testing::Test {
 protected:
  RunInfo ended(const std::string& kind, double at) {
    const auto run = store_.create_run(kind, "a", "{}", Seconds{at});
    end(run.id, at + 1);
    return store_.find(run.id);
  }
  void end(const std::string& id, double at) {
    const auto journal = store_.journal(id);
    std::int64_t entries = 0;
    journal->replay([&](control::Entry&&) { ++entries; });
    journal->append(std::vector<control::Entry>{
        {entries + 1, {Seconds{at}, Woke{0}}, {{1, FinishJob{0, JobState::finished, ""}}}}});
  }
  std::vector<std::string> unfolded(const std::string& program = "") {
    std::vector<std::string> ids;
    for (const auto& run : store_.unfolded(program)) ids.push_back(run.id);
    return ids;
  }
  std::vector<std::int64_t> numbers() {  // of the rows
    Database database(folder_.path() / "store/tandem.db");
    auto query = database.prepare("SELECT number FROM past ORDER BY number");
    std::vector<std::int64_t> out;
    while (query.step()) out.push_back(query.integer(0));
    return out;
  }

  platform::TemporaryFolder folder_{"tandem-past"};
  Store store_{folder_.path() / "store"};
};

TEST_F(PastTest, ARunIsFoldedOnceItEndedAndAgainOnlyWhenItEndedAnew) {
  const auto running = store_.create_run("train", "a", "{}", Seconds{1});
  EXPECT_TRUE(unfolded().empty());
  const auto run = ended("train", 2);
  EXPECT_EQ(unfolded(), Bodies{run.id});
  store_.keep_folded({{run, {{"lenet5/digits", "one"}, {"lenet5/digits", "two"}}}});
  EXPECT_TRUE(unfolded().empty());
  end(run.id, 9);  // resumed with a raised limit
  EXPECT_EQ(unfolded(), Bodies{run.id});
  store_.keep_folded({{store_.find(run.id), {{"lenet5/digits", "three"}}}});
  EXPECT_EQ(store_.past("lenet5/digits"), Bodies{"three"});
  EXPECT_EQ(store_.past_count("lenet5/digits"), 1);
  EXPECT_EQ(store_.past_count("lenet5/mnist"), 0);
}

TEST_F(PastTest, ARunWithNothingToLearnFromIsNotFoldedAgainEither) {
  store_.keep_folded({{ended("tune", 2), {}}});
  EXPECT_TRUE(unfolded().empty());
  EXPECT_TRUE(store_.past_programs().empty());
}

TEST_F(PastTest, WhatIsKeptOfARunGoesWithIt) {
  const auto run = ended("train", 2);
  store_.keep_folded({{run, {{"p", "one"}}}});
  store_.keep_prediction(run.id, 0, "{}");
  EXPECT_EQ(store_.past_programs(), Bodies{"p"});
  ASSERT_EQ(store_.predictions().size(), 1U);
  EXPECT_EQ(store_.predictions()[0].run.id, run.id);
  store_.remove(run.id);
  EXPECT_TRUE(store_.past_programs().empty());
  EXPECT_TRUE(store_.predictions().empty());
  store_.keep_folded({{run, {{"p", "late"}}}});  // it was removed while its journal was read
  EXPECT_TRUE(store_.past_programs().empty());
}

// A long journal takes seconds to fold, and a server's changes whenever a job ends.
TEST_F(PastTest, AServersJournalIsFoldedAgainOnceEnoughIsNewInIt) {
  const auto server = store_.create_run("serve", "main", "{}", Seconds{0});
  end(server.id, 100);
  store_.keep_folded({{store_.find(server.id), {{"known", "one"}}}});
  end(server.id, 101);
  EXPECT_EQ(unfolded("known"), Bodies{server.id}) << "it is young, its journal is short";
  end(server.id, 100'000);
  store_.keep_folded({{store_.find(server.id), {{"known", "one"}}}});
  end(server.id, 100'030);
  EXPECT_TRUE(unfolded("known").empty());
  EXPECT_TRUE(unfolded("new").empty());
  end(server.id, 100'061);
  EXPECT_TRUE(unfolded("known").empty());
  EXPECT_EQ(unfolded("new"), Bodies{server.id}) << "a job of it may have ended meanwhile";
  end(server.id, 102'200);
  EXPECT_EQ(unfolded("known"), Bodies{server.id}) << "two percent of its life";
}

TEST_F(PastTest, FoldingAgainWritesOnlyWhatIsNew) {
  const auto run = ended("train", 2);
  store_.keep_folded({{run, {{"p", "one"}, {"p", "two"}, {"p", "two"}, {"q", "one"}}}});
  const auto kept = numbers();
  store_.keep_folded({{run, {{"p", "one"}, {"p", "two"}, {"p", "three"}}}});
  EXPECT_EQ(store_.past("p"), (Bodies{"one", "two", "three"}));
  EXPECT_TRUE(store_.past("q").empty());
  EXPECT_EQ(numbers()[0], kept[0]) << "the row that was there";
  EXPECT_EQ(numbers()[1], kept[1]);
}

TEST_F(PastTest, JobsOfAServerHavePredictionsOfTheirOwn) {
  const auto server = store_.create_run("serve", "main", "{}", Seconds{1});
  store_.keep_prediction(server.id, 0, "a");
  store_.keep_prediction(server.id, 1, "b");
  store_.keep_prediction(server.id, 1, "c");
  ASSERT_EQ(store_.predictions().size(), 2U);
  EXPECT_EQ(store_.predictions()[0].job, 1);
  EXPECT_EQ(store_.predictions()[0].body, "c");
}

TEST_F(PastTest, FittedModelsAreReplacedByName) {
  EXPECT_FALSE(store_.fitted("m"));
  store_.keep_fitted("m", "1");
  store_.keep_fitted("m", "2");
  EXPECT_EQ(store_.fitted("m"), "2");
}

}  // namespace
}  // namespace tandem::store
