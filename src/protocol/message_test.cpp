#include "protocol/message.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace tandem::protocol {
namespace {

std::string without_newline(std::string line) {
  EXPECT_EQ(line.back(), '\n');
  line.pop_back();
  return line;
}

// What the parser says of a line from a program; fails the test when it says nothing.
std::string complaint(std::string_view line) {
  try {
    parse_from_program(line);
  } catch (const ProtocolError& error) {
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << line.substr(0, 200);
  return "";
}

std::string complaint_of_tandem(std::string_view line) {
  try {
    parse_from_tandem(line);
  } catch (const ProtocolError& error) {
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << line.substr(0, 200);
  return "";
}

void expect_says(const std::string& said, const std::string& part) {
  EXPECT_NE(said.find(part), std::string::npos) << "'" << part << "' is not in: " << said;
}

Begin some_begin() {
  Begin begin;
  begin.drop = 0.25;
  begin.task = "run 20261115-043000-7f3a, task 0";
  begin.attempt = 2;
  begin.epochs = 10;
  begin.reported = 3;
  begin.seed = -7;
  begin.folder = "/tmp/a \"quoted\" folder\n";
  begin.hyper = {{"batch_size", std::int64_t{64}},
                 {"learning_rate", 1.0},
                 {"optimizer", std::string("sgd")},
                 {"shuffle", true}};
  begin.system = {2, 2 * kGiB, 0.8};
  return begin;
}

TEST(Message, SpeaksTheDocumentedWire) {
  EXPECT_EQ(line(Hello{1, {"threads"}, 3}),
            "{\"type\":\"hello\",\"version\":1,\"can\":[\"threads\"],\"durable_epoch\":3}\n");
  EXPECT_EQ(line(Epoch{4, {{"accuracy", 0.9}}}),
            "{\"type\":\"epoch\",\"epoch\":4,\"metrics\":{\"accuracy\":0.9}}\n");
  EXPECT_EQ(line(Checkpointed{4}), "{\"type\":\"checkpointed\",\"epoch\":4}\n");
  EXPECT_EQ(line(Answer{}), "{\"type\":\"answer\",\"stop\":false,\"checkpoint\":false}\n");
  EXPECT_EQ(line(Answer{true, true, Resources{2, 0, 1.0}}),
            "{\"type\":\"answer\",\"stop\":true,\"checkpoint\":true,"
            "\"system\":{\"cores\":2,\"memory\":0,\"speed\":1.0}}\n");
}

TEST(Message, WhatIsWrittenIsReadBack) {
  for (const FromProgram& message : std::vector<FromProgram>{
           Hello{}, Hello{1, {"threads", "batch"}, 0}, Epoch{}, Epoch{std::nullopt, {{"loss", -0.0}}},
           Epoch{1, {{"a", 1e300}, {"b", 5e-324}, {"c", 0.1}}}, Epoch{1, {}, {}, {"lr"}, R"({"folder":"/x","modules":[["a","b"]]})"},
           Checkpointed{7}, Ready{}, Progress{0.25},
           Progress{1}})
    EXPECT_EQ(parse_from_program(without_newline(line(message))), message);
  for (const FromTandem& message :
       std::vector<FromTandem>{some_begin(), Answer{}, Answer{true, false, Resources{1, 5, 0.5}, 3},
                               Refusal{"it said hello again"}})
    EXPECT_EQ(parse_from_tandem(without_newline(line(message))), message);
}

TEST(Message, KeepsTheKindOfEachHyperparameter) {
  const auto begin = std::get<Begin>(parse_from_tandem(without_newline(line(some_begin()))));
  EXPECT_TRUE(std::holds_alternative<double>(begin.hyper.at("learning_rate")));
  EXPECT_TRUE(std::holds_alternative<std::int64_t>(begin.hyper.at("batch_size")));
}

TEST(Message, UnknownKeysAreIgnoredAndNullMeansLeftOut) {
  EXPECT_EQ(parse_from_program(R"({"type":"epoch","metrics":{"loss":1},"mood":{"x":[1]},"epoch":null})"),
            FromProgram(Epoch{std::nullopt, {{"loss", 1}}}));
  EXPECT_EQ(parse_from_program(R"({"type":"hello","version":1})"), FromProgram(Hello{}));
  EXPECT_EQ(parse_from_tandem(R"({"type":"answer","stop":false,"checkpoint":false,"later":1})"),
            FromTandem(Answer{}));
}

TEST(Message, AcceptsACarriageReturn) {
  EXPECT_EQ(parse_from_program("{\"type\":\"checkpointed\",\"epoch\":1}\r"), FromProgram(Checkpointed{1}));
}

TEST(Message, AnUnknownTypeNamesTheKnownOnes) {
  const auto said = complaint(R"({"type":"epohc"})");
  expect_says(said, "unknown type 'epohc'");
  expect_says(said, "did you mean 'epoch'");
  expect_says(said, "hello, ready, progress, epoch, checkpointed");
  expect_says(complaint_of_tandem(R"({"type":"stop"})"), "begin, answer");
  expect_says(complaint(R"({"epoch":1})"), "has no 'type'");
  expect_says(complaint(R"({"type":7})"), "'type' of the line must be text, not 7");
}

TEST(Message, AnotherVersionIsSaidSo) {
  expect_says(complaint(R"({"type":"hello","version":2})"), "the program speaks version 2");
  expect_says(complaint(R"({"type":"hello"})"), "hello has no 'version'");
  Begin begin = some_begin();
  begin.version = 9;
  expect_says(complaint_of_tandem(without_newline(line(begin))), "Tandem speaks version 9");
}

TEST(Message, NumbersThatAreNotFiniteAreTold) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), big = std::numeric_limits<double>::infinity();
  const auto loss = [](const std::string& line) {
    return std::get<Epoch>(parse_from_program(line)).metrics.at("loss");
  };
  // As Python's json.dumps writes them.
  EXPECT_TRUE(std::isnan(loss(R"({"type": "epoch", "metrics": {"loss": NaN}})")));
  EXPECT_EQ(loss(R"({"type": "epoch", "metrics": {"loss": Infinity}})"), big);
  EXPECT_EQ(loss(R"({"type": "epoch", "metrics": {"a": 1, "loss": -Infinity}})"), -big);
  // As other libraries do.
  EXPECT_TRUE(std::isnan(loss(R"({"type": "epoch", "metrics": {"loss": null}})")));
  // As our own encoder does.
  EXPECT_TRUE(std::isnan(loss(without_newline(line(Epoch{1, {{"loss", nan}}})))));
  EXPECT_EQ(loss(without_newline(line(Epoch{1, {{"loss", -big}}}))), -big);
  EXPECT_THROW(parse_from_program(R"({"type":"epoch","metrics":{"loss":1e999}})"), ProtocolError);
  expect_says(complaint(R"({"type":"epoch","epoch":NaN,"metrics":{}})"), "'epoch' of the epoch report");
}

TEST(Message, AFirstReportSaysHowLongAgoItWasReady) {
  const Epoch report{1, {{"loss", 2}}, Seconds{0.25}};
  EXPECT_EQ(parse_from_program(without_newline(line(report))), FromProgram(report));
  expect_says(complaint(R"({"type":"epoch","metrics":{},"since_ready":-1})"), "since_ready");
  expect_says(complaint(R"({"type":"epoch","metrics":{},"since_ready":NaN})"), "since_ready");
  expect_says(complaint(R"({"type":"epoch","metrics":{},"loaded":[]})"), "loaded");
}

TEST(Message, TheWordNaNInsideTextIsLeftAlone) {
  EXPECT_EQ(parse_from_program(R"({"type":"epoch","metrics":{"NaN \" Infinity":1},"x":NaN})"),
            FromProgram(Epoch{std::nullopt, {{"NaN \" Infinity", 1}}}));
}

TEST(Message, RefusesWhatIsNotAMessage) {
  expect_says(complaint(""), "empty line");
  expect_says(complaint("Epoch 3: loss 0.2"), "not JSON");
  expect_says(complaint("[1,2]"), "this is array");
  expect_says(complaint("{\"type\":\"epoch\""), "not JSON");
  expect_says(complaint("{\"type\":\"\xff\"}"), "not JSON");
  expect_says(complaint(R"({"type":"epoch","type":"hello"})"), "appears twice");
  expect_says(complaint(std::string(100000, '[')), "nested deeper");
  expect_says(complaint("{\"type\":\"" + std::string(kLongestLine, 'x') + "\"}"), "too long");
}

TEST(Message, RefusesBadFields) {
  expect_says(complaint(R"({"type":"epoch"})"), "the epoch report has no 'metrics'");
  expect_says(complaint(R"({"type":"epoch","metrics":[1]})"), "must be an object");
  expect_says(complaint(R"({"type":"epoch","metrics":{"loss":"low"}})"), "metric 'loss' must be a number");
  expect_says(complaint(R"({"type":"epoch","metrics":{"loss":true}})"), "metric 'loss' must be a number");
  expect_says(complaint(R"({"type":"epoch","metrics":{"":1}})"), "empty name");
  expect_says(complaint("{\"type\":\"epoch\",\"metrics\":{\"a\\u0007\":1}}"), "control character");
  expect_says(complaint(R"({"type":"epoch","metrics":{")" + std::string(129, 'x') + "\":1}}"),
              "129 bytes long");
  expect_says(complaint(R"({"type":"epoch","epoch":0,"metrics":{}})"), "is 0, but must be at least 1");
  expect_says(complaint(R"({"type":"epoch","epoch":1.5,"metrics":{}})"), "whole number, not 1.5");
  expect_says(complaint(R"({"type":"epoch","epoch":18446744073709551615,"metrics":{}})"), "whole number");
  expect_says(complaint(R"({"type":"checkpointed","epoch":0})"), "at least 1");
  expect_says(complaint(R"({"type":"hello","version":1,"durable_epoch":-1})"), "at least 0");
  expect_says(complaint(R"({"type":"hello","version":1,"can":"threads"})"), "list of words");
  expect_says(complaint(R"({"type":"hello","version":1,"can":[1]})"), "list of words");
}

TEST(Message, RefusesTooManyMetrics) {
  Epoch epoch;
  for (std::size_t i = 0; i < kMostMetrics; ++i) epoch.metrics["m" + std::to_string(i)] = 1;
  EXPECT_EQ(parse_from_program(without_newline(line(epoch))), FromProgram(epoch));
  epoch.metrics["one more"] = 1;
  expect_says(complaint(without_newline(line(epoch))), "257 metrics in one epoch are too many");
}

TEST(Message, RefusesBadAnswers) {
  expect_says(complaint_of_tandem(R"({"type":"answer","stop":false})"), "the answer has no 'checkpoint'");
  expect_says(complaint_of_tandem(R"({"type":"answer","stop":1,"checkpoint":false})"),
              "true or false, not 1");
  expect_says(complaint_of_tandem(R"({"type":"answer","stop":false,"checkpoint":false,"epoch":-1})"),
              "at least 0");
  const auto with_system = [](const std::string& system) {
    return complaint_of_tandem(R"({"type":"answer","stop":false,"checkpoint":false,"system":)" + system +
                               "}");
  };
  expect_says(with_system(R"({"cores":0,"memory":0,"speed":1})"), "'cores'");
  expect_says(with_system(R"({"cores":99999999999,"memory":0,"speed":1})"), "at most 2147483647");
  expect_says(with_system(R"({"cores":1,"memory":-1,"speed":1})"), "'memory'");
  expect_says(with_system(R"({"cores":1,"memory":0,"speed":0})"), "above 0");
  expect_says(with_system(R"({"cores":1,"memory":0,"speed":"x"})"), "must be a number");
  expect_says(with_system("3"), "must be an object");
}

TEST(Message, WhatJsonCannotHoldIsNotSent) {
  Begin begin = some_begin();
  begin.folder = "/tmp/\xff";
  EXPECT_THROW(line(begin), ProtocolError);
  begin = some_begin();
  begin.hyper["rate"] = std::nan("");
  EXPECT_THROW(line(begin), ProtocolError);
}

TEST(LineReader, PiecesDoNotMatter) {
  const std::string stream = "one\n\nthree\r\nfour is longer\nrest";
  const std::vector<std::string> expected = {"one", "", "three\r", "four is longer"};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    LineReader reader;
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < stream.size();) {
      const auto piece = 1 + random.below(seed % 2 == 0 ? 3 : stream.size());
      reader.feed(std::string_view(stream).substr(at, piece));
      at += piece;
      while (auto line = reader.next()) lines.push_back(*line);
    }
    EXPECT_EQ(lines, expected);
    reader.feed("!\n");
    EXPECT_EQ(reader.next(), "rest!");
  }
}

TEST(LineReader, ALineThatNeverEndsIsRefused) {
  LineReader reader;
  const std::string piece(kLongestLine / 2, 'x');
  reader.feed(piece);
  EXPECT_EQ(reader.next(), std::nullopt);
  reader.feed(piece);
  EXPECT_EQ(reader.next(), std::nullopt);
  reader.feed("x");
  EXPECT_THROW(reader.next(), ProtocolError);
  reader.feed("\n");
  EXPECT_THROW(reader.next(), ProtocolError);
}

TEST(LineReader, TheLongestLineIsTaken) {
  LineReader reader;
  reader.feed(std::string(kLongestLine, 'x') + "\nnext\n");
  EXPECT_EQ(reader.next()->size(), kLongestLine);
  EXPECT_EQ(reader.next(), "next");
}

}  // namespace
}  // namespace tandem::protocol
