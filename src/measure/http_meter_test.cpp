#include "measure/http_meter.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "platform/fake_http_server.h"

namespace tandem::measure {
namespace {

using platform::FakeHttpServer;

HttpMeterOptions options(const FakeHttpServer& server) {
  HttpMeterOptions options;
  options.url = server.url();
  options.period = Seconds{0.001};
  return options;
}

TEST(HttpMeter, IntegratesWhatItIsTold) {
  FakeHttpServer server(FakeHttpServer::ok("100 W"));
  const Seconds before = steady_now();
  HttpMeter meter(options(server));
  const auto first = meter.read();
  ASSERT_TRUE(first);
  server.wait_for_requests(5);
  const auto second = meter.read();
  ASSERT_TRUE(second);
  const Seconds after = steady_now();
  EXPECT_GT(second->total, first->total);
  EXPECT_LE(second->total.value, 100 * (after - before).value * (1 + 1e-9))
      << "constant power is integrated exactly";
  EXPECT_EQ(second->breaks, 0);
  EXPECT_EQ(meter.source(), "pdu");
}

TEST(HttpMeter, AMeterThatGoesBadLeavesAGap) {
  FakeHttpServer server(FakeHttpServer::ok("100"));
  auto chosen = options(server);
  chosen.longest_gap = Seconds{0};
  HttpMeter meter(chosen);
  server.answer(FakeHttpServer::ok("out of order"));
  server.wait_for_requests(server.requests() + 3);
  EXPECT_NE(meter.last_trouble().find("out of order"), std::string::npos);
  EXPECT_FALSE(meter.read()) << "no power known for now";
  server.answer(FakeHttpServer::ok("100"));
  server.wait_for_requests(server.requests() + 3);
  EXPECT_EQ(meter.last_trouble(), "");
}

TEST(HttpMeter, ABadStartIsSaidAtOnce) {
  FakeHttpServer garbage(FakeHttpServer::ok("no number here"));
  EXPECT_THROW(HttpMeter{options(garbage)}, SystemError);
  HttpMeterOptions wrong;
  wrong.url = "ftp://meter";
  EXPECT_THROW(HttpMeter{wrong}, UserError);
}

TEST(HttpMeter, EndsAtOnceWhileAQuestionHangs) {
  FakeHttpServer server(FakeHttpServer::ok("5"), FakeHttpServer::After::hold);
  server.answer_later("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
  auto chosen = options(server);
  chosen.timeout = Seconds{3600};
  {
    HttpMeter meter(chosen);
    server.wait_for_requests(2);
  }
  SUCCEED() << "an hour's time-out did not hold the destructor up";
}

}  // namespace
}  // namespace tandem::measure
