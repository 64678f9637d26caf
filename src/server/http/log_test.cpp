#include "server/http/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>
#include <thread>

#include "base/error.h"
#include "platform/descriptor.h"

namespace tandem::server {
namespace {

class Logged : public testing::Test {
 protected:
  Log::Options at(Level from, std::size_t lines_a_second = 1000) {
    return {from, lines_a_second, [this] { return now_; }};
  }
  Log::Sink sink() {
    return [this](std::string_view line) { text_ += line; };
  }

  std::int64_t now_ = 1'769'860'800'123;  // 2026-01-31T12:00:00.123Z
  std::string text_;
};

TEST_F(Logged, OneObjectALine) {
  Log log(sink(), at(Level::info));
  log.info("job submitted", {{"job", 7}, {"name", "a\nb\"c"}, {"share", 0.5}});
  log.warning("odd");
  EXPECT_EQ(text_,
            "{\"time\":\"2026-01-31T12:00:00.123Z\",\"level\":\"info\",\"event\":\"job submitted\",\"job\":7,"
            "\"name\":\"a\\nb\\\"c\",\"share\":0.5}\n"
            "{\"time\":\"2026-01-31T12:00:00.123Z\",\"level\":\"warning\",\"event\":\"odd\"}\n");
}

TEST_F(Logged, LessThanTheLevelIsLeftOut) {
  Log log(sink(), at(Level::warning));
  log.debug("a");
  log.info("b");
  EXPECT_EQ(text_, "");
  log.error("c");
  EXPECT_NE(text_.find("\"c\""), std::string::npos);
}

TEST_F(Logged, BrokenBytesAndReservedKeysStayOneGoodLine) {
  Log log(sink(), at(Level::info));
  log.info("x\xff", {{"level", "fake"}, {"bytes", std::string("\0\xfe\x1b[31m", 7)}});
  const auto line = nlohmann::json::parse(text_);
  EXPECT_EQ(line["level"], "info");
  EXPECT_EQ(line["event"], "x?");
  EXPECT_EQ(line["bytes"], "\\u0000?\\u001b[31m");
}

TEST_F(Logged, OverlongTextIsCut) {
  Log log(sink(), at(Level::info));
  log.info("x", {{"text", std::string(1 << 20, 'a')}});
  EXPECT_LT(text_.size(), 3000u);
}

TEST_F(Logged, SecretsDoNotGetThrough) {
  Log log(sink(), at(Level::info));
  log.hide("0123456789abcdef");
  log.info(
      "got 0123456789abcdef",
      {{"Authorization", "Basic Zm9v"},
       {"api_token", 12345},
       {"nested",
        {{"db_password", "hunter2"}, {"list", {"x0123456789abcdefx", "authorization: bearer abc.def, ok"}}}},
       {"0123456789abcdef", 1},
       {"path", "/0123456789abcdef/0123456789abcdef"}});
  for (const char* secret : {"0123456789abcdef", "Zm9v", "12345", "hunter2", "abc.def"})
    EXPECT_EQ(text_.find(secret), std::string::npos) << secret << " in " << text_;
  EXPECT_NE(text_.find("/[redacted]/[redacted]"), std::string::npos);
  log.info("cut in the middle of 0123456789abc");
  EXPECT_NE(text_.find("cut in the middle of [redacted]\""), std::string::npos) << text_;
  EXPECT_NE(text_.find("bearer [redacted], ok"), std::string::npos);
}

TEST_F(Logged, AStormIsCountedInsteadAndErrorsStay) {
  Log log(sink(), at(Level::info, 10));
  for (int i = 0; i < 1000; ++i) log.warning("refused");
  EXPECT_EQ(std::count(text_.begin(), text_.end(), '\n'), 10);
  log.error("bad");
  EXPECT_NE(text_.find("\"bad\""), std::string::npos);
  now_ += 1000;
  log.info("calm again");
  EXPECT_NE(text_.find("\"lines left out\",\"lines\":990}"), std::string::npos);
  EXPECT_NE(text_.find("calm again"), std::string::npos);
}

TEST_F(Logged, WhatWasLeftOutLastIsSaidAtTheEnd) {
  {
    Log log(sink(), at(Level::info, 1));
    log.info("a");
    log.info("b");
  }
  EXPECT_NE(text_.find("\"lines\":1}"), std::string::npos);
}

TEST(Log, LinesOfThreadsDoNotMix) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const platform::Descriptor reading(ends[0]);
  platform::Descriptor writing(ends[1]);
  std::string all;
  std::thread reader([&] {
    char buffer[4096];
    for (ssize_t got; (got = ::read(reading.get(), buffer, sizeof buffer)) > 0;)
      all.append(buffer, static_cast<std::size_t>(got));
  });
  {
    Log log(Log::to_descriptor(writing.get()), {Level::info, 1'000'000, {}});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&log, t] {
        for (int i = 0; i < 200; ++i) log.info("line", {{"thread", t}, {"text", std::string(500, 'x')}});
      });
    for (auto& thread : threads) thread.join();
  }
  writing.reset();
  reader.join();
  std::istringstream lines(all);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  EXPECT_EQ(count, 800);
}

TEST(Log, LevelsByName) {
  EXPECT_EQ(parse_level("warning"), Level::warning);
  EXPECT_EQ(parse_level("loud"), std::nullopt);
}

}  // namespace
}  // namespace tandem::server
