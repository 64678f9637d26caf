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

Identity with(Role role, unsigned user = 1001) {
  return {role, user, "token t"};
}

int status(Need need, const Caller& caller, const ShownToken& token = {}, Role others = Role::none) {
  try {
    const auto who = identified(caller, token, {kOwner, others});
    const auto refused = access_refused(need, who, caller);
    return refused ? refused->status : 200;
  } catch (const Refusal& refusal) {
    return refusal.status;
  }
}

TEST(Access, NothingOverTcpWithoutAToken) {
  for (const auto need : {Need::read, Need::change})
    for (const auto& caller : {kLoopback, kElsewhere, Caller{false, true, kOwner}})
      EXPECT_EQ(status(need, caller), 401) << "a user over TCP means nothing";
  EXPECT_EQ(status(Need::nothing, kLoopback), 200);
}

TEST(Access, OverTheSocketTheServersUserAndRootOperate) {
  for (const unsigned user : {kOwner, 0U}) {
    const auto who = identified({true, true, user}, {}, {kOwner, Role::none});
    EXPECT_EQ(who.role, Role::operate);
    EXPECT_EQ(who.user, user);
  }
  for (const auto need : {Need::read, Need::change}) {
    EXPECT_EQ(status(need, kOwnerOverSocket), 200);
    EXPECT_EQ(status(need, kOtherOverSocket), 403);
    EXPECT_EQ(status(need, kUnknownOverSocket), 403);
    EXPECT_EQ(status(need, kOtherOverSocket, {}, Role::submit), 200);
    EXPECT_EQ(status(need, kUnknownOverSocket, {}, Role::submit), 403) << "nobody knows who it is";
  }
  EXPECT_EQ(identified(kOtherOverSocket, {}, {kOwner, Role::submit}).user, 1001U);
}

TEST(Access, ATokenHasItsRoleAndAWrongOneNone) {
  for (const auto& caller : {kLoopback, kElsewhere, kOwnerOverSocket, kOtherOverSocket}) {
    for (const auto role : {Role::view, Role::submit, Role::operate}) {
      EXPECT_EQ(status(Need::read, caller, {true, with(role)}), 200);
      EXPECT_EQ(status(Need::change, caller, {true, with(role)}), role == Role::view ? 403 : 200);
    }
    for (const auto need : {Need::nothing, Need::read, Need::change})
      EXPECT_EQ(status(need, caller, {true, {}}), 401);
  }
  EXPECT_EQ(identified(kOwnerOverSocket, {true, with(Role::view)}, {kOwner, Role::none}).role, Role::view)
      << "who shows a token wants to be who it says";
}

TEST(Access, AHostHeaderMustNameThisMachine) {
  for (const char* ours :
       {"localhost", "LOCALHOST:8470", "127.0.0.1", "127.0.0.1:80", "127.9.9.9", "[::1]:8470"})
    EXPECT_TRUE(host_is_ours(ours)) << ours;
  for (const char* other : {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80",
                            "10.0.0.1", "[::2]", "[::1", "::1", "0.0.0.0", "127.1"})
    EXPECT_FALSE(host_is_ours(other)) << other;
  // Whatever follows the name or the address, and is no port.
  for (const std::string ours : {"localhost", "127.0.0.1", "[::1]", "node7"})
    for (const char* more : {"evil", ".evil.example", ":", ":80x", ":x", ":-1", ":+1", ": 80", ":65536", ":80:80",
                             ":80.evil.example", ":80@evil.example", "@evil.example", "/", "%00", " ", "\t", "]", "[", ","})
      EXPECT_FALSE(host_is_ours(ours + more, {"node7"})) << ours + more;
  for (const char* other : {"[]", "[", "]", "[::1]]", "[[::1]]", " localhost", "evil@localhost", "[127.0.0.1]", "[localhost]",
                            "[::1%lo]", "[0::1]", ":80", "::1:80", "127.0.0.01", "0x7f.0.0.1", "2130706433"})
    EXPECT_FALSE(host_is_ours(other)) << other;
  EXPECT_FALSE(host_is_ours(std::string("127.0.0.1\0.evil.example", 23)));
  EXPECT_TRUE(host_is_ours("Node7:8470", {"node7"}));
}

}  // namespace
}  // namespace tandem::server
