#include "server/http/budget.h"

#include <gtest/gtest.h>

namespace tandem::server {
namespace {

class Budgeted : public testing::Test {
 protected:
  // Asks one thing that costs so much, at once.
  bool ask(Role role, double cost, double at, const std::string& client = "token a", std::size_t bytes = 0) {
    if (budget_.refused(client, role, Seconds{at})) return false;
    budget_.charge(client, Seconds{cost}, bytes, Seconds{at});
    return true;
  }
  // How many seconds of a core a loop gets within a time.
  double got(Role role, double cost, double seconds, const std::string& client = "token a") {
    double used = 0;
    for (double at = 0; at < seconds; at += 0.01)
      if (ask(role, cost, at, client)) used += cost;
    return used;
  }
  Budget budget_;
};

TEST_F(Budgeted, ALoopGetsItsShareByItsRole) {
  const double view = got(Role::view, 0.1, 1000, "v"), submit = got(Role::submit, 0.1, 1000, "s"),
               operate = got(Role::operate, 0.1, 1000, "o");
  EXPECT_NEAR(view, 1 + 50, 0.5);
  EXPECT_NEAR(submit, 1 + 100, 0.5);
  EXPECT_NEAR(operate, 10 + 500, 0.5);
}

TEST_F(Budgeted, HonestUseIsNeverRefused) {
  for (double at = 0; at < 86400; at += 1) {
    if (static_cast<int>(at) % 5 == 0) {
      EXPECT_TRUE(ask(Role::view, 0.02, at, "token prometheus", 50'000));
    }
    EXPECT_TRUE(ask(Role::view, 0.005, at, "token page", 100'000)) << "a page that is loaded every second";
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(ask(Role::submit, 0.002, at, "user 1001")) << "submit --wait";
  }
}

TEST_F(Budgeted, OneClientsDebtIsNotAnothers) {
  while (ask(Role::view, 1, 0, "token greedy")) continue;
  EXPECT_TRUE(ask(Role::view, 0.01, 0, "token honest"));
}

TEST_F(Budgeted, WhoIsRefusedIsToldWhenToComeBackAndIsLetInThen) {
  EXPECT_TRUE(ask(Role::view, 1.5, 0));
  const auto wait = budget_.refused("token a", Role::view, Seconds{0});
  ASSERT_TRUE(wait);
  EXPECT_NEAR(wait->value, 10, 1e-6) << "half a second at a twentieth";
  EXPECT_FALSE(ask(Role::view, 0.1, 9.9));
  EXPECT_TRUE(ask(Role::view, 0.1, 10.1));
}

TEST_F(Budgeted, LongAnswersCostToo) {
  int answered = 0;
  while (ask(Role::view, 0, 0, "token a", 10'000'000)) ++answered;
  EXPECT_NEAR(answered, 20, 1) << "a second is 200 MB";
}

TEST_F(Budgeted, ACrowdAtOnceIsAdmittedForNoMoreThanIsLeft) {
  int let_in = 0;
  while (!budget_.refused("token a", Role::view, Seconds{0})) ++let_in;
  EXPECT_NEAR(let_in, 1 / 0.02, 1);
  for (int i = 0; i < let_in; ++i) budget_.charge("token a", Seconds{0.4}, 0, Seconds{0});
  EXPECT_FALSE(ask(Role::view, 0.4, 300)) << "each was dearer than was expected: the debt is paid first";
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(budget_.refused("token a", Role::view, Seconds{1000}));
  EXPECT_TRUE(budget_.refused("token a", Role::view, Seconds{1000})) << "three of 0.4 s are under way, 1 s is left";
}

TEST_F(Budgeted, ClientsWithNothingToPayAreForgotten) {
  for (int i = 0; i < 100'000; ++i) ask(Role::view, 0.001, i, "address " + std::to_string(i));
  EXPECT_LE(budget_.clients(), 1024U);
}

TEST(Client, IsATokenAUserOrAnAddress) {
  EXPECT_EQ(client_of({}, {Role::view, 7, "token a"}), "token a");
  EXPECT_EQ(client_of({.unix_socket = true, .user = 7}, {}), "user 7");
  EXPECT_EQ(client_of({.from = "127.0.0.1"}, {}), "address 127.0.0.1");
}

}  // namespace
}  // namespace tandem::server
