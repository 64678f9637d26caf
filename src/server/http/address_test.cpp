#include "server/http/address.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tandem::server {
namespace {

TEST(Address, AsPeopleWriteThem) {
  for (const char* written : {"unix:/run/tandem.sock", "127.0.0.1:8470", "[::1]:80", "0.0.0.0:0"})
    EXPECT_EQ(text(parse_address(written)), written);
  EXPECT_EQ(text(parse_address("localhost:1")), "127.0.0.1:1");
  EXPECT_TRUE(parse_address("unix:a").is_unix());
  EXPECT_FALSE(parse_address("127.0.0.1:1").is_unix());
}

TEST(Address, WhatAPersonMustFix) {
  for (const std::string& bad :
       {std::string(), std::string("unix:"), std::string("127.0.0.1"), std::string("127.0.0.1:"),
        std::string("127.0.0.1:65536"), std::string("127.0.0.1:-1"), std::string("127.0.0.1:80x"),
        std::string("::1:80"), std::string("example.org:80"), std::string("1.2.3:80"), std::string(":80"),
        "unix:/" + std::string(107, 'a'), std::string("unix:/a\0b", 9)})
    EXPECT_THROW(parse_address(bad), UserError) << bad;
  EXPECT_NO_THROW(parse_address("unix:/" + std::string(106, 'a')));
}

TEST(Address, WhatIsLoopback) {
  for (const char* here : {"127.0.0.1:1", "127.255.0.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1"})
    EXPECT_TRUE(socket_address(parse_address(here)).is_loopback()) << here;
  for (const char* elsewhere : {"10.0.0.1:1", "0.0.0.0:1", "[::]:1", "[::ffff:10.0.0.1]:1", "128.0.0.1:1"})
    EXPECT_FALSE(socket_address(parse_address(elsewhere)).is_loopback()) << elsewhere;
}

}  // namespace
}  // namespace tandem::server
