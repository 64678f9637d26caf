#include "place/engine/experience.h"

#include <nlohmann/json.hpp>
#include <random>

#include "place/engine/scheduler_testing.h"

namespace tandem::place {
namespace {

// Tasks of two families end on two types, of any work and for any time.
class ExperienceTest : public SchedulerTest {
 protected:
  void SetUp() override {
    policy("fifo");
    node("quick", 2), node("slow", 4);
  }
  Event a_task_ends() {
    spec::PlaceSpec place;
    place.family = draw(0, 1) < 0.5 ? "a" : "b";
    place.work = draw(1, 50);
    const auto task = job(static_cast<int>(draw(1, 5)), 10, place);  // of three and four: on the slow one
    starts(task);
    after(draw(1, 100));
    ends(task);
    return {view_.now, TaskEnded{task, 1, {}}};
  }
  double draw(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }

  std::mt19937_64 random_{7};
};

TEST_F(ExperienceTest, LearningLateIsLearningAtEveryTasksEnd) {
  const double rates[] = {1, 0.2, 0.02, 0.002};  // how often the late one learns: of many runs at once, too
  for (const double rate : rates) {
    Experience at_once, late;
    for (int i = 0; i < 1500; ++i) {
      const auto event = a_task_ends();
      at_once.saw(view_, event);
      at_once.learn();
      late.saw(view_, event);
      if (draw(0, 1) < rate) late.learn();
      if (i % 97 != 0 && i != 1499) continue;
      ASSERT_EQ(at_once.to_json(), late.learnt().to_json()) << "after " << i << " at rate " << rate;
    }
    const auto cluster = cluster_of(view_);
    const auto waits = job(2, 10, {.family = "a", .work = 7});
    const auto copy = late.learnt();
    for (std::uint32_t type = 0; type < 2; ++type) {
      const auto said = at_once.expect(view_, at(waits), cluster, type);
      EXPECT_EQ(said.seconds, copy.expect(view_, at(waits), cluster, type).seconds);
      EXPECT_EQ(said.within, copy.expect(view_, at(waits), cluster, type).within);
      EXPECT_EQ(said.from, Expected::From::learnt);
    }
    starts(waits), after(1), ends(waits);
  }
}

// What a scheduler that folded its history keeps is what one that decided it does.
TEST_F(ExperienceTest, ASchedulerThatFoldsLearnsTheSame) {
  Scheduler folded(parse_policy("fifo"), 1);
  for (int i = 0; i < 300; ++i) folded.fold(view_, a_task_ends(), {});
  EXPECT_EQ(folded.save(view_), scheduler_->save(view_));
}

}  // namespace
}  // namespace tandem::place
