#include "platform/http_client.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "base/error.h"
#include "platform/fake_http_server.h"

namespace tandem::platform {
namespace {

using After = FakeHttpServer::After;

std::string get(FakeHttpServer& server, HttpLimits limits = {}) {
  return http_get(parse_http_url(server.url("/power?x=1")), limits);
}

std::string trouble(const std::string& answer, After after = After::close, HttpLimits limits = {}) {
  FakeHttpServer server(answer, after);
  try {
    return "no trouble, but: " + get(server, limits);
  } catch (const SystemError& error) {
    return error.what();
  }
}

TEST(HttpUrl, Parts) {
  const auto plain = parse_http_url("http://meter");
  EXPECT_EQ(plain.host + "|" + plain.port + "|" + plain.path, "meter|80|/");
  const auto full = parse_http_url("http://10.0.0.5:8080/a/b?c=d#part");
  EXPECT_EQ(full.host + "|" + full.port + "|" + full.path, "10.0.0.5|8080|/a/b?c=d");
  const auto six = parse_http_url("http://[::1]:81/x");
  EXPECT_EQ(six.host + "|" + six.port + "|" + six.path, "::1|81|/x");
}

TEST(HttpUrl, WhatAPersonMustFix) {
  for (const char* bad :
       {"", "meter", "https://meter/", "http://", "http:///x", "http://h:0/", "http://h:99999/",
        "http://h:8x/", "http://me:secret@h/", "http://h/a b", "http://h/\r\nX: y"})
    EXPECT_THROW(parse_http_url(bad), UserError) << bad;
}

TEST(HttpGet, TheBodyOfAGoodAnswer) {
  FakeHttpServer server(FakeHttpServer::ok("42.5"));
  EXPECT_EQ(get(server), "42.5");
  EXPECT_TRUE(server.last_request().starts_with("GET /power?x=1 HTTP/1.0\r\nHost: 127.0.0.1:"));
}

TEST(HttpGet, WithoutALengthUpToTheEnd) {
  FakeHttpServer server("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n17 W\n");
  EXPECT_EQ(get(server), "17 W\n");
}

TEST(HttpGet, AServerThatHoldsTheConnectionAfterItsLength) {
  FakeHttpServer server(FakeHttpServer::ok("8"), After::hold);
  EXPECT_EQ(get(server, {Seconds{60}}), "8");
}

TEST(HttpGet, InChunks) {
  FakeHttpServer server(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n17\r\n2;x=y\r\n W\r\n0\r\n\r\n",
      After::hold);
  EXPECT_EQ(get(server, {Seconds{60}}), "17 W");
}

TEST(HttpGet, BadAnswersAreErrors) {
  EXPECT_NE(trouble("").find("not HTTP"), std::string::npos);
  EXPECT_NE(trouble("\x01\x02garbage\xff").find("not HTTP"), std::string::npos);
  EXPECT_NE(trouble("HTTP/1.1 200 OK\r\nno end").find("not HTTP"), std::string::npos);
  EXPECT_NE(trouble("HTTP/1.1 404 Not Found\r\n\r\n").find("404 Not Found"), std::string::npos);
  EXPECT_NE(trouble("HTTP/1.1 \r\n\r\n").find("answered"), std::string::npos);
  EXPECT_NE(trouble("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx").find("encoding"),
            std::string::npos);
  EXPECT_NE(trouble("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab").find("too early"),
            std::string::npos);
  EXPECT_NE(trouble("HTTP/1.1 200 OK\r\nCONTENT-length: 10\r\n\r\nshort").find("too early"),
            std::string::npos);
  EXPECT_NE(trouble("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx").find("not a number"),
            std::string::npos);
  EXPECT_NE(trouble(std::string(1 << 20, 'x')).find("longer than"), std::string::npos);
}

TEST(HttpGet, ASilentServerRunsOutOfTime) {
  EXPECT_NE(trouble("HTTP/1.1 200 OK\r\n", After::hold, {Seconds{0.05}}).find("in time"), std::string::npos);
}

TEST(HttpGet, CanBeCalledOff) {
  const int cancel = eventfd(1, EFD_CLOEXEC);
  HttpLimits limits;
  limits.at_most = Seconds{600};
  limits.cancel_fd = cancel;
  EXPECT_NE(trouble("", After::hold, limits).find("called off"), std::string::npos);
  close(cancel);
}

TEST(HttpGet, NobodyThere) {
  std::string url;
  {
    FakeHttpServer server("");
    url = server.url();
  }
  EXPECT_THROW(http_get(parse_http_url(url)), SystemError);
}

}  // namespace
}  // namespace tandem::platform
