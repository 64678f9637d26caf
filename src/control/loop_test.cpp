#include "control/loop.h"

#include <gtest/gtest.h>

#include <cerrno>

#include <deque>

#include "base/error.h"
#include "control/memory_journal.h"

namespace tandem::control {
namespace {

// Continues every epoch, starts what is asked for, finishes when a task ends.
class Simple final : public Policy {
 public:
  std::vector<DecisionBody> step(const View&, const Event& event) override {
    if (std::holds_alternative<JobSubmitted>(event.body)) return {Request{0, 0, {}}, Start{0, 1, 0, {}}};
    if (std::holds_alternative<JobResumed>(event.body)) return {Request{0, 0, {}}, Start{0, 2, 0, {}}};
    if (const auto* epoch = std::get_if<EpochEnded>(&event.body))
      return {Continue{0, epoch->attempt, epoch->epoch}};
    if (std::holds_alternative<TaskEnded>(event.body)) return {FinishJob{0, JobState::finished, ""}};
    if (std::holds_alternative<TaskFailed>(event.body)) return {FinishJob{0, JobState::failed, "failed"}};
    if (std::holds_alternative<JobCancelled>(event.body)) return {Stop{0, 1, "asked"}};
    return {};
  }
};

// Two epochs and out; remembers what was durable when it was told to act.
class ScriptedWorld final : public World {
 public:
  explicit ScriptedWorld(MemoryJournal& journal) : journal_(journal) {}
  Capabilities capabilities() const override { return {}; }
  Seconds now() override { return {clock_ += 1}; }
  std::vector<NodeJoined> nodes() override { return {{0, "here", {1, 0, 1.0}}}; }
  std::vector<Event> reconcile(const View& view) override {
    if (view.holding.empty()) return {};
    return {{now(), TaskFailed{0, 1, Failure::lost, "gone", "", {}}}};
  }
  void carry_out(const Decision& decision, const View&) override {
    bool durable = false;
    for (const auto& entry : journal_.entries())
      for (const auto& written : entry.decisions) durable |= written == decision;
    EXPECT_TRUE(durable) << "acted on " << name(decision.body) << " before it was journalled";
    carried_.push_back(decision);
    if (const auto* start = std::get_if<Start>(&decision.body)) {
      queue_.push_back(TaskStarted{0, start->attempt, decision.id, 1, 1, {0}});
      queue_.push_back(EpochEnded{0, start->attempt, 1, {}, Seconds{1}, {}, {}});
    } else if (const auto* go = std::get_if<Continue>(&decision.body)) {
      if (go->epoch == 1)
        queue_.push_back(EpochEnded{0, go->attempt, 2, {}, Seconds{1}, {}, {}});
      else
        queue_.push_back(TaskEnded{0, go->attempt, {}});
    } else if (std::holds_alternative<Stop>(decision.body)) {
      queue_.clear();
      queue_.push_back(TaskEnded{0, 1, {}});
    }
  }
  std::vector<Event> wait(Seconds) override {
    if (queue_.empty()) return {};
    Event event{now(), queue_.front()};
    queue_.pop_front();
    return {event};
  }

  std::vector<Decision> carried_;

 private:
  MemoryJournal& journal_;
  std::deque<EventBody> queue_;
  double clock_ = 1000;
};

class CountingSensor final : public Sensor {
 public:
  void attach(TaskId, std::int64_t) override {}
  void sample() override { ++samples; }
  Reading read(TaskId) override { return {Energy{Joules{2}, "test"}, {{{"task-clock", 1.0}}}}; }
  void detach(TaskId) override { ++detached; }
  int samples = 0, detached = 0;
};

std::vector<std::unique_ptr<Policy>> simple() {
  std::vector<std::unique_ptr<Policy>> policies;
  policies.push_back(std::make_unique<Simple>());
  return policies;
}

TEST(Loop, RunsAJobToItsEndAndMeasuresEveryStretch) {
  MemoryJournal journal;
  ScriptedWorld world(journal);
  CountingSensor sensor;
  Loop loop({world, journal, &sensor, nullptr}, simple());
  loop.open();
  loop.submit({});
  loop.run();
  const auto& task = loop.view().tasks.at(0);
  EXPECT_EQ(loop.view().jobs.at(0).state, JobState::finished);
  EXPECT_EQ(task.reported(), 2);
  EXPECT_DOUBLE_EQ(task.joules().value, 6) << "two epochs and the tail";
  EXPECT_EQ(task.epochs[0].profile.rates.at("task-clock"), 1.0);
  EXPECT_EQ(sensor.detached, 1);
  EXPECT_GT(sensor.samples, 0);
}

TEST(Loop, NumbersEntriesWithoutGapsAndReplaysToTheSameDecisionsAndView) {
  MemoryJournal journal;
  ScriptedWorld world(journal);
  Loop loop({world, journal, nullptr, nullptr}, simple());
  loop.open();
  loop.submit({});
  loop.run();
  for (std::size_t i = 0; i < journal.entries().size(); ++i)
    EXPECT_EQ(journal.entries()[i].number, static_cast<std::int64_t>(i) + 1);
  EXPECT_EQ(first_difference(simple(), journal), std::nullopt);
}

// Every prefix of the journal is a place where a crash can happen.
TEST(Loop, GoesOnFromEveryPrefixOfItsJournal) {
  MemoryJournal whole;
  {
    ScriptedWorld world(whole);
    Loop loop({world, whole, nullptr, nullptr}, simple());
    loop.open();
    loop.submit({});
    loop.run();
  }
  for (std::size_t keep = 0; keep <= whole.entries().size(); ++keep) {
    MemoryJournal journal;
    journal.append(std::span(whole.entries()).first(keep));
    ScriptedWorld world(journal);
    Loop loop({world, journal, nullptr, nullptr}, simple());
    loop.open();
    if (loop.view().jobs.empty()) loop.submit({});
    loop.resume_jobs();
    loop.run();
    EXPECT_EQ(loop.view().jobs.at(0).state, JobState::finished) << "after " << keep << " entries";
    EXPECT_EQ(first_difference(simple(), journal), std::nullopt);
  }
}

TEST(Loop, ADifferentPolicyIsNoticed) {
  class Lazy final : public Policy {
    std::vector<DecisionBody> step(const View&, const Event&) override { return {}; }
  };
  MemoryJournal journal;
  ScriptedWorld world(journal);
  Loop loop({world, journal, nullptr, nullptr}, simple());
  loop.open();
  loop.submit({});
  std::vector<std::unique_ptr<Policy>> lazy;
  lazy.push_back(std::make_unique<Lazy>());
  EXPECT_EQ(first_difference(std::move(lazy), journal), 2);
}

TEST(Loop, ACancelStopsTheTaskBeforeTheJobIsOver) {
  MemoryJournal journal;
  ScriptedWorld world(journal);
  Loop loop({world, journal, nullptr, nullptr}, simple());
  loop.open();
  loop.submit({});
  loop.run([] { return std::optional<std::string>("enough"); });
  EXPECT_TRUE(loop.view().jobs.at(0).cancelled);
  EXPECT_TRUE(loop.view().holding.empty());
}

TEST(Loop, NothingIsDoneWhenTheJournalCannotBeWritten) {
  class FullDisk final : public Journal {
   public:
    void append(std::span<const Entry>) override { throw SystemError("the disk is full"); }
    void replay(const std::function<void(Entry&&)>&) override {}
  } full;
  MemoryJournal nothing;
  ScriptedWorld world(nothing);
  Loop loop({world, full, nullptr, nullptr}, simple());
  loop.open();
  EXPECT_THROW(loop.submit({}), SystemError);
  EXPECT_TRUE(world.carried_.empty());
}

TEST(Loop, AFullDiskEndsProgramsFirstAndThenUsesTheReserve) {
  std::vector<std::string> order;
  class Reserved final : public Journal {
   public:
    Reserved(MemoryJournal& kept, std::vector<std::string>& order) : kept_(kept), order_(order) {}
    void append(std::span<const Entry> entries) override {
      if (full_) throw SystemError("the disk is full", ENOSPC);
      kept_.append(entries);
    }
    bool use_reserve() override {
      order_.push_back("reserve");
      return std::exchange(full_, false);
    }
    void replay(const std::function<void(Entry&&)>&) override {}
    MemoryJournal& kept_;
    std::vector<std::string>& order_;
    bool full_ = false;
  };
  class Emptied final : public World {
   public:
    Emptied(World& world, std::vector<std::string>& order) : world_(world), order_(order) {}
    Capabilities capabilities() const override { return world_.capabilities(); }
    Seconds now() override { return world_.now(); }
    std::vector<NodeJoined> nodes() override { return world_.nodes(); }
    void carry_out(const Decision& decision, const View& view) override { world_.carry_out(decision, view); }
    std::vector<Event> wait(Seconds at_most) override { return world_.wait(at_most); }
    std::vector<Event> reconcile(const View& view) override { return world_.reconcile(view); }
    void out_of_space() override { order_.push_back("programs"); }
    World& world_;
    std::vector<std::string>& order_;
  };
  MemoryJournal kept;
  Reserved journal(kept, order);
  ScriptedWorld scripted(kept);
  Emptied world(scripted, order);
  Loop loop({world, journal, nullptr, nullptr}, simple());
  loop.open();
  const auto before = kept.entries().size();
  journal.full_ = true;
  loop.submit({});
  EXPECT_GT(kept.entries().size(), before);
  EXPECT_EQ(order, (std::vector<std::string>{"programs", "reserve"}));
}

}  // namespace
}  // namespace tandem::control
