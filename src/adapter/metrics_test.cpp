#include "adapter/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace tandem::adapter {
namespace {

std::vector<Metrics> all(MetricsReader& reader) {
  std::vector<Metrics> out;
  while (auto metrics = reader.take()) out.push_back(*metrics);
  return out;
}

std::string shown(const std::vector<Metrics>& epochs) {
  std::string out;
  for (const auto& metrics : epochs)
    for (const auto& [name, value] : metrics)
      out += name + " " + std::to_string(value) + (&metrics == &epochs.back() ? "" : ";");
  return out;
}

// Whole, and in pieces of every size: the same epochs.
std::vector<Metrics> read(const spec::Program& program, const std::string& text, bool ends = true) {
  std::vector<Metrics> out;
  for (const std::size_t piece : {text.size() + 1, std::size_t{1}, std::size_t{7}}) {
    const auto reader = metrics_reader(program, format_of(program));
    for (std::size_t at = 0; at < text.size(); at += piece)
      reader->feed(std::string_view(text).substr(at, piece));
    if (ends) reader->end();
    const auto found = all(*reader);
    if (piece > text.size())
      out = found;
    else
      EXPECT_EQ(shown(found), shown(out)) << "in pieces of " << piece;
  }
  return out;
}

spec::Program patterns(std::map<std::string, std::string> metrics, std::string epoch = "") {
  spec::Program out;
  out.metrics = std::move(metrics);
  out.epoch = std::move(epoch);
  return out;
}

const std::map<std::string, std::string> kAccuracy{{"accuracy", "acc[=: ]+([0-9.]+)"}};
const std::map<std::string, std::string> kBoth{{"accuracy", "acc[=: ]+([0-9.]+)"},
                                               {"loss", "loss ([-+.0-9e]+)"}};

TEST(Patterns, EveryFullSetOfMetricsIsAnEpoch) {
  EXPECT_EQ(read(patterns(kAccuracy), "begin\nacc=0.5\nnoise\nacc: 0.75.\n"),
            (std::vector<Metrics>{{{"accuracy", 0.5}}, {{"accuracy", 0.75}}}));
  EXPECT_EQ(read(patterns(kBoth), "loss 1e-1\nacc 0.5\nacc 0.6 loss +2.5\nacc 0.7\n"),
            (std::vector<Metrics>{{{"accuracy", 0.5}, {"loss", 0.1}}, {{"accuracy", 0.6}, {"loss", 2.5}}}));
  EXPECT_EQ(read(patterns(kAccuracy), "acc=0.1\racc=0.2\racc=0.3").size(), 3u)
      << "progress bars return to the line's begin";
  EXPECT_TRUE(std::isnan(read(patterns({{"l", "loss (\\S+)"}}), "loss nan\n").at(0).at("l")));
  EXPECT_TRUE(read(patterns({{"l", "loss (\\S+)"}}), "loss of everything\nloss 0x1\nloss 1,5\n").empty());
}

TEST(Patterns, WhatIsReadUnderOneNumberIsOneEpoch) {
  const auto program = patterns(kBoth, "[Ee]poch (\\d+)");
  EXPECT_EQ(read(program, "Epoch 1/2\nacc 0.1 loss 9\nacc 0.5 loss 1\nEpoch 2/2\nacc 0.6 loss 0.5\n"),
            (std::vector<Metrics>{{{"accuracy", 0.5}, {"loss", 1}}, {{"accuracy", 0.6}, {"loss", 0.5}}}));
  EXPECT_EQ(read(program, "epoch 0: acc 0.1 loss 9\nepoch 1: acc 0.2 loss 8\n", false).size(), 2u)
      << "all on one line is told at once";
  EXPECT_EQ(read(program, "epoch 3: acc 0.1 loss 9\nepoch 3: acc 0.2 loss 8\n").size(), 1u)
      << "one number, one epoch";
  EXPECT_TRUE(read(program, "Epoch 1\nacc 0.1\nEpoch 2\nloss 3\n").empty()) << "never both of one epoch";
  EXPECT_TRUE(read(program, "Epoch 1\nacc 0.1 loss 2\n", false).empty()) << "it may not be over";
}

TEST(Patterns, HostileOutputCostsNoMoreThanALine) {
  const std::string endless(3 << 20, 'a');
  EXPECT_EQ(read(patterns(kAccuracy), endless + "acc=0.5\nacc=0.7\n"),
            (std::vector<Metrics>{{{"accuracy", 0.7}}}))
      << "only the beginning of a line is looked at";
  std::string zeros(1000, '\0');
  EXPECT_EQ(read(patterns(kAccuracy), zeros + "\xff\xfe\nacc=0.5\n").size(), 1u);
}

spec::Program file(const std::string& name, std::map<std::string, std::string> metrics = {}) {
  spec::Program out;
  out.metrics_file = name;
  out.metrics = std::move(metrics);
  return out;
}

TEST(JsonLines, ARowIsAnEpoch) {
  EXPECT_EQ(read(file("log.jsonl"),
                 "{\"acc\": 0.5, \"deep\": {\"loss\": 1}, \"name\": \"x\"}\nnot json\n[1]\n{\"acc\": 1}\n"),
            (std::vector<Metrics>{{{"acc", 0.5}, {"deep.loss", 1}}, {{"acc", 1}}}));
  EXPECT_EQ(read(file("log.json", {{"accuracy", "acc"}, {"loss", "deep.loss"}}),
                 "{\"acc\": 0.5}\n{\"acc\": 0.6, \"deep\": {\"loss\": 1}, \"other\": 3}\n"),
            (std::vector<Metrics>{{{"accuracy", 0.6}, {"loss", 1}}}))
      << "a row without all of them is none";
  EXPECT_TRUE(read(file("log.jsonl"), "{\"acc\": 0.5}\n{\"acc\": 0.", false).size() == 1) << "half a row";
}

TEST(Csv, ARowIsAnEpochAndTheFirstLineNamesTheColumns) {
  EXPECT_EQ(read(file("log.csv"), "epoch,acc,\"the \"\"loss\"\", s\"\r\n1,0.5,2\r\n2,,3\r\n"),
            (std::vector<Metrics>{{{"epoch", 1}, {"acc", 0.5}, {"the \"loss\", s", 2}},
                                  {{"epoch", 2}, {"the \"loss\", s", 3}}}));
  EXPECT_EQ(read(file("log.csv", {{"accuracy", "acc"}}), "epoch,acc\n1,0.5\n2,\n3,x\n4,\"0.7\"\n5\n"),
            (std::vector<Metrics>{{{"accuracy", 0.5}}, {{"accuracy", 0.7}}}));
}

// What TensorBoard writes, as far as it is read.
std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}
std::string bytes_field(int field, const std::string& bytes) {
  return varint(static_cast<std::uint64_t>(field << 3 | 2)) + varint(bytes.size()) + bytes;
}
std::string float_bytes(float value) {
  std::string out(4, '\0');
  std::memcpy(out.data(), &value, 4);
  return out;
}
std::string record(const std::string& event) {
  std::string out(12, '\0');
  const std::uint64_t size = event.size();
  std::memcpy(out.data(), &size, 8);
  return out + event + std::string(4, '\0');
}
std::string scalar(std::int64_t step, const std::string& tag, float value, bool tensor = false) {
  const std::string held =
      tensor ? bytes_field(8, varint(1 << 3) + varint(1) + bytes_field(4, float_bytes(value)))
             : varint(2 << 3 | 5) + float_bytes(value);
  return record(varint(1 << 3 | 1) + std::string(8, '\1') + varint(2 << 3) +
                varint(static_cast<std::uint64_t>(step)) +
                bytes_field(5, bytes_field(1, bytes_field(1, tag) + held)));
}

TEST(TensorBoard, AllScalarsOfAStepAreAnEpoch) {
  const std::string log = record(bytes_field(3, "brain.Event:2")) + scalar(0, "acc", 0.5f) +
                          scalar(0, "loss", 2) + scalar(1, "acc", 0.75f, true) + scalar(1, "loss", 1);
  EXPECT_EQ(read(file("logs"), log),
            (std::vector<Metrics>{{{"acc", 0.5}, {"loss", 2}}, {{"acc", 0.75}, {"loss", 1}}}));
  EXPECT_EQ(read(file("logs"), log, false).size(), 1u) << "the second step may go on";
  EXPECT_EQ(read(file("logs", {{"accuracy", "acc"}}), log, false),
            (std::vector<Metrics>{{{"accuracy", 0.5}}, {{"accuracy", 0.75}}}));
}

TEST(TensorBoard, GarbageIsPassedOver) {
  for (std::size_t cut = 0; cut < 60; ++cut) {
    std::string log = scalar(0, "acc", 0.5f) + scalar(1, "acc", 0.75f);
    log[cut] = static_cast<char>(log[cut] ^ 0x5a);
    read(file("logs"), log);
    read(file("logs"), log.substr(0, log.size() - cut));
  }
  EXPECT_TRUE(read(file("logs"), std::string(1 << 16, '\xff')).empty());
}

}  // namespace
}  // namespace tandem::adapter
