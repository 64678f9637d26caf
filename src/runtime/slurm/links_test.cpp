// Agents with the right token are heard; nobody else is.
#include "runtime/slurm/links.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/error.h"
#include "runtime/slurm/agent.h"

namespace tandem::slurm {
namespace {

class LinksTest : public testing::Test {
 protected:
  platform::Descriptor connect() {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(links_.port()));
    ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    platform::Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
    return socket;
  }
  void say(const platform::Descriptor& to, const std::string& words) {
    ::send(to.get(), words.data(), words.size(), MSG_NOSIGNAL);
    look();
  }
  void look() {
    pollfd on{links_.descriptor(), POLLIN, 0};
    while (::poll(&on, 1, 50) > 0) links_.look();
  }
  // Our end sees the connection closed.
  bool closed(const platform::Descriptor& socket) {
    look();
    char byte;
    const ssize_t got = ::recv(socket.get(), &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno == ECONNRESET);  // reset: not all it sent was read
  }
  static std::string join(const std::string& mark, const std::string& token) {
    return line(FromAgent(Join{mark, token, "n0", 1, 2, 3, {}}));
  }

  std::vector<std::string> heard_, left_;
  Links links_{"127.0.0.1",
               {[this](const std::string& mark, const FromAgent& message) {
                  const auto* said = std::get_if<Said>(&message);
                  heard_.push_back(mark + (std::holds_alternative<Join>(message) ? " joined"
                                           : said                                ? " said " + said->line
                                                                                 : " other"));
                },
                [this](const std::string& mark) { left_.push_back(mark); }}};
};

TEST_F(LinksTest, AnAgentJoinsSpeaksAndLeaves) {
  const auto token = links_.expect("m");
  EXPECT_EQ(token.size(), 32u);
  auto agent = connect();
  say(agent, join("m", token));
  say(agent, ">{\"type\":\"rea");
  say(agent, "dy\"}\n");
  EXPECT_EQ(heard_, (std::vector<std::string>{"m joined", "m said {\"type\":\"ready\"}"}));
  EXPECT_TRUE(links_.send("m", Go{}));
  std::array<char, 64> got{};
  EXPECT_GT(::recv(agent.get(), got.data(), got.size(), 0), 0);
  EXPECT_EQ(parse_to_agent("!{\"go\":true}"), ToAgent(Go{}));
  agent.reset();
  look();
  EXPECT_EQ(left_, std::vector<std::string>{"m"});
  EXPECT_FALSE(links_.send("m", Go{}));
}

TEST_F(LinksTest, StrangersAreClosedAndNeverHeard) {
  const auto token = links_.expect("m");
  const std::string wrong(token.size(), '0');
  for (const std::string& words :
       {join("m", wrong), join("m", ""), join("other", token), std::string("GET / HTTP/1.1\r\n\r\n"),
        std::string(">{\"type\":\"ready\"}\n"), std::string("!{\"join\":7}\n"), std::string("!{}\n"),
        std::string("\0\xff\n", 3), std::string(3 << 20, 'x')}) {
    const auto stranger = connect();
    say(stranger, words);
    EXPECT_TRUE(closed(stranger)) << words.substr(0, 40);
  }
  EXPECT_TRUE(heard_.empty());
  const auto agent = connect();
  say(agent, join("m", token));
  EXPECT_EQ(heard_.size(), 1u) << "who has the token still gets in";
}

TEST_F(LinksTest, ATokenIsGoodOnce) {
  const auto token = links_.expect("m");
  const auto first = connect(), second = connect();
  say(first, join("m", token));
  say(second, join("m", token));
  EXPECT_TRUE(closed(second));
  EXPECT_FALSE(closed(first));
  EXPECT_EQ(heard_.size(), 1u);
}

TEST_F(LinksTest, WhatIsForgottenCannotJoinAndIsCutOff) {
  const auto token = links_.expect("m");
  links_.forget("m");
  const auto late = connect();
  say(late, join("m", token));
  EXPECT_TRUE(closed(late));
  const auto again = links_.expect("m");
  const auto agent = connect();
  say(agent, join("m", again));
  links_.forget("m");
  EXPECT_TRUE(closed(agent));
  EXPECT_TRUE(left_.empty()) << "we cut it off ourselves";
}

TEST(Wire, EveryMessageIsReadAsItWasWritten) {
  auto bare = [](std::string text) { return text.substr(0, text.size() - 1); };
  for (const FromAgent& message :
       {FromAgent(Join{"m", "t", "n0", 1, 2, 3, {0, 2}, 4711}), FromAgent(Said{"{}"}),
        FromAgent(Broke{"why"}), FromAgent(Exited{}), FromAgent(StepEnded{"m", 3})})
    EXPECT_EQ(parse_from_agent(bare(line(message))), message) << line(message);
  for (const ToAgent& message : {ToAgent(Go{}), ToAgent(Go{4711}), ToAgent(Tell{"{}"}), ToAgent(Signal{9}),
                                 ToAgent(RunStep{"m", {"srun", "a b"}}), ToAgent(EndStep{"m"})})
    EXPECT_EQ(parse_to_agent(bare(line(message))), message) << line(message);
  EXPECT_THROW(parse_to_agent(R"(!{"run":{"mark":"m","command":[]}})"), protocol::ProtocolError);
}

TEST(Ticket, IsReadAsItWasWritten) {
  const Ticket ticket{"m", "t", {"10.0.0.1"}, 7, {"a b", "$(c)"}, {{"K", "v\n"}}, "/o", "/r", "/c",
                      5,   2,   Seconds{0.5}};
  EXPECT_EQ(parse_ticket(text(ticket)), ticket);
  EXPECT_THROW(parse_ticket("{}"), std::exception);
  EXPECT_THROW(parse_ticket("no ticket"), std::exception);
}

TEST(Ticket, EachAgentOfAGangFindsItsOwnPartOfIt) {
  Ticket ticket{"tandem:r:3:1:2", "t0", {"10.0.0.1"}, 7, {"go"}, {}, "/o", "/r", "/c"};
  ticket.nodes = {"n2", "n0"};
  ticket.tokens = {"t0", "t1"};
  ticket.master = "10.0.0.2";
  EXPECT_EQ(parse_ticket(text(ticket)), ticket);
  EXPECT_EQ(rank_on(ticket, "n0"), 1u);
  EXPECT_THROW(rank_on(ticket, "n1"), SystemError);
  EXPECT_EQ(of_rank(ticket, rank_on(ticket, "n2")), ticket);
  const Ticket own = of_rank(ticket, 1);
  EXPECT_EQ(own.token, "t1");
  EXPECT_NE(own.record, ticket.record);
  EXPECT_NE(own.claim, ticket.claim);
  EXPECT_EQ(split_rank(own.mark), (std::pair<std::string, std::size_t>(ticket.mark, 1)));
  EXPECT_EQ(split_rank(ticket.mark), (std::pair<std::string, std::size_t>(ticket.mark, 0)));
}

}  // namespace
}  // namespace tandem::slurm
