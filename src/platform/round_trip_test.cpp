#include "platform/round_trip.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "base/error.h"
#include "platform/descriptor.h"

namespace tandem::platform {
namespace {

// A socket of the loopback that listens, or (bound only) refuses; nobody else can have its port meanwhile.
struct Port {
  Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::string number;

  explicit Port(bool listens) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket.get(), plain, size) != 0 || (listens && listen(socket.get(), 8) != 0) ||
        getsockname(socket.get(), plain, &size) != 0)
      throw_errno("opening a test port");
    number = std::to_string(ntohs(address.sin_port));
  }
};

TEST(RoundTrip, AHostThatListensOrRefusesHasAnswered) {
  for (const bool listens : {true, false}) {
    const Port port(listens);
    const Seconds took = RoundTrip("127.0.0.1", port.number).measure({60});
    EXPECT_GE(took.value, 0);
    EXPECT_LE(took.value, 60);
  }
}

TEST(RoundTrip, AMasterThatCannotBeIsTheUsersToFix) {
  EXPECT_THROW(RoundTrip("127.0.0.1", "no-such-port"), UserError);
}

}  // namespace
}  // namespace tandem::platform
