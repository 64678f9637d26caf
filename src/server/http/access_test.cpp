#include "server/http/access.h"

#include <gtest/gtest.h>

namespace tandem::server {
namespace {

constexpr unsigned kOwner = 1000;
const Caller kLoopback{false, true, {}};
const Caller kElsewhere{false, false, {}};
const Caller kOwnerOverSocket{true, true, kOwner};
const Caller kOtherOverSocket{true, true, 1001};
const Caller kUnknownOverSocket{true, true, {}};

int status(Need need, const Caller& caller, ShownToken token) {
  const auto refused = access_refused(need, caller, token, kOwner);
  return refused ? refused->status : 200;
}

TEST(Access, ReadingFromThisMachineNeedsNoToken) {
  for (const auto& caller : {kLoopback, kOwnerOverSocket, kOtherOverSocket, kUnknownOverSocket})
    EXPECT_EQ(status(Need::read, caller, ShownToken::none), 200);
  EXPECT_EQ(status(Need::read, kElsewhere, ShownToken::none), 401);
}

TEST(Access, ChangingNeedsTheTokenOrTheSocketsOwner) {
  EXPECT_EQ(status(Need::change, kOwnerOverSocket, ShownToken::none), 200);
  EXPECT_EQ(status(Need::change, kOtherOverSocket, ShownToken::none), 403);
  EXPECT_EQ(status(Need::change, kUnknownOverSocket, ShownToken::none), 403);
  EXPECT_EQ(status(Need::change, kLoopback, ShownToken::none), 401);
  EXPECT_EQ(status(Need::change, kElsewhere, ShownToken::none), 401);
  EXPECT_EQ(status(Need::change, {false, true, kOwner}, ShownToken::none), 401)
      << "a user over TCP means nothing";
}

TEST(Access, TheTokenOpensEverythingAndAWrongOneNothing) {
  for (const auto need : {Need::read, Need::change})
    for (const auto& caller : {kLoopback, kElsewhere, kOwnerOverSocket, kOtherOverSocket}) {
      EXPECT_EQ(status(need, caller, ShownToken::right), 200);
      EXPECT_EQ(status(need, caller, ShownToken::wrong), 401);
    }
}

TEST(Access, AHostHeaderMustNameThisMachine) {
  for (const char* ours :
       {"localhost", "LOCALHOST:8470", "127.0.0.1", "127.0.0.1:80", "127.9.9.9", "[::1]:8470"})
    EXPECT_TRUE(host_is_ours(ours)) << ours;
  for (const char* other : {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80",
                            "10.0.0.1", "[::2]", "[::1", "::1", "0.0.0.0", "127.1"})
    EXPECT_FALSE(host_is_ours(other)) << other;
  EXPECT_TRUE(host_is_ours("Node7:8470", {"node7"}));
}

}  // namespace
}  // namespace tandem::server
