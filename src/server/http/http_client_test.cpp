#include "server/http/http_client.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "platform/fake_http_server.h"
#include "server/http/server_testing.h"

namespace tandem::server {
namespace {

using platform::FakeHttpServer;

Address address_of(const FakeHttpServer& server) {
  return parse_address(server.url("").substr(std::string("http://").size()));
}

std::string trouble(const Address& address, ClientLimits limits = {}) {
  try {
    return "no trouble, but: " + HttpClient(address, limits).get("/").body;
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

std::string trouble(const std::string& answer, FakeHttpServer::After after = FakeHttpServer::After::close,
                    ClientLimits limits = {}) {
  const FakeHttpServer server(answer, after);
  return trouble(address_of(server), limits);
}

TEST(HttpClient, WhatItSends) {
  FakeHttpServer server(FakeHttpServer::ok("fine"));
  HttpClient client(address_of(server));
  client.show_token(Token::make());
  const auto answer = client.ask("POST", "/v1/jobs?x=1", "{}");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "fine");
  const auto request = server.last_request();
  EXPECT_TRUE(request.starts_with("POST /v1/jobs?x=1 HTTP/1.1\r\n")) << request;
  for (const char* part : {"Authorization: Bearer ", "Content-Length: 2\r\n",
                           "Content-Type: application/json\r\n", "Host: 127.0.0.1:", "Connection: close\r\n"})
    EXPECT_NE(request.find(part), std::string::npos) << part;
}

TEST(HttpClient, RefusalsAreAnswers) {
  FakeHttpServer server("HTTP/1.1 404 Not Found\r\nContent-Length: 17\r\n\r\n{\"error\":\"no\x1b[m\"}");
  const auto answer = HttpClient(address_of(server)).get("/");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(error_text({400, "", "{\"error\":\"no\\u001b[m\"}"}), "no\\u001b[m");
  EXPECT_EQ(error_text({400, "", "plain \x01"}), "plain \\u0001");
}

TEST(HttpClient, ChunkedAnswersAndThoseWithoutALength) {
  const FakeHttpServer chunked("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
  EXPECT_EQ(HttpClient(address_of(chunked)).get("/").body, "abc");
  const FakeHttpServer open_ended("HTTP/1.1 200 OK\r\n\r\nall of it");
  EXPECT_EQ(HttpClient(address_of(open_ended)).get("/").body, "all of it");
}

TEST(HttpClient, BadAnswersAreErrors) {
  for (const char* answer : {"", "\x01\x02garbage\xff", "HTTP/1.1 200 OK\r\nno end",
                             "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
                             "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"})
    EXPECT_NE(trouble(answer).find("did not answer in HTTP"), std::string::npos) << answer;
  EXPECT_NE(trouble("HTTP/1.1 200 OK\r\nX: " + std::string(1 << 20, 'x')).find("did not answer in HTTP"),
            std::string::npos);
}

TEST(HttpClient, AnAnswerThatIsTooLong) {
  ClientLimits limits;
  limits.most_bytes = 1000;
  EXPECT_NE(trouble(FakeHttpServer::ok(std::string(1001, 'x')), FakeHttpServer::After::close, limits)
                .find("more than 1000 bytes"),
            std::string::npos);
  EXPECT_NE(trouble(FakeHttpServer::ok(std::string(1000, 'x')), FakeHttpServer::After::close, limits)
                .find("no trouble"),
            std::string::npos);
}

TEST(HttpClient, ASilentServerRunsOutOfTime) {
  ClientLimits limits;
  limits.at_most = Seconds{0.1};
  EXPECT_NE(trouble("HTTP/1.1 200 OK\r\n", FakeHttpServer::After::hold, limits).find("no answer within"),
            std::string::npos);
}

TEST(HttpClient, NobodyThere) {
  const platform::TemporaryFolder folder;
  Address socket;
  socket.socket = folder.path() / "none.sock";
  EXPECT_NE(trouble(socket).find("tandem serve"), std::string::npos);
  Address port;
  {
    const FakeHttpServer server("");
    port = address_of(server);
  }
  EXPECT_NE(trouble(port).find("tandem serve"), std::string::npos);
  EXPECT_THROW(HttpClient(socket).get("/"), UserError);
}

TEST(HttpClient, OnlyThisMachine) {
  EXPECT_THROW(HttpClient(parse_address("10.0.0.1:80")), UserError);
  EXPECT_NO_THROW(HttpClient(parse_address("[::1]:80")));
}

TEST(HttpClient, AddressesThatWouldBreakTheRequest) {
  HttpClient client(parse_address("127.0.0.1:1"));
  EXPECT_THROW(client.get("/a b"), UserError);
  EXPECT_THROW(client.get("/a\r\nX: y"), UserError);
  EXPECT_EQ(percent_encoded("a/b c\xff"), "a%2Fb%20c%FF");
}

TEST(HttpClient, ARefusalIsHeardWhileTheBodyIsStillBeingSent) {
  Rig rig;
  HttpClient client(rig.tcp());
  const auto answer = client.ask("POST", "/v1/echo", std::string(3 << 20, 'x'));
  EXPECT_EQ(answer.status, 413);
  EXPECT_NE(error_text(answer).find("1048576 bytes"), std::string::npos);
}

}  // namespace
}  // namespace tandem::server
