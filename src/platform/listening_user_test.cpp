#include "platform/listening_user.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/descriptor.h"

namespace tandem::platform {
namespace {

TEST(ListeningUser, IsWhoTheKernelSays) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&at), sizeof(at)), 0);
  socklen_t size = sizeof(at);
  ASSERT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  const auto port = ntohs(at.sin_port);
  EXPECT_FALSE(listening_user(port)) << "bound, and nobody listens";
  ASSERT_EQ(::listen(socket.get(), 1), 0);
  EXPECT_EQ(listening_user(port), ::geteuid());
}

}  // namespace
}  // namespace tandem::platform
