#include "server/http/http_server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <future>

#include "server/http/server_testing.h"

namespace tandem::server {
namespace {

namespace fs = std::filesystem;

std::future<Answer> later(const Address& address, const std::string& target) {
  return std::async(std::launch::async, [=] { return HttpClient(address).get(target); });
}

TEST(HttpServer, AnswersOverPortAndSocket) {
  const Rig rig;
  for (const auto& address : {rig.tcp(), rig.socket()}) {
    const auto answer = HttpClient(address).get("/v1/jobs/job-7?all=1");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.content_type, "application/json");
    EXPECT_EQ(answer.body, "{\"job\":\"job-7\",\"query\":{\"all\":\"1\"}}\n");
    EXPECT_EQ(HttpClient(address).get("/nothing").status, 404);
    EXPECT_EQ(HttpClient(address).ask("PUT", "/v1/ping", "x").status, 405);
  }
}

TEST(HttpServer, ChangingNeedsTheTokenOrTheSocket) {
  Rig rig;
  HttpClient tcp(rig.tcp());
  EXPECT_EQ(tcp.ask("POST", "/v1/echo", "a").status, 401);
  tcp.show_token(Token::make());
  EXPECT_EQ(tcp.ask("POST", "/v1/echo", "a").status, 401);
  EXPECT_EQ(rig.changes, 0);
  tcp.show_token(rig.token);
  EXPECT_EQ(tcp.ask("POST", "/v1/echo", "a").body, "a");
  EXPECT_EQ(HttpClient(rig.socket()).ask("POST", "/v1/echo", "b").status, 201);
  EXPECT_EQ(rig.changes, 2);
}

TEST(HttpServer, AnotherUserOverTheSocketMayReadOnly) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  const Rig rig({}, [](ServerOptions& options, Router&) { options.socket_mode = 0666; });
  ASSERT_EQ(::chmod(rig.folder.path().c_str(), 0711), 0);
  std::thread([&] {
    // The raw call changes this thread only.
    ASSERT_EQ(::syscall(SYS_setresuid, -1, 65534, -1), 0);
    HttpClient client(rig.socket());
    EXPECT_EQ(client.get("/v1/ping").status, 200);
    EXPECT_EQ(client.ask("POST", "/v1/echo", "a").status, 403);
    client.show_token(rig.token);
    EXPECT_EQ(client.ask("POST", "/v1/echo", "a").status, 201);
  }).join();
}

TEST(HttpServer, KeepsAConnectionForFurtherRequests) {
  Rig rig;
  RawClient client = rig.raw();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.send(rig.post("Content-Length: 2\r\n\r\nhi")));
    EXPECT_EQ(status_of(client.read_until("hi")), 201);
  }
  const std::string ping = "GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n";
  client.send(ping + "\r\n" + ping + "\r\n" + ping + "Connection: close\r\n\r\n");  // pipelined
  const auto all = client.read_to_end();
  std::size_t answers = 0;
  for (auto at = all.find("HTTP/1.1 200"); at != std::string::npos; at = all.find("HTTP/1.1 200", at + 1))
    ++answers;
  EXPECT_EQ(answers, 3u);
}

TEST(HttpServer, ChunkedBodiesAndExpect) {
  Rig rig;
  RawClient client = rig.raw();
  client.send(rig.post("Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_EQ(status_of(client.read_until("\r\n\r\n")), 100);
  client.send("3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n");
  EXPECT_NE(client.read_until("abcde").find("201"), std::string::npos);
}

TEST(HttpServer, OldClients) {
  const Rig rig;
  RawClient client = rig.raw();
  client.send("GET /v1/ping HTTP/1.0\r\n\r\n");
  const auto answer = client.read_to_end();
  EXPECT_TRUE(answer.starts_with("HTTP/1.0 200 OK\r\n")) << answer;
}

TEST(HttpServer, AHandlerThatThrowsIsAnAnswer) {
  Rig rig;
  const auto answer = HttpClient(rig.tcp()).get("/v1/broken");
  EXPECT_EQ(answer.status, 500);
  EXPECT_NE(rig.lines.text().find("inner trouble"), std::string::npos);
  EXPECT_TRUE(rig.answers());
}

TEST(HttpServer, ShowsItsMetrics) {
  Rig rig;
  ASSERT_TRUE(rig.answers());
  const auto answer = HttpClient(rig.tcp()).get("/metrics");
  EXPECT_EQ(answer.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(
      answer.body.find("tandem_http_requests_total{method=\"GET\",route=\"/v1/ping\",status=\"200\"} 1\n"),
      std::string::npos)
      << answer.body;
}

TEST(HttpServer, BrowsersAreNotTricked) {
  const Rig rig;
  RawClient client = rig.raw();
  client.send("GET /v1/ping HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  const auto answer = client.read_to_end();
  EXPECT_EQ(status_of(answer), 403);
  EXPECT_NE(answer.find("X-Content-Type-Options: nosniff"), std::string::npos);
}

TEST(HttpServer, EachBadRequestIsRefusedWithItsStatus) {
  Rig rig;
  const auto get = [](const std::string& target) {
    return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  };
  const std::vector<std::pair<std::string, int>> requests{
      {get("/" + std::string(3'000, 'a')), 414},  // oversized
      {get("/v1/ping HTTP/1.1\r\nX: " + std::string(20'000, 'a')), 431},
      {rig.post("Content-Length: 1048577\r\n\r\n"), 413},
      {rig.post("Transfer-Encoding: chunked\r\n\r\n100001\r\n"), 413},
      {"garbage\r\n\r\n", 400},  // malformed
      {rig.post("Content-Length: -1\r\n\r\n"), 400},
      {rig.post("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400},
      {rig.post("Transfer-Encoding: gzip\r\n\r\n"), 501},
      {"POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx", 401},  // unauthorised
      {get("/v1/ping HTTP/1.1\r\nAuthorization: Bearer wrong"), 401},
      {get("/../../etc/passwd"), 400},  // the way out
      {get("/v1/jobs/..%2f..%2fetc%2fpasswd"), 400},
      {get("/v1/jobs/%2e%2e"), 400},
      {get("/v1/jobs/$(reboot)"), 400},  // shell syntax
      {get("/v1/jobs/a;reboot"), 400},
      {get("/v1/jobs/`reboot`"), 400},
      {get("/v1/jobs/--force"), 400},
  };
  for (const auto& [request, status] : requests) {
    RawClient client = rig.raw();
    client.send(request);
    const auto answer =
        client.read_to_end();  // refused, and closed: nobody guesses where the next one begins
    EXPECT_EQ(status_of(answer), status) << request.substr(0, 200);
    EXPECT_NE(answer.find("{\"error\":\""), std::string::npos) << answer;
  }
  EXPECT_EQ(rig.changes, 0);
  EXPECT_TRUE(rig.answers());
}

TEST(HttpServer, SecretsDoNotReachTheLog) {
  Rig rig;
  const std::string secret = rig.token.reveal();
  HttpClient client(rig.tcp());
  client.show_token(rig.token);
  client.ask("POST", "/v1/echo?password=hunter22", "{\"token\":\"" + secret + "\"}");
  client.get("/" + secret);
  client.get("/v1/jobs/" + secret + "%20x");  // cut inside the secret when it is refused
  client.get("/" + std::string(150, 'x') + secret);
  RawClient(rig.tcp()).send("BAD " + secret + "\r\n\r\n");
  RawClient wrong(rig.tcp());
  wrong.send("GET /v1/ping HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic aHVudGVyMzM=\r\n\r\n");
  EXPECT_EQ(status_of(wrong.read_to_end()), 401);
  rig.server->stop();
  const auto log = rig.lines.text();
  EXPECT_NE(log.find("\"path\":\"/[redacted]\""), std::string::npos) << log;
  for (const std::string& hidden : {secret.substr(0, 8), std::string("hunter22"), std::string("aHVudGVyMzM")})
    EXPECT_EQ(log.find(hidden), std::string::npos) << log;
}

TEST(HttpServer, WithoutAPlaceToListen) {
  EXPECT_THROW(Rig({},
                   [](ServerOptions& options, Router&) {
                     options.tcp.reset();
                     options.socket.clear();
                   }),
               UserError);
}

TEST(HttpServer, APortInUseIsRefusedAndTheFirstServerGoesOn) {
  const Rig first;
  EXPECT_THROW(Rig({}, [&](ServerOptions& options, Router&) { options.tcp = first.tcp(); }), UserError);
  EXPECT_THROW(Rig({}, [&](ServerOptions& options, Router&) { options.socket = first.socket().socket; }),
               UserError);
  EXPECT_TRUE(first.answers());
  EXPECT_EQ(HttpClient(first.socket()).get("/v1/ping").status, 200);
}

TEST(HttpServer, StopEndsSilentConnectionsAndRemovesTheSocket) {
  Limits limits;
  limits.stop_time = Seconds{3600};  // nobody has to be waited for
  Rig rig(limits);
  RawClient silent = rig.raw(), half = rig.raw();
  half.send("GET /v1/ping HTT");
  ASSERT_TRUE(rig.answers());
  const auto address = rig.tcp();
  rig.server->stop();
  EXPECT_EQ(silent.read_to_end(), "");
  EXPECT_EQ(half.read_to_end(), "");
  EXPECT_FALSE(fs::exists(rig.folder.path() / "server.sock"));
  EXPECT_THROW(HttpClient(address).get("/v1/ping"), UserError);
  rig.server->stop();  // once more is no harm
}

TEST(HttpServer, StopLetsAHandlerEnd) {
  std::promise<void> begun, go_on;
  Rig rig({}, [&](ServerOptions&, Router& routes) {
    routes.add("GET", "/v1/slow", Need::nothing, [&](const Request&) {
      begun.set_value();
      go_on.get_future().wait();
      return Response{200, std::string(1 << 20, 'y')};
    });
  });
  auto slow = later(rig.tcp(), "/v1/slow");
  begun.get_future().wait();
  auto stopping = std::async(std::launch::async, [&] { rig.server->stop(); });
  go_on.set_value();
  EXPECT_EQ(slow.get().body.size(), 1u << 20);
  stopping.get();
}

TEST(HttpServer, StopLetsABodyArriveButNotForEver) {
  Limits limits;
  limits.stop_time = Seconds{1};
  Rig rig(limits);
  RawClient ends = rig.raw(), never = rig.raw();
  for (auto* client : {&ends, &never}) {
    client->send(rig.post("Content-Length: 4\r\nExpect: 100-continue\r\n\r\n"));
    ASSERT_EQ(status_of(client->read_until("\r\n\r\n")), 100);
  }
  auto stopping = std::async(std::launch::async, [&] { rig.server->stop(); });
  ASSERT_TRUE(soon([&] { return !fs::exists(rig.folder.path() / "server.sock"); }));
  ends.send("done");
  EXPECT_EQ(status_of(ends.read_until("done")), 201);
  EXPECT_EQ(never.read_to_end(), "");
  stopping.get();
  EXPECT_EQ(rig.changes, 1);
}

TEST(HttpServer, StopsWhileManyAreAsking) {
  for (int round = 0; round < 5; ++round) {
    Rig rig;
    std::atomic<bool> over{false};
    std::atomic<int> good{0};
    std::vector<std::thread> askers;
    for (int i = 0; i < 4; ++i)
      askers.emplace_back([&, address = i % 2 ? rig.tcp() : rig.socket()] {
        while (!over) try {
            good += HttpClient(address).get("/v1/ping").status == 200;
          } catch (const std::runtime_error&) {
            return;  // it has stopped: refused, or closed before a word was said
          }
      });
    EXPECT_TRUE(soon([&] { return good > 20; }));
    rig.server->stop();
    over = true;
    for (auto& asker : askers) asker.join();
  }
}

}  // namespace
}  // namespace tandem::server
