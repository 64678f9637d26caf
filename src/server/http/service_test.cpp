#include "server/http/service.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "server/http/server_testing.h"

namespace tandem::server {
namespace {

class Judged : public testing::Test {
 protected:
  Judged() : service_(router(), token_, {{}, {"node7"}, {1000}}, log_, metrics_) {}

  Router router() {
    Router routes;
    routes.add("GET", "/read", Need::read, [](const Request&) { return json_response({{"x", 1}}); });
    routes.add("POST", "/change/{what}", Need::change, [this](const Request&) { return does_(); });
    return routes;
  }
  Head read() const {
    Head head;
    head.method = "GET";
    head.target = "/read";
    head.host = {"localhost"};
    head.authorization = {"Bearer " + token_.reveal()};
    return head;
  }
  Head change() const {
    Head head = read();
    head.method = "POST";
    head.target = "/change/x?y=z";
    head.has_body = true;
    return head;
  }
  int status(const Head& head) {
    const auto judged = service_.admit(head);
    const auto* refusal = std::get_if<Response>(&judged);
    return refusal ? refusal->status : 200;
  }
  Response handled(std::function<Response()> does) {
    does_ = std::move(does);
    return service_.handle(std::get<Admitted>(service_.admit(change())));
  }

  TestLog lines_;
  Log log_{lines_.sink(), {Level::debug, 1000, {}}};
  Metrics metrics_;
  Token token_ = Token::make();
  std::function<Response()> does_;
  Service service_;
};

TEST_F(Judged, WhatIsRightIsAdmitted) {
  EXPECT_EQ(status(read()), 200);
  const auto admitted = std::get<Admitted>(service_.admit(change()));
  EXPECT_EQ(admitted.request.parameters.at("what"), "x");
  EXPECT_EQ(admitted.request.query.at("y"), "z");
  EXPECT_EQ(admitted.request.path, "/change/x");
}

TEST_F(Judged, ShapesThatAreRefused) {
  const auto with = [this](auto change_it) {
    Head head = read();
    change_it(head);
    return status(head);
  };
  EXPECT_EQ(with([](Head& head) { head.version = 20; }), 505);
  EXPECT_EQ(with([](Head& head) { head.target = "/" + std::string(3000, 'a'); }), 414);
  EXPECT_EQ(with([](Head& head) { head.lines = 65; }), 431);
  EXPECT_EQ(with([](Head& head) { head.host = {"localhost", "localhost"}; }), 400);
  EXPECT_EQ(with([](Head& head) { head.authorization = {"Bearer a", "Bearer b"}; }), 400);
  EXPECT_EQ(with([](Head& head) { head.key = {"a", "a"}; }), 400);
  EXPECT_EQ(with([](Head& head) { head.key = {std::string(65, 'a')}; }), 400);
  EXPECT_EQ(with([](Head& head) { head.key = {"a b"}; }), 400);
  EXPECT_EQ(with([](Head& head) { head.key = {""}; }), 400);
  EXPECT_EQ(with([](Head& head) { head.key = {"aZ-_09"}; }), 200);
  EXPECT_EQ(with([](Head& head) { head.host = {}; }), 400);
  EXPECT_EQ(with([](Head& head) { head.host = {}, head.version = 10; }), 200);
  EXPECT_EQ(with([](Head& head) { head.transfer_encoding = "gzip, chunked"; }), 501);
  EXPECT_EQ(with([](Head& head) { head.has_body = true; }), 400);
  EXPECT_EQ(with([](Head& head) { head.target = "/nothing"; }), 404);
  EXPECT_EQ(with([](Head& head) { head.method = "BREW"; }), 405);
}

TEST_F(Judged, PagesInABrowserCannotAskForUs) {
  Head head = read();
  head.host = {"evil.example:8470"};
  EXPECT_EQ(status(head), 403);
  head.caller.unix_socket = true;
  EXPECT_EQ(status(head), 200) << "no browser connects to a socket file";
  Head named = read();
  named.host = {"Node7:80"};
  EXPECT_EQ(status(named), 200);
}

TEST_F(Judged, Tokens) {
  Head head = change();
  EXPECT_EQ(status(head), 200);
  for (const std::string& shown : {std::string(), std::string("Bearer"), std::string("Bearer "),
                                   "bearer " + token_.reveal(), "Basic " + token_.reveal(), token_.reveal(),
                                   "Bearer  " + token_.reveal(), "Bearer " + token_.reveal() + " "}) {
    head.authorization = {shown};
    EXPECT_EQ(status(head), 401) << shown;
  }
  head.authorization = {};
  EXPECT_EQ(status(head), 401);
  head.caller = {true, true, 1000};
  EXPECT_EQ(status(head), 200);
  head.caller = {true, true, 1001};
  EXPECT_EQ(status(head), 403);
}

TEST_F(Judged, ReadingNeedsARole) {
  Head head = read();
  head.authorization = {};
  EXPECT_EQ(status(head), 401) << "loopback or not";
  head.caller = {true, true, 1001};
  EXPECT_EQ(status(head), 403);
  head.caller = {true, true, 1000};
  EXPECT_EQ(status(head), 200);
}

TEST_F(Judged, ChangesAndRefusalsAreAudited) {
  platform::TemporaryFolder folder("tandem-service-audit");
  const auto file = folder.path() / "audit.log";
  Audit audit(file);
  const auto view = create_token(folder.path() / "tokens", {"v", Role::view, {}, Seconds{}});
  Service service(router(), {token_, folder.path() / "tokens"}, {{}, {}, {1000}, &audit}, log_, metrics_);
  const auto asked = [&](const Head& head, int status) {
    Exchange exchange{head.method, head.target, nullptr, status, 0, head.caller, "why"};
    const auto judged = service.admit(head, &exchange.who);
    if (const auto* admitted = std::get_if<Admitted>(&judged)) exchange.route = admitted->route;
    service.record(exchange);
  };
  asked(change(), 201);
  asked(read(), 200);  // neither a change nor refused
  Head low = change();
  low.authorization = {"Bearer " + view.reveal()};
  asked(low, 403);
  std::ifstream in(file);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["outcome"], "done");
  EXPECT_EQ(lines[0]["who"], "the operators' token");
  EXPECT_EQ(lines[1]["outcome"], "refused");
  EXPECT_EQ(lines[1]["who"], "token v");
  EXPECT_EQ(lines[1].dump().find(view.reveal()), std::string::npos);
}

TEST_F(Judged, WhatHandlersThrowIsAnAnswer) {
  EXPECT_EQ(handled([] { return Response{202, "fine"}; }).status, 202);
  EXPECT_EQ(handled([]() -> Response { throw Refusal(409, "twice"); }).status, 409);
  const auto user = handled([]() -> Response { throw UserError("line 3: no"); });
  EXPECT_EQ(user.status, 400);
  EXPECT_EQ(user.body, "{\"error\":\"line 3: no\"}\n");
  const auto inner = handled([]() -> Response { throw std::runtime_error("inner"); });
  EXPECT_EQ(inner.status, 500);
  EXPECT_EQ(inner.body.find("inner"), std::string::npos) << "not the client's business";
  EXPECT_NE(lines_.text().find("\"why\":\"inner\""), std::string::npos);
}

TEST_F(Judged, AnswersThatWouldBreakHttpAreBugs) {
  EXPECT_EQ(handled([] { return Response{200, "", "a\r\nX: y"}; }).status, 500);
  EXPECT_EQ(handled([] { return Response{200, "", "a", {{"X", "a\nY: b"}}}; }).status, 500);
  EXPECT_EQ(handled([] { return Response{7}; }).status, 500);
}

TEST_F(Judged, TheBooks) {
  const auto admitted = std::get<Admitted>(service_.admit(change()));
  service_.record({"POST", "/change/x", admitted.route, 201, 0.25, {true, true, 7}, ""});
  service_.record(
      {"X\n\"'" + std::string(1000, 'y'), "/" + token_.reveal(), nullptr, 404, 0, {}, "none there"});
  const auto text = metrics_.text();
  EXPECT_NE(text.find("requests_total{method=\"POST\",route=\"/change/{what}\",status=\"201\"} 1\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("requests_total{method=\"other\",route=\"none\",status=\"404\"} 1\n"),
            std::string::npos);
  EXPECT_NE(lines_.text().find("\"over\":\"unix\",\"user\":7"), std::string::npos);
  EXPECT_EQ(lines_.text().find(token_.reveal()), std::string::npos);
}

}  // namespace
}  // namespace tandem::server
