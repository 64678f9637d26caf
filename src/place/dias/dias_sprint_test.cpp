#include "place/dias/dias_sprint.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tandem::place {
namespace {

TEST(DiasSprint, SpeedComesFromThePartThatFollowsTheClock) {
  PowerStates states;
  EXPECT_NEAR(states.sprint_speed(), 2.5, 1e-12);  // 90 % of the time falls to a third: 60 % less
  states.cpu_share = 1;
  EXPECT_NEAR(states.sprint_speed(), 3, 1e-12);
  states.cpu_share = 0;
  EXPECT_NEAR(states.sprint_speed(), 1, 1e-12);
}

TEST(DiasSprint, RefusesStatesThatCannotBe) {
  EXPECT_THROW(check(PowerStates{2e9, 1e9}, "here"), UserError);
  EXPECT_THROW(check(PowerStates{1e9, 2e9, Watts{200}, Watts{100}}, "here"), UserError);
  EXPECT_THROW(check(PowerStates{1e9, 2e9, Watts{1}, Watts{2}, Watts{0}, 1.5}, "here"), UserError);
  EXPECT_NO_THROW(check(PowerStates{}, "here"));
}

TEST(DiasSprint, ABudgetIsSpentAndRefills) {
  SprintBudget budget(SprintLimit{Joules{900}, Watts{10}}, Watts{100});
  EXPECT_NEAR(budget.spend(Seconds{0}, Seconds{5}).value, 5, 1e-12);
  EXPECT_NEAR(budget.left(Seconds{5}).value, 900 - 5 * 90, 1e-9);
  EXPECT_NEAR(budget.spend(Seconds{5}, Seconds{50}).value, 5, 1e-12);  // empty after 450 J at 90 W
  EXPECT_NEAR(budget.left(Seconds{10}).value, 0, 1e-9);
  EXPECT_NEAR(budget.left(Seconds{40}).value, 300, 1e-9);
  EXPECT_NEAR(budget.left(Seconds{4000}).value, 900, 1e-9);  // never more than full
}

TEST(DiasSprint, JoulesSpentNeverExceedWhatCameIn) {
  SprintBudget budget(SprintLimit{Joules{900}, Watts{10}}, Watts{100});
  double sprinted = 0, now = 0;
  for (int i = 0; i < 1000; ++i, now += 7) sprinted += budget.spend(Seconds{now}, Seconds{3}).value;
  EXPECT_LE(sprinted * 100, 900 + 10 * now);
  EXPECT_GE(sprinted * 100, 0.99 * 10 * now);  // and little is left unused when more is wanted
}

TEST(DiasSprint, RefillOfSixMinutesAnHourIsATenthOfTheExtraPower) {
  EXPECT_NEAR(refill_for(PowerStates{}, Seconds{360}).value, 9, 1e-12);
}

TEST(DiasSprint, ARunSprintsAfterItsTimeoutAndWhileTheBudgetLasts) {
  SprintBudget without_end(std::nullopt, Watts{90});
  const auto short_one = sprinted_run(without_end, Seconds{0}, Seconds{60}, Seconds{65}, 2.5);
  EXPECT_EQ(short_one.takes.value, 60);
  EXPECT_EQ(short_one.sprints.value, 0);
  const auto long_one = sprinted_run(without_end, Seconds{0}, Seconds{165}, Seconds{65}, 2.5);
  EXPECT_NEAR(long_one.takes.value, 105, 1e-12);
  EXPECT_NEAR(long_one.sprints.value, 40, 1e-12);
  SprintBudget small(SprintLimit{Joules{900}, Watts{0}}, Watts{90});
  const auto cut = sprinted_run(small, Seconds{0}, Seconds{165}, Seconds{65}, 2.5);  // 10 s of sprint
  EXPECT_NEAR(cut.sprints.value, 10, 1e-12);
  EXPECT_NEAR(cut.takes.value, 65 + 10 + (100 - 25), 1e-12);
}

}  // namespace
}  // namespace tandem::place
