#include "server/http/router.h"

#include <gtest/gtest.h>

namespace tandem::server {
namespace {

Router example() {
  Router router;
  const auto says = [](const std::string& text) {
    return [text](const Request&) { return Response{200, text}; };
  };
  router.add("GET", "/", Need::read, says("root"));
  router.add("GET", "/v1/jobs", Need::read, says("list"));
  router.add("POST", "/v1/jobs", Need::change, says("submit"));
  router.add("DELETE", "/v1/jobs/{job}", Need::change, says("cancel"));
  router.add("GET", "/v1/jobs/{job}/logs/{file}", Need::read, says("log"));
  return router;
}

std::string found(const std::string& method, const std::string& target) {
  static const Router router = example();
  try {
    return router.find(method, parse_target(target)).route->handler({}).body;
  } catch (const Refusal& refusal) {
    return std::to_string(refusal.status);
  }
}

TEST(Router, MethodAndPath) {
  EXPECT_EQ(found("GET", "/"), "root");
  EXPECT_EQ(found("GET", "/v1/jobs"), "list");
  EXPECT_EQ(found("POST", "/v1/jobs"), "submit");
  EXPECT_EQ(found("DELETE", "/v1/jobs/7"), "cancel");
  EXPECT_EQ(found("GET", "/v1/jobs/7/logs/out.log"), "log");
}

TEST(Router, WhatIsNotThere) {
  for (const char* target : {"/v1", "/v2/jobs", "/v1/jobs/7/logs", "/v1/jobs/7/logs/a/b"})
    EXPECT_EQ(found("GET", target), "404") << target;
  EXPECT_EQ(found("PUT", "/v1/jobs"), "405");
  EXPECT_EQ(found("get", "/v1/jobs"), "405") << "methods are case-sensitive";
}

TEST(Router, AnotherMethodIsToldWhichThereAre) {
  const Router router = example();
  try {
    router.find("PUT", parse_target("/v1/jobs"));
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.headers.at("Allow"), "GET, POST");
  }
}

TEST(Router, ParametersAreNamed) {
  const Router router = example();
  const auto match = router.find("GET", parse_target("/v1/jobs/job-7/logs/a_b.log"));
  EXPECT_EQ(match.parameters, (std::map<std::string, std::string>{{"job", "job-7"}, {"file", "a_b.log"}}));
}

TEST(Router, NamesWithShellSyntaxAreRefused) {
  for (const char* name : {"$(reboot)", "a;b", "a%20b", "`id`", "a|b", "a&b", "-rf", ".hidden", "a*", "a'b",
                           "a%22b", "~", "%C3%A4", "a,b", "a=b", "a:b"})
    EXPECT_EQ(found("DELETE", std::string("/v1/jobs/") + name), "400") << name;
  EXPECT_EQ(found("DELETE", "/v1/jobs/" + std::string(128, 'a')), "cancel");
  EXPECT_EQ(found("DELETE", "/v1/jobs/" + std::string(129, 'a')), "400");
}

TEST(RouterDeathTest, TwoHandlersForOnePathAreABug) {
  Router router = example();
  const Handler handler = [](const Request&) { return Response{}; };
  EXPECT_DEATH(router.add("DELETE", "/v1/jobs/all", Need::change, handler), "overlap");
}

}  // namespace
}  // namespace tandem::server
