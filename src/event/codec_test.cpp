#include "event/codec.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "event/binary.h"

namespace tandem {
namespace {

using nlohmann::json;

spec::TuneJob some_tuning(const spec::TrainJob& base) {
  spec::TuneJob job;
  job.base = base;
  job.hyper.parameters = {{"rate", {spec::Domain::Kind::log_real, {}, 0.001, 0.1}, std::nullopt}};
  job.system.cores = {1, 2};
  job.budget.energy = Joules{5000};
  return job;
}

spec::Experiment some_experiment(const spec::TrainJob& base) {
  spec::Experiment job;
  job.base = base;
  job.system.cores = {1, 2};
  job.design = "full";
  job.replications = 3;
  return job;
}

KnownWorkload some_work() {
  return {"a machine",
          64,
          {1, 0, 1.0},
          {{"task-clock", 1e9}},
          {{"task-clock", 1e7}},
          {{{1, 0, 1.0}, 1.5, 12.0, 3}, {{2, 0, 1.0}, 0.9, std::nullopt, 1}},
          2.5};
}

Request some_request() {
  Request request{.task = 3, .job = 0, .wanted = {1, kGiB, 1.0}};
  request.trial = TrialPart{{{"rate", 0.01}}, 9, 3, 1, 2, 1, 4, {{"rate", 0.01}, {"word", std::string("x")}}};
  request.options = {{{1, kGiB, 1.0}, 1.0}, {{2, kGiB, 1.0}, 0.6}};
  request.epochs_left = 2;
  request.priority = 2;
  request.phase = Phase::reusing;
  request.workload = 1;
  request.nodes = 3;
  request.slices = true;
  return request;
}

std::vector<EventBody> every_event() {
  spec::TrainJob job;
  job.name = "a";
  job.program = {"lenet5", "digits", {}};
  job.hyper = {{"batch_size", std::int64_t{64}}, {"learning_rate", 0.05}, {"optimizer", std::string("sgd")}};
  const Energy energy{Joules{12.5}, "model (idle 8 W, busy 30 W)"};
  const Energy apart =
      sum_of({{"GPU", Joules{300}, "nvml"}, {"CPU", Joules{112}, "rapl", Joules{80}}, {"GPU"}});
  return {JobSubmitted{0, job},
          JobSubmitted{0, job, {1001, "ana"}, "k-1/0123456789abcdef"},
          JobCancelled{0, "asked"},
          JobResumed{0},
          NodeJoined{0, "here", {2, kGiB, 1.0}},
          NodeJoined{1, "there", {2, kGiB, 1.0}, "", {.speed_factor = 2, .bandwidth = 125e6}},
          TaskStarted{1, 2, 3, 4, 5, {0, 1}},
          TaskStarted{1, 2, 3, 4, 5, {0, 1}, {3}},
          TaskStarted{1, 2, 3, 4, 5, {0, 1}, {3}, true},
          EpochEnded{1, 2, 3, {{"accuracy", 0.5}}, Seconds{1.5}, energy, {{{"task-clock", 1.9}}}},
          EpochEnded{1, 2, 4, {}, Seconds{0.5}, std::nullopt, {}},
          CheckpointTaken{1, 2, 3, 4},
          SystemChanged{1, 2, 3, {1, 0, 0.5}},
          SystemChanged{1, 2, 3, {2, 0, 1.0, 1, 20 * kGiB, Watts{300}, 1.2e9, Precision::bf16}},
          SystemChanged{1, 2, 3, {.precision = Precision::fp16}},
          SystemChanged{1, 2, 3, {.gpus = 4}},
          TaskEnded{1, 2, energy},
          EpochEnded{1, 2, 6, {}, Seconds{1.5}, apart, {{{"task-clock", 1.9}}}, Seconds{0.25}},
          EpochEnded{1, 2, 7, {}, Seconds{1.5}, apart, {}, Seconds{0.25}, Joules{0.5}},
          EpochEnded{1, 2, 8, {}, Seconds{1}, std::nullopt, {}, Seconds{}, std::nullopt, {"loss", "norm"}},
          EpochEnded{1, 2, 9, {}, Seconds{1}, std::nullopt, {}, Seconds{}, std::nullopt, {}, {"batch_size"}},
          TaskEnded{1, 2, apart},
          TaskEnded{1, 2, energy, Failure::killed, "ended by signal 9", "last\nlines"},
          TaskFailed{1, 2, Failure::out_of_memory, "too much", "last\nlines", std::nullopt},
          DecisionRefused{7, "no room"},
          Woke{8},
          JobSubmitted{1, some_tuning(job)},
          JobSubmitted{2, some_experiment(job)},
          JobSubmitted{3, spec::CustomJob{"sleep", job, R"({"naps":3})"}},
          JobResumed{1, spec::Limits{Seconds{5}, Seconds{60}, 3, 77}, spec::Budget{Seconds{90}, Joules{5}}},
          EpochEnded{1, 2, 5, {}, Seconds{2}, std::nullopt, {}, Seconds{0.5}},
          KnowledgeArrived{"store", {some_work()}},
          SliceEnded{1, 2, 0.25, Seconds{0.5}, energy},
          SliceEnded{1, 2, 0, Seconds{0.5}, std::nullopt},
          JobsArchived{{0, 3, 70000}},
          NodeObserved{0, {.cpu = 0.25, .network = 0.5, .latency = Seconds{0.001}}},
          NodeObserved{1, {.memory = 1.0, .gpu = 0.0, .gpu_memory = 0.125}}};
}

std::vector<DecisionBody> every_decision() {
  return {Request{0, 0, {2, 0, 1.0}},
          Start{0, 1, 0, {2, 0, 1.0}},
          Start{0, 1, 4, {2, 0, 1.0}, 0.25, {1, 7}},
          Start{0,
                1,
                4,
                {2, 0, 1.0},
                0,
                {},
                PlacementReason{
                    {{4, true, 0.9, 0.5, 12.5, 30, 0.1, 1, "quiet"}, {0, false, 0.95, 0.5, 10, 20, 0, 2, ""}},
                    4,
                    7,
                    3,
                    Seconds{1.5},
                    0.5}},
          Continue{0, 1, 3},
          Resize{0, 1, {1, 0, 0.5}},
          TakeCheckpoint{0, 1},
          Stop{0, 1, "asked"},
          Wake{Seconds{9.25}},
          FinishJob{0, JobState::failed, "crashed"},
          Hold{0, 1, 2},
          Release{0, "others do better", 2},
          Learn{0, some_work()},
          Retune{0, 1, Watts{300}, 1.2e9, true},
          some_request()};
}

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(Codec, EveryEventHasItsJsonAndSurvivesBytes) {
  std::set<std::size_t> kinds;
  for (const auto& body : every_event()) {
    const Event event{Seconds{1234.5}, body};
    EXPECT_EQ(to_json(event).at("is"), name(body));
    EXPECT_EQ(to_json(event).at("at"), 1234.5);
    std::string bytes;
    append_binary(bytes, event);
    BinaryReader reader(as_bytes(bytes));
    EXPECT_EQ(reader.event(), event) << name(body);
    EXPECT_TRUE(reader.done());
    kinds.insert(body.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<EventBody>) << "a new event needs an example here";
}

TEST(Codec, EveryDecisionHasItsJsonAndSurvivesBytes) {
  std::set<std::size_t> kinds;
  for (const auto& body : every_decision()) {
    const Decision decision{42, body};
    EXPECT_EQ(to_json(decision).at("is"), name(body));
    EXPECT_EQ(to_json(decision).at("id"), 42);
    std::string bytes;
    append_binary(bytes, decision);
    EXPECT_EQ(BinaryReader(as_bytes(bytes)).decision(), decision) << name(body);
    kinds.insert(body.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<DecisionBody>);
}

TEST(Codec, EveryFailureAndStateHasItsOwnWordAndSurvivesBytes) {
  std::set<std::string> words;
  for (auto failure : {Failure::crashed, Failure::killed, Failure::stalled, Failure::out_of_memory,
                       Failure::bad_report, Failure::silent, Failure::lost, Failure::could_not_start,
                       Failure::no_space}) {
    const Event event{Seconds{}, TaskFailed{0, 1, failure, "", "", {}}};
    std::string bytes;
    append_binary(bytes, event);
    EXPECT_EQ(BinaryReader(as_bytes(bytes)).event(), event) << name(failure);
    EXPECT_TRUE(words.insert(to_json(event).at("failure")).second) << name(failure);
  }
  for (auto state : {JobState::running, JobState::finished, JobState::stopped, JobState::failed}) {
    const Decision decision{1, FinishJob{0, state, ""}};
    std::string bytes;
    append_binary(bytes, decision);
    EXPECT_EQ(BinaryReader(as_bytes(bytes)).decision(), decision) << name(state);
    EXPECT_TRUE(words.insert(to_json(decision).at("state")).second) << name(state);
  }
}

TEST(Codec, JsonSaysWhatHappenedInWordsAndNullWhereNothingIsKnown) {
  const auto measured = to_json(Event{
      Seconds{1}, EpochEnded{0, 1, 2, {{"accuracy", 0.5}}, Seconds{1.5}, Energy{Joules{3}, "rapl"}, {}}});
  EXPECT_EQ(measured.at("metrics").at("accuracy"), 0.5);
  EXPECT_EQ(measured.at("energy"), json::array({3.0, "rapl"}));
  EXPECT_TRUE(to_json(Event{Seconds{1}, TaskEnded{0, 1, {}}}).at("energy").is_null());
  const auto apart = to_json(
      Event{Seconds{1},
            TaskEnded{0, 1, sum_of({{"GPU", Joules{3}, "nvml"}, {"CPU", Joules{2}, "rapl", Joules{1}}})}});
  EXPECT_EQ(apart.at("energy"), json::parse(R"([5.0, "nvml + rapl", [
                {"of": "GPU", "joules": 3.0, "source": "nvml", "idle": null},
                {"of": "CPU", "joules": 2.0, "source": "rapl", "idle": 1.0}]])"));
}

// Bytes as the first release wrote them: they must be readable for ever.
TEST(Binary, BytesOfTheFirstReleaseCanBeRead) {
  const std::string woke("\0\0\0\0\0\0\x24\x40\x0b\x01\x0e", 11);
  EXPECT_EQ(BinaryReader(as_bytes(woke)).event(), (Event{Seconds{10}, Woke{7}}));
  const std::string go("\x54\x02\x03\x00\x02\x06", 6);
  EXPECT_EQ(BinaryReader(as_bytes(go)).decision(), (Decision{42, Continue{0, 1, 3}}));
}

TEST(Binary, FieldsOfANewerTandemAreSkippedAndOnesOfAnOlderKeepTheirDefaults) {
  const std::string longer("\x54\x02\x05\x00\x02\x06\x11\x22", 8);
  EXPECT_EQ(BinaryReader(as_bytes(longer)).decision(), (Decision{42, Continue{0, 1, 3}}));
  const std::string shorter("\x54\x02\x01\x08", 4);
  EXPECT_EQ(BinaryReader(as_bytes(shorter)).decision(), (Decision{42, Continue{4, 1, 0}}));
}

// As they were written when an experiment was a tuning job: the base, then the whole.
TEST(Binary, ExperimentsOfAnOlderTandemAreRead) {
  const std::string base = R"({"kind":"train","name":"e"})";
  const std::string whole =
      R"({"base":)" + base + R"(,"kind":"tune","mode":"experiment","search":{"algorithm":"full","seed":5}})";
  std::string inner;
  inner += '\0';  // job 0
  inner += static_cast<char>(base.size()) + base + '\x01';
  ASSERT_LT(whole.size(), 128u);
  inner += static_cast<char>(whole.size()) + whole;
  std::string was(9, '\0');  // at second 0, the first word
  was += static_cast<char>((inner.size() & 0x7f) | 0x80), was += static_cast<char>(inner.size() >> 7);
  was += inner;
  spec::Experiment job;
  job.base.name = "e";
  job.design = "full";
  job.seed = 5;
  EXPECT_EQ(BinaryReader(as_bytes(was)).event(), (Event{Seconds{0}, JobSubmitted{0, job}}));
}

// As they were written before there were gangs.
TEST(Binary, AStartWithoutFurtherNodesIsOnOne) {
  const std::string start("\x54\x01\x0d\x00\x02\x06\x04\x00\0\0\0\0\0\0\xf0\x3f", 16);
  EXPECT_EQ(BinaryReader(as_bytes(start)).decision(), (Decision{42, Start{0, 1, 3, {2, 0, 1.0}}}));
}

// As they were written before GPUs could be set.
TEST(Binary, GpusWithoutSettingsAreAsTheyAre) {
  const std::string start("\x54\x01\x0e\x00\x02\x06\x05\x00\0\0\0\0\0\0\xf0\x3f\x02", 17);
  EXPECT_EQ(BinaryReader(as_bytes(start)).decision(), (Decision{42, Start{0, 1, 3, {2, 0, 1.0, 1}}}));
}

// As it was written before energy had parts: an epoch with metrics, 3 J by RAPL, a profile and a start-up.
TEST(Binary, EnergyWithoutPartsIsReadAsItWasWritten) {
  const std::string was(
      "\0\0\0\0\0\0\xf0\x3f\x05\x2d\x00\x02\x04\x01\x01l\0\0\0\0\0\0\xe0\x3f\0\0\0\0\0\0\xf8\x3f"
      "\x01\0\0\0\0\0\0\x08\x40\x04rapl\x00\0\0\0\0\0\0\xd0\x3f",
      55);
  const Event event{
      Seconds{1},
      EpochEnded{0, 1, 2, {{"l", 0.5}}, Seconds{1.5}, Energy{Joules{3}, "rapl"}, {}, Seconds{0.25}}};
  EXPECT_EQ(BinaryReader(as_bytes(was)).event(), event);
  std::string now;
  append_binary(now, event);
  EXPECT_EQ(now.substr(10), was.substr(10) + std::string(3, '\0'))
      << "what has no parts is written as ever, and what came since";
}

TEST(Binary, EveryDamageIsNoticedOrHarmless) {
  for (const auto& body : every_event()) {
    std::string bytes;
    append_binary(bytes, Event{Seconds{1}, body});
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      const std::string torn = bytes.substr(0, cut);
      EXPECT_THROW(BinaryReader(as_bytes(torn)).event(), SystemError) << name(body) << " cut at " << cut;
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = bytes;
        flipped[cut] = static_cast<char>(flipped[cut] ^ (1 << bit));
        try {
          BinaryReader(as_bytes(flipped)).event();  // another event, or a clear error; never a crash
        } catch (const SystemError&) {
        }
      }
    }
  }
}

}  // namespace
}  // namespace tandem
