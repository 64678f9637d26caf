#include "server/http/listener.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::server {
namespace {

namespace fs = std::filesystem;

std::string trouble(const Address& address) {
  try {
    Listener::open(address);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

// A socket file, listened on or not, as another program leaves it.
platform::Descriptor make_socket_file(const Address& address, bool listens) {
  platform::Descriptor descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto where = socket_address(address);
  EXPECT_EQ(::bind(descriptor.get(), where.get(), where.size), 0);
  EXPECT_TRUE(!listens || ::listen(descriptor.get(), 1) == 0);
  return descriptor;
}

bool connects(const Address& address) {
  const auto where = socket_address(address);
  const platform::Descriptor client(::socket(where.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(client.get(), where.get(), where.size) == 0;
}

class UnixListener : public testing::Test {
 protected:
  platform::TemporaryFolder folder_;
  Address address_{folder_.path() / "s.sock"};
};

TEST_F(UnixListener, HasItsModeIsConnectedToAndGoesWithItsOwner) {
  for (const mode_t mode : {0600, 0666}) {
    const auto listener = Listener::open(address_, mode);
    struct stat info {};
    ASSERT_EQ(::lstat(address_.socket.c_str(), &info), 0);
    EXPECT_TRUE(S_ISSOCK(info.st_mode));
    EXPECT_EQ(info.st_mode & 07777, mode);
    EXPECT_TRUE(connects(address_));
  }
  EXPECT_FALSE(fs::exists(fs::symlink_status(address_.socket)));
  EXPECT_FALSE(connects(address_));
}

TEST_F(UnixListener, ADeadOnesSocketIsReplaced) {
  make_socket_file(address_, true);  // and its process is gone
  ASSERT_FALSE(connects(address_));
  const auto listener = Listener::open(address_);
  EXPECT_TRUE(connects(address_));
}

TEST_F(UnixListener, ALivingOnesSocketIsRefusedAndKept) {
  const auto first = Listener::open(address_);
  const auto why = trouble(address_);
  EXPECT_NE(why.find("served already by process " + std::to_string(::getpid())), std::string::npos) << why;
  EXPECT_TRUE(connects(address_));
}

TEST_F(UnixListener, AnotherProgramsLivingSocketIsRefusedAndKept) {
  const auto other = make_socket_file(address_, true);
  EXPECT_NE(trouble(address_).find("served already"), std::string::npos);
  EXPECT_TRUE(connects(address_));
  const auto where = socket_address(address_);
  std::vector<platform::Descriptor> queue;
  do queue.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  while (::connect(queue.back().get(), where.get(), where.size) == 0);
  EXPECT_NE(trouble(address_).find("served already"), std::string::npos) << "too busy to accept, but alive";
}

TEST_F(UnixListener, WhatIsNoSocketStaysWhereItIs) {
  std::ofstream(address_.socket) << "precious";
  EXPECT_NE(trouble(address_).find("in the way"), std::string::npos);
  EXPECT_EQ(fs::file_size(address_.socket), 8u);
  fs::remove(address_.socket);
  fs::create_symlink(folder_.path() / "elsewhere", address_.socket);
  EXPECT_NE(trouble(address_).find("in the way"), std::string::npos);
}

TEST_F(UnixListener, AFolderThatOthersMayWriteIsRefused) {
  ::chmod(folder_.path().c_str(), 0777);
  EXPECT_NE(trouble(address_).find("chmod go-w"), std::string::npos);
  ::chmod(folder_.path().c_str(), 01777);
  EXPECT_EQ(trouble(address_), "") << "sticky, like /tmp";
}

TEST_F(UnixListener, AnotherUsersFolderIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chown(folder_.path().c_str(), 65534, 65534), 0);
  EXPECT_NE(trouble(address_).find("belongs to user 65534"), std::string::npos);
}

TEST_F(UnixListener, AFolderThatIsNotThere) {
  EXPECT_EQ(trouble(Address{folder_.path() / "new/s.sock"}), "") << "one level is made";
  EXPECT_NE(trouble(Address{folder_.path() / "a/b/s.sock"}).find("does not exist"), std::string::npos);
}

TEST_F(UnixListener, AFolderThatWeMayNotWrite) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  ::chmod(folder_.path().c_str(), 0500);
  EXPECT_THROW(Listener::open(address_), SystemError);
  ::chmod(folder_.path().c_str(), 0700);
}

TEST_F(UnixListener, LeavesASuccessorsSocketAlone) {
  auto listener = Listener::open(address_);
  fs::remove(address_.socket);
  const auto successor = make_socket_file(address_, true);
  listener.close();
  EXPECT_TRUE(connects(address_));
}

TEST_F(UnixListener, APathTooLongForTheDraft) {
  Address address{folder_.path() / std::string(104 - folder_.path().native().size(), 'a')};
  EXPECT_NO_THROW(socket_address(address));
  EXPECT_NE(trouble(address).find("choose a shorter one"), std::string::npos);
}

TEST(IpListener, FindsAFreePortAndRefusesATakenOne) {
  const auto first = Listener::open(Address{});
  EXPECT_NE(first.address().port, 0);
  EXPECT_TRUE(connects(first.address()));
  EXPECT_NE(trouble(first.address()).find("in use"), std::string::npos);
}

TEST(IpListener, OverIpv6) {
  try {
    const auto listener = Listener::open(Address{{}, "::1", 0});
    EXPECT_TRUE(connects(listener.address()));
  } catch (const std::runtime_error& error) {
    GTEST_SKIP() << "no IPv6 here: " << error.what();
  }
}

TEST(IpListener, AnotherMachinesAddress) {
  EXPECT_NE(trouble(Address{{}, "192.0.2.1", 0}).find("no address of this machine"), std::string::npos);
}

}  // namespace
}  // namespace tandem::server
