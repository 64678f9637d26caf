// A snapshot is a cache: with the entries that came after it, it is the fold of the whole journal.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "control/loop.h"
#include "control/memory_journal.h"
#include "event/codec.h"
#include "event/snapshot.h"
#include "place/engine/scheduler.h"
#include "platform/temporary.h"
#include "server/snapshot_keeper.h"
#include "sim/world/programs_declared.h"
#include "sim/world/world.h"
#include "tune/train.h"
#include "tune/tune.h"

namespace tandem::server {
namespace {

using control::Entry;

std::vector<std::unique_ptr<Policy>> policies(const std::string& policy) {
  std::vector<std::unique_ptr<Policy>> out;
  out.push_back(std::make_unique<tune::TrainController>());
  out.push_back(std::make_unique<tune::TuneController>());
  out.push_back(std::make_unique<place::Scheduler>(place::parse_policy(policy), 1));
  return out;
}

std::vector<sim::NodeGroup> nodes() {
  sim::NodeGroup fast{
      .name = "fast", .capacity = {2, 0, 1.0}, .count = 2, .power = sim::PowerModel{Watts{50}, Watts{250}}};
  sim::NodeGroup slow{
      .name = "slow", .capacity = {3, 0, 1.0}, .count = 2, .power = sim::PowerModel{Watts{5}, Watts{15}}};
  for (auto* group : {&fast, &slow})
    group->background.push_back({Seconds{0}, {0.0, 0.0, 0.0, 0.0, 0.0, Seconds{0}}});
  fast.traits.speed_factor = 2;
  return {fast, slow};
}

// What a server with random jobs journalled: submissions, cancellations, ends, archiving.
std::vector<Entry> random_life(const std::string& policy, std::uint64_t seed) {
  Random random(seed);
  sim::DeclaredPrograms programs({{"fast", 2}, {"slow", 1}});
  sim::World world({.nodes = nodes(), .open_ended = true}, programs);
  control::MemoryJournal journal;
  control::Loop loop({world, journal}, policies(policy));
  loop.open();
  int turns = 0;
  loop.serve([&] {
    if (random.below(2) == 0) {
      spec::TrainJob job;
      job.name = "job-" + std::to_string(turns);
      job.program.command = {"work"};
      job.program.plain = true;
      job.epochs = 0;
      job.system.cores = 1 + static_cast<int>(random.below(3));
      job.place.seconds = Seconds{1.0 + static_cast<double>(random.below(20))};
      job.place.family = "family-" + std::to_string(random.below(3));
      job.place.priority = static_cast<int>(random.below(3));
      loop.submit(job);
    }
    if (random.below(20) == 0)
      for (const auto& job : loop.view().jobs)
        if (job.state == JobState::running) {
          loop.cancel(job.id, "cancelled");
          break;
        }
    if (random.below(10) == 0) {
      std::vector<JobId> over;
      for (const auto& job : loop.view().jobs) {
        const auto alive = [&](TaskId id) { return loop.view().tasks[static_cast<std::size_t>(id)].alive; };
        if (job.state != JobState::running && std::none_of(job.tasks.begin(), job.tasks.end(), alive) &&
            random.below(2) == 0)
          over.push_back(job.id);
      }
      loop.archive(over);
    }
    return ++turns < 120;
  });
  return journal.entries();
}

std::string text(const Entry& entry) {
  std::string out = to_json(entry.event).dump();
  for (const auto& decision : entry.decisions) out += "\n  " + to_json(decision).dump();
  return out;
}

control::Snapshot taken(const control::Decider& decider, const Entry& last) {
  auto saved = decider.saved();
  EXPECT_TRUE(saved);
  return {last, decider.view(), std::move(*saved)};
}

TEST(Snapshot, WithItsTailItIsTheFoldOfTheWholeJournalAndDecidesTheSame) {
  for (const std::string policy : {"fifo", "heats:H=0.5", "infra", "backfill", "preempt-restart"})
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const auto life = random_life(policy, seed);
      ASSERT_GT(life.size(), 100U);
      Random random(seed + 100);
      for (int round = 0; round < 5; ++round) {
        const std::size_t cut = 1 + random.below(life.size() - 1);
        control::Decider whole(policies(policy)), folded(policies(policy)), decides(policies(policy)),
            live(policies(policy));
        for (std::size_t i = 0; i < cut; ++i) {
          whole.fold(life[i]);
          live.step(life[i].event);
        }
        EXPECT_EQ(live.saved(), whole.saved())
            << policy << " " << seed << ": who decided knows what who folds knows";
        const auto bytes = control::to_bytes(taken(whole, life[cut - 1]));
        const auto snapshot = control::snapshot_from(bytes);
        ASSERT_TRUE(snapshot);
        EXPECT_EQ(snapshot->last, life[cut - 1]);
        ASSERT_TRUE(folded.restore(*snapshot));
        ASSERT_TRUE(decides.restore(*snapshot));
        for (std::size_t i = cut; i < life.size(); ++i) {
          whole.fold(life[i]);
          folded.fold(life[i]);
          const auto again = decides.step(life[i].event);
          ASSERT_TRUE(again == life[i]) << policy << " " << seed << " entry " << i << " cut " << cut << "\n"
                                        << text(again) << "\n"
                                        << text(life[i]);
        }
        EXPECT_EQ(view_to_bytes(folded.view()), view_to_bytes(whole.view())) << policy << " " << seed;
        EXPECT_EQ(folded.saved(), whole.saved());
      }
    }
}

TEST(Snapshot, ALargeOneIsWrittenInPiecesAndReadBackWhole) {
  control::Snapshot large;
  large.policies = {"a", "", "c"};
  for (JobId id = 0; id < 5000; ++id) {
    auto& job = large.view.jobs.emplace_back();
    job.id = id;
    job.reason = std::string(100, 'x');
  }
  large.view.jobs.erase(17);
  std::size_t longest = 0, all = 0;
  control::write(large, [&](std::string_view piece) {
    longest = std::max(longest, piece.size());
    all += piece.size();
  });
  EXPECT_GT(all, 1'000'000u);
  EXPECT_LT(longest, 400'000u);
  const auto again = control::snapshot_from(control::to_bytes(large));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->policies, large.policies);
  EXPECT_EQ(view_to_bytes(again->view), view_to_bytes(large.view));
}

// A kind whose controller cannot be saved.
struct Unsaved final : Policy {
  std::vector<DecisionBody> step(const View&, const Event&) override { return {}; }
};

TEST(SnapshotKeeper, SaysOnceThatAPolicyPreventsSnapshots) {
  platform::TemporaryFolder folder("tandem-keeper");
  std::string said;
  Log log([&](std::string_view line) { said += line; });
  SnapshotKeeper keeper(folder.path(), log);
  for (const bool saves : {false, true}) {
    sim::DeclaredPrograms programs({});
    sim::World world({.nodes = nodes(), .open_ended = true}, programs);
    control::MemoryJournal journal;
    std::vector<std::unique_ptr<Policy>> all;
    if (!saves) all.push_back(std::make_unique<Unsaved>());
    control::Loop loop({world, journal}, std::move(all));
    loop.open();
    keeper.keep_now(loop);
    keeper.keep_now(loop);
    EXPECT_EQ(keeper.prevented(), !saves);
    EXPECT_EQ(keeper.events().has_value(), saves);
    EXPECT_EQ(keeper.newest().empty(), !saves);
  }
  const auto first = said.find("no snapshot can be kept");
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("no snapshot can be kept", first + 1), std::string::npos) << "once is enough";
}

class OpenTest : public testing::Test {
 protected:
  OpenTest() : life_(random_life("heats:H=0.5", 9)) { journal_.append(life_); }

  control::Snapshot at(std::size_t cut) const {
    control::Decider decider(policies("heats:H=0.5"));
    for (std::size_t i = 0; i < cut; ++i) decider.fold(life_[i]);
    return taken(decider, life_[cut - 1]);
  }
  // What a loop knows that was opened with it; and how many entries it folded.
  std::pair<std::string, int> opened_with(const std::string& bytes) {
    struct Counting final : control::Journal {
      explicit Counting(control::Journal& journal) : of(journal) {}
      void append(std::span<const Entry>) override {}
      void replay(const std::function<void(Entry&&)>& each) override {
        of.replay([&](Entry&& entry) { ++read, each(std::move(entry)); });
      }
      void replay_from(std::int64_t from, const std::function<void(Entry&&)>& each) override {
        of.replay_from(from, [&](Entry&& entry) { ++read, each(std::move(entry)); });
      }
      control::Journal& of;
      int read = 0;
    } counting(journal_);
    sim::DeclaredPrograms programs({{"fast", 2}, {"slow", 1}});
    sim::World world({.nodes = nodes(), .open_ended = true}, programs);
    control::Loop loop({world, counting}, policies("heats:H=0.5"));
    loop.open(bytes);
    return {view_to_bytes(loop.view()), counting.read};
  }

  std::vector<Entry> life_;
  control::MemoryJournal journal_;
};

TEST_F(OpenTest, OnlyWhatCameAfterASnapshotIsFolded) {
  const auto whole = opened_with("");
  EXPECT_EQ(whole.second, static_cast<int>(life_.size()));
  const auto quick = opened_with(control::to_bytes(at(life_.size() - 10)));
  EXPECT_EQ(quick.first, whole.first);
  EXPECT_EQ(quick.second, 11);
}

TEST_F(OpenTest, ASnapshotThatIsDamagedForeignOrOfAnotherTandemIsAsGoodAsNone) {
  const auto whole = opened_with("").first;
  const auto good = control::to_bytes(at(50));
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    auto bytes = good;
    bytes[random.below(bytes.size())] ^= static_cast<char>(1 + random.below(255));
    EXPECT_FALSE(control::snapshot_from(bytes));
  }
  for (const auto size : {std::size_t{0}, std::size_t{7}, good.size() / 2, good.size() - 1})
    EXPECT_EQ(opened_with(good.substr(0, size)).first, whole);
  auto foreign = at(50);
  foreign.last.event.at += Seconds{1};
  EXPECT_EQ(opened_with(control::to_bytes(foreign)).first, whole) << "of another journal";
  foreign = at(50);
  foreign.last.number = static_cast<std::int64_t>(life_.size()) + 1;
  EXPECT_EQ(opened_with(control::to_bytes(foreign)).first, whole) << "of a longer journal";
  foreign = at(50);
  foreign.policies.back() = "{}";
  EXPECT_EQ(opened_with(control::to_bytes(foreign)).first, whole) << "of other policies";
}

}  // namespace
}  // namespace tandem::server
