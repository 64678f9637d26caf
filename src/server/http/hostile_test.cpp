// Clients that mean no good: garbage, crowds and slowness. What counts is that others are answered meanwhile.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <future>

#include "base/random.h"
#include "server/http/server_testing.h"

namespace tandem::server {
namespace {

std::string random_bytes(Random& random, std::size_t most) {
  std::string out(1 + random.below(most), '\0');
  for (char& byte : out) byte = static_cast<char>(random.below(256));
  return out;
}

template <class Item>
const Item& one_of(Random& random, const std::vector<Item>& items) {
  return items[random.below(items.size())];
}

// Makes requests that must not get through. `post` is a good head with the token, without its last headers.
class Garbage {
 public:
  Garbage(std::uint64_t seed, std::string post) : random_(seed), post_(std::move(post)) {}

  std::string next() {
    const std::vector<std::function<std::string()>> kinds{[&] { return random_bytes(random_, 2000); },
                                                          [&] { return truncated(); },
                                                          [&] { return long_head(); },
                                                          [&] { return long_body(); },
                                                          [&] { return bad_chunks(); },
                                                          [&] { return way_out(); },
                                                          [&] { return nul_bytes(); },
                                                          [&] { return flipped(); },
                                                          [&] { return odd_headers(); }};
    return one_of(random_, kinds)();
  }

 private:
  std::string truncated() {
    const std::string good = post_ + "Content-Length: 5\r\n\r\nhello";
    return good.substr(0, random_.below(good.size()));
  }
  std::string long_head() {
    const std::size_t size = random_.below(100'000);
    return random_.below(2)
               ? "GET /" + std::string(3'000 + size, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n"
               : post_ + "X: " + std::string(17'000 + size, 'b') + "\r\n\r\n";
  }
  std::string long_body() {
    const std::string size = one_of<std::string>(random_, {"1048577", "99999999999", "18446744073709551615",
                                                           "18446744073709551616", "-1", "0x10", "1 2"});
    return post_ + "Content-Length: " + size + "\r\n\r\n" + std::string(random_.below(5000), 'c');
  }
  std::string bad_chunks() {
    const std::string chunk = one_of<std::string>(
        random_, {"zz\r\n", "-1\r\n", "ffffffffffffffffff\r\n", "5\r\nabc", "3\r\nabcdef\r\n", "\r\n",
                  "3 \nabc\r\n", "200000\r\nabc\r\n", "7fffffffffffffff\r\n"});
    return post_ + "Transfer-Encoding: chunked\r\n\r\n" + chunk + random_bytes(random_, 100);
  }
  std::string way_out() {
    const std::string path = one_of<std::string>(
        random_,
        {"/../../etc/passwd", "/v1/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/v1/jobs/..%2f..%2fetc",
         "/v1/jobs/%00", "/v1/jobs/$(id)", "/v1/jobs/a;b", "//etc/passwd", "http://localhost/v1/ping", "*",
         "/v1/jobs/..", "/v1/jobs/\\..\\x", "/v1/jobs/%c0%ae%c0%ae"});
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  }
  std::string nul_bytes() {
    std::string good = "GET /v1/ping HTTP/1.1\r\nHost: localhost\r\nAccept: x\r\n\r\n";
    good[random_.below(good.size() - 4)] = '\0';
    return good;
  }
  std::string flipped() {
    std::string good = "GET /v1/ping HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
    for (auto flips = 1 + random_.below(8); flips > 0; --flips)
      good[random_.below(good.size())] = static_cast<char>(random_.below(256));
    return good;
  }
  std::string odd_headers() {
    std::string many;
    for (int i = 0; i < 80; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
    return post_ +
           one_of<std::string>(
               random_, {"no colon\r\n", ": no name\r\n", "Host: localhost\r\n", "X\r\n: y\r\n", many,
                         "Content-Length: 1\r\nContent-Length: 2\r\n", "a b: c\r\n",
                         "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n",
                         "Transfer-Encoding: chunked, gzip\r\n"}) +
           "\r\nhi";
  }

  Random random_;
  const std::string post_;
};

// Sends so many requests of garbage, and counts what it is answered by status.
std::map<int, int> attack(Rig& rig, std::uint64_t seed, int requests) {
  Garbage garbage(seed, rig.post(""));
  Random random(seed + 1000);
  std::map<int, int> seen;
  for (int i = 0; i < requests; ++i) {
    RawClient client(random.below(2) ? rig.tcp() : rig.socket());
    const std::string bytes = garbage.next();
    client.send(bytes);
    client.end_sending();
    if (random.below(4) == 0) continue;  // most listen to what they are told; some just leave
    const auto answer = client.read_to_end();
    const int status = status_of(answer);
    ++seen[status];
    EXPECT_TRUE(answer.empty() || (status >= 200 && status < 600)) << answer;
    EXPECT_EQ(answer.find("root:"), std::string::npos) << bytes;
    EXPECT_EQ(answer.find("HTTP/1.1 201"), std::string::npos) << bytes;
  }
  return seen;
}

TEST(Hostile, TenThousandRequestsOfGarbageWhileOthersAreAnswered) {
  Limits limits;
  limits.head_time = limits.body_time = Seconds{120};  // nobody is refused for being slow
  Rig rig(limits);
  std::vector<std::future<std::map<int, int>>> attackers;
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    attackers.push_back(std::async(std::launch::async, [&rig, seed] { return attack(rig, seed, 2500); }));
  std::map<int, int> seen;
  int others = 0;
  for (auto& attacker : attackers) {
    do {
      ASSERT_TRUE(rig.answers());
      ++others;
    } while (attacker.wait_for(std::chrono::seconds(0)) != std::future_status::ready);
    for (const auto& [status, count] : attacker.get()) seen[status] += count;
  }
  EXPECT_EQ(rig.changes, 0);
  EXPECT_EQ(HttpClient(rig.socket()).ask("POST", "/v1/echo", "still here").body, "still here");
  for (const int status : {400, 404, 413, 414, 431, 501}) EXPECT_GT(seen[status], 0) << status;
  for (const auto& [status, count] : seen) RecordProperty("answered_" + std::to_string(status), count);
  RecordProperty("others_answered", others);
  EXPECT_TRUE(soon([&] { return rig.connected() == 0; })) << "connections are left over";
  EXPECT_EQ(rig.lines.text().find(rig.token.reveal()), std::string::npos);
}

TEST(Hostile, AThousandConnectionsHeldOpen) {
  const OpenFiles files(2400);
  if (!files.allowed()) GTEST_SKIP() << "this machine allows too few open files (ulimit -Hn)";
  Limits limits;
  limits.head_time = Seconds{600};
  Rig rig(limits);
  std::vector<RawClient> held;
  for (int i = 0; i < 1000; ++i) {
    held.emplace_back(i % 2 ? rig.tcp() : rig.socket());
    if (i % 3 == 0) held.back().send("GET /v1/pi");
    if (i % 3 == 1) held.back().send("GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n");
  }
  std::vector<double> times;
  for (int i = 0; i < 100; ++i) {
    const auto begin = TestClock::now();
    ASSERT_EQ(HttpClient(i % 2 ? rig.tcp() : rig.socket()).get("/v1/ping").status, 200);
    times.push_back(seconds_since(begin));
  }
  for (auto& client : held) EXPECT_TRUE(client.still_open());
  std::sort(times.begin(), times.end());
  RecordProperty("median_microseconds", static_cast<int>(times[50] * 1e6));
  RecordProperty("worst_microseconds", static_cast<int>(times[99] * 1e6));
  held[1].send("\r\n");
  EXPECT_EQ(status_of(held[1].read_until("pong")), 200) << "they are all still served";
}

TEST(Hostile, BeyondTheLimitTheLongestWaitedForMakeRoom) {
  Limits limits;
  limits.head_time = Seconds{600};
  limits.connections = 50;
  Rig rig(limits);
  std::vector<RawClient> held;
  for (int i = 0; i < 200; ++i) held.push_back(rig.raw());
  EXPECT_TRUE(rig.answers());
  EXPECT_TRUE(soon([&] { return rig.cut("crowded") >= 151; }));
  EXPECT_TRUE(soon([&] { return !held.front().still_open(); }));
  EXPECT_TRUE(held.back().still_open());
}

TEST(Hostile, WhoIsBeingServedIsNotSentAwayForTheCrowd) {
  Limits limits;
  limits.connections = 2;
  Rig rig(limits);
  RawClient first = rig.raw(), second = rig.raw();
  for (auto* client : {&first, &second}) {
    client->send(rig.post("Content-Length: 2\r\nExpect: 100-continue\r\n\r\n"));
    ASSERT_EQ(status_of(client->read_until("\r\n\r\n")), 100);
  }
  EXPECT_EQ(status_of(rig.raw().read_to_end()), 503);
  first.send("hi");
  EXPECT_EQ(status_of(first.read_until("hi")), 201);
}

TEST(Hostile, OneByteAtATimeIsCutOff) {
  Limits limits;
  limits.head_time = limits.body_time = Seconds{0.5};
  Rig rig(limits);
  const auto begin = TestClock::now();
  RawClient head = rig.raw(), body = rig.raw();
  body.send(rig.post("Content-Length: 1000000\r\n\r\n"));
  bool head_open = true, body_open = true;
  while ((head_open || body_open) && seconds_since(begin) < kPatience) {
    head_open = head_open && head.send("G") && head.still_open();
    body_open = body_open && body.send("x") && body.still_open();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_FALSE(head_open || body_open);
  EXPECT_GE(seconds_since(begin), 0.5) << "they had their time";
  EXPECT_TRUE(soon([&] { return rig.cut("slow") == 2; }));
  EXPECT_EQ(rig.changes, 0);
  EXPECT_TRUE(rig.answers());
}

TEST(Hostile, WhoDoesNotTakeAnAnswerIsCutOff) {
  Limits limits;
  limits.answer_time = Seconds{0.3};
  Rig rig(limits);
  RawClient deaf = rig.raw();
  deaf.send("GET /v1/long HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(soon([&] { return rig.cut("slow") == 1; }));
  EXPECT_LT(deaf.read_to_end().size(), 32u << 20);
  EXPECT_TRUE(rig.answers());
}

TEST(Hostile, WhoMayNotSendABodyIsToldBeforeIt) {
  Rig rig;
  RawClient client = rig.raw();
  client.send("POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_EQ(status_of(client.read_to_end()), 401) << "not a byte of the body was sent";
}

TEST(Hostile, BodiesHaveABoundTogether) {
  Limits limits;
  limits.bodies = 3'000'000;
  Rig rig(limits);
  std::vector<RawClient> big;
  for (int i = 0; i < 3; ++i) {
    big.push_back(rig.raw());
    big.back().send(rig.post("Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n"));
    ASSERT_EQ(status_of(big.back().read_until("\r\n\r\n")), 100);
  }
  RawClient one_more = rig.raw();
  one_more.send(rig.post("Content-Length: 1\r\n\r\nx"));
  EXPECT_EQ(status_of(one_more.read_to_end()), 503);
  EXPECT_TRUE(rig.answers()) << "what has no body is not concerned";
  big.clear();
  EXPECT_TRUE(soon([&] {
    RawClient again = rig.raw();
    again.send(rig.post("Content-Length: 1\r\nConnection: close\r\n\r\nx"));
    return status_of(again.read_to_end()) == 201;
  })) << "their room is given back";
}

TEST(Hostile, AnswersNobodyTakesHaveABoundTogether) {
  Limits limits;
  limits.answers = 40 << 20;  // room for one long answer
  Rig rig(limits);
  std::vector<RawClient> deaf;
  for (int i = 0; i < 3; ++i) {
    deaf.push_back(rig.raw());
    deaf.back().send("GET /v1/long HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    ASSERT_EQ(status_of(deaf.back().read_until("xxx")), 200);
    EXPECT_EQ(rig.cut("crowded"), i) << "each sends the one before it away";
    ASSERT_TRUE(rig.answers());
    ASSERT_TRUE(soon([&] { return rig.connected() == 1; }));
  }
  constexpr std::size_t kMost = 32 << 20, kReadAlready = 64 << 10;
  EXPECT_GT(deaf.back().read_to_end().size(), kMost - kReadAlready) << "who listens after all is served";
  EXPECT_LT(deaf.front().read_to_end().size(), kMost - kReadAlready);
}

TEST(Hostile, WhenNoMoreFilesCanBeOpenedTheServerWaits) {
  Rig rig;
  ASSERT_TRUE(soon([&] { return rig.connected() == 0; }));
  // Leave the process without a free descriptor for the server's end, then connect.
  const auto where = socket_address(rig.tcp());
  const platform::Descriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const OpenFiles few(200);
  std::vector<platform::Descriptor> all;
  for (int copy; (copy = ::dup(client.get())) >= 0;) all.emplace_back(copy);
  ASSERT_EQ(::connect(client.get(), where.get(), where.size), 0);
  EXPECT_TRUE(soon([&] { return rig.lines.text().find("cannot accept") != std::string::npos; }));
  all.clear();
  EXPECT_TRUE(rig.answers());
}

TEST(Hostile, WithFewFilesThereAreFewerConnectionsAndTheLogSaysSo) {
  const OpenFiles few(300);
  ASSERT_TRUE(few.allowed());
  Rig rig;
  EXPECT_NE(rig.lines.text().find("\"wished\":2048,\"possible\":172"), std::string::npos) << rig.lines.text();
  EXPECT_TRUE(rig.answers());
}

}  // namespace
}  // namespace tandem::server
