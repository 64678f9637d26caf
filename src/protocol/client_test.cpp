#include "protocol/client.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"

namespace tandem::protocol {
namespace {

// A socket pair; the test plays Tandem. What Tandem says is put into the socket before the client asks.
class ClientTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0);
    saved_ = std::getenv("TANDEM_SOCKET") ? std::optional<std::string>(std::getenv("TANDEM_SOCKET"))
                                          : std::nullopt;
  }
  void TearDown() override {
    ::close(ends_[0]);
    close_tandem();
    saved_ ? ::setenv("TANDEM_SOCKET", saved_->c_str(), 1) : ::unsetenv("TANDEM_SOCKET");
  }

  int program() const { return ends_[0]; }
  void tandem_says(std::string_view bytes) {
    ASSERT_EQ(::send(ends_[1], bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  std::string tandem_heard() {
    char bytes[4096];
    const auto count = ::recv(ends_[1], bytes, sizeof bytes, MSG_DONTWAIT);
    return count <= 0 ? "" : std::string(bytes, static_cast<std::size_t>(count));
  }
  void close_tandem() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
  std::optional<std::string> saved_;
};

TEST_F(ClientTest, AWholeConversation) {
  Client client(program());
  Begin begin;
  begin.task = "task 0";
  begin.folder = "/tmp";
  begin.hyper = {{"batch_size", std::int64_t{8}}};
  tandem_says(line(begin));
  EXPECT_EQ(client.hello({kVersion, {"threads"}, 0}), begin);
  EXPECT_EQ(tandem_heard(), line(Hello{kVersion, {"threads"}, 0}));

  const Answer answer{false, true, Resources{1, 0, 0.5}};
  tandem_says(line(answer));
  EXPECT_EQ(client.report({1, {{"accuracy", 0.5}}}), answer);
  EXPECT_EQ(tandem_heard(), line(Epoch{1, {{"accuracy", 0.5}}}));

  client.checkpointed(1);
  EXPECT_EQ(tandem_heard(), line(Checkpointed{1}));
}

TEST_F(ClientTest, AnswersThatArriveTogetherAreTakenInTurn) {
  Client client(program());
  tandem_says(line(Answer{}) + line(Answer{true, false, std::nullopt}));
  EXPECT_FALSE(client.report({}).stop);
  EXPECT_TRUE(client.report({}).stop);
}

TEST_F(ClientTest, ALongAnswerIsReadInManyPieces) {
  Client client(program());
  Begin begin;
  begin.hyper["name"] = std::string(50000, 'x');
  tandem_says(line(begin));
  EXPECT_EQ(client.hello({}), begin);
}

TEST_F(ClientTest, TandemGoneBeforeTheAnswer) {
  Client client(program());
  ::shutdown(program(), SHUT_RD);
  EXPECT_THROW(client.report({}), Gone);
}

TEST_F(ClientTest, TandemGoneInTheMiddleOfALine) {
  Client client(program());
  tandem_says("{\"type\":");
  close_tandem();
  EXPECT_THROW(client.report({}), Gone);
}

TEST_F(ClientTest, TandemGoneBeforeSendingRaisesNoSignal) {
  Client client(program());
  close_tandem();
  EXPECT_THROW(client.checkpointed(1), Gone);
}

TEST_F(ClientTest, GarbageIsAProtocolError) {
  Client client(program());
  tandem_says("garbage\n");
  EXPECT_THROW(client.report({}), ProtocolError);
}

TEST_F(ClientTest, AnAnswerToAnotherQuestionIsAProtocolError) {
  Client client(program());
  tandem_says(line(Answer{}));
  EXPECT_THROW(client.hello({}), ProtocolError);
  tandem_says(line(Begin{}));
  EXPECT_THROW(client.report({}), ProtocolError);
}

TEST_F(ClientTest, OutsideTandemThereIsNoClient) {
  ::unsetenv("TANDEM_SOCKET");
  EXPECT_FALSE(Client::connect().has_value());
  ::setenv("TANDEM_SOCKET", "", 1);
  EXPECT_FALSE(Client::connect().has_value());
}

TEST_F(ClientTest, ConnectsToTheInheritedSocketAndKeepsItFromChildren) {
  ::setenv("TANDEM_SOCKET", std::to_string(program()).c_str(), 1);
  auto client = Client::connect();
  ASSERT_TRUE(client.has_value());
  EXPECT_TRUE(::fcntl(program(), F_GETFD) & FD_CLOEXEC);
  client->checkpointed(2);
  EXPECT_EQ(tandem_heard(), line(Checkpointed{2}));
}

TEST_F(ClientTest, AWrongSocketIsAUserError) {
  for (const char* wrong : {"x", "3x", "-1", "99999999999999", "123456"}) {
    ::setenv("TANDEM_SOCKET", wrong, 1);
    EXPECT_THROW(Client::connect(), UserError) << wrong;
  }
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  ::setenv("TANDEM_SOCKET", std::to_string(pipe_ends[0]).c_str(), 1);
  EXPECT_THROW(Client::connect(), UserError);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

}  // namespace
}  // namespace tandem::protocol
