#include "tune/similarity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "base/random.h"
#include "tune/fingerprint.h"

namespace tandem::tune {
namespace {

// Rates that a two-core virtual machine without hardware counters saw, at one core and batch 64.
const Metrics kLenet{{"alignment-faults", 0},
                     {"context-switches", 45},
                     {"cpu-migrations", 0},
                     {"involuntary-switches", 33},
                     {"major-faults", 0},
                     {"minor-faults", 3400},
                     {"pressure-cpu", 0.5},
                     {"read-bytes", 0},
                     {"read-calls", 0},
                     {"resident-bytes", 2.5e8},
                     {"system-time", 0.01},
                     {"task-clock", 8.8e8},
                     {"threads", 2},
                     {"user-time", 0.87},
                     {"voluntary-switches", 12},
                     {"write-calls", 2.4},
                     {"written-bytes", 5.9e5},
                     {"written-chars", 5.8e5}};

Metrics changed(Metrics rates, const Metrics& to) {
  for (const auto& [name, value] : to) rates[name] = value;
  return rates;
}

const Metrics kTextcnn = changed(kLenet, {{"minor-faults", 12000},
                                          {"resident-bytes", 3.07e8},
                                          {"voluntary-switches", 31},
                                          {"write-calls", 5.2},
                                          {"written-chars", 6.1e6}});
const Metrics kTinyNetwork = changed(kLenet, {{"context-switches", 690},
                                              {"voluntary-switches", 690},
                                              {"resident-bytes", 1.75e8},
                                              {"task-clock", 1.4e8},
                                              {"write-calls", 125},
                                              {"written-chars", 5.5e5}});

// How much each varies between epochs of one workload class.
double noise_of(const std::string& name) {
  if (name == "resident-bytes" || name == "threads") return 0.003;
  if (name.ends_with("-faults")) return 1.5;
  if (name.ends_with("-switches")) return 0.3;
  return 0.05;
}

// One epoch: every counter with its noise, and a neighbour that takes a share of the CPU.
Metrics epoch(const Metrics& rates, Random& random) {
  const double share = random.uniform(0.7, 1);
  Metrics out;
  for (const auto& [name, rate] : rates) {
    const bool level = name == "resident-bytes" || name == "threads" || name.starts_with("pressure-");
    out[name] = rate * std::exp(noise_of(name) * random.normal()) * (level ? 1 : share);
  }
  return out;
}

KnownWorkload empty_work() {
  return {"two cores", 64, {1, 0, 1}, {}, {}, {}};
}

// As the tuner records it: means and deviations over some epochs.
KnownWorkload workload(const Metrics& rates, std::uint64_t seed, int epochs = 1) {
  KnownWorkload out = empty_work();
  Random random(seed);
  std::vector<Metrics> seen;
  for (int i = 0; i < epochs; ++i) seen.push_back(epoch(rates, random));
  for (const auto& [name, rate] : rates) {
    double sum = 0, squares = 0;
    for (const Metrics& one : seen) sum += one.at(name), squares += one.at(name) * one.at(name);
    const double mean = sum / epochs;
    out.rates[name] = mean;
    if (epochs > 1)
      out.spread[name] = std::sqrt(std::max(0.0, squares / epochs - mean * mean) * epochs / (epochs - 1));
  }
  out.measured.push_back({out.reference, 1.0, std::nullopt, epochs});
  return out;
}

KnownWorkload exactly(const Metrics& rates) {
  KnownWorkload out = empty_work();
  out.rates = rates;
  return out;
}

class EverySimilarity : public testing::TestWithParam<const char*> {
 protected:
  std::optional<Match> find(const std::vector<KnownWorkload>& known, const KnownWorkload& query) const {
    return make_similarity(GetParam(), known)->find(query);
  }
  bool alike(const std::vector<KnownWorkload>& known, const KnownWorkload& query) const {
    const auto match = find(known, query);
    return match && match->alike();
  }
};
INSTANTIATE_TEST_SUITE_P(Similarity, EverySimilarity, testing::Values("nearest", "kmeans"));

TEST_P(EverySimilarity, TheSameWorkMatchesThroughItsNoise) {
  const std::vector<KnownWorkload> known{workload(kTextcnn, 1, 6), workload(kLenet, 2, 6),
                                         workload(kTinyNetwork, 3, 6)};
  for (std::uint64_t seed = 10; seed < 60; ++seed) {
    const auto match = find(known, workload(kLenet, seed));
    ASSERT_TRUE(match);
    EXPECT_EQ(match->known, 1U);
    EXPECT_TRUE(match->alike()) << "distance " << match->distance << ", seed " << seed;
    EXPECT_GT(match->confidence(), 0.5);
  }
}

TEST_P(EverySimilarity, DifferentWorkDoesNotMatch) {
  const std::vector<KnownWorkload> known{workload(kTextcnn, 1, 6), workload(kTinyNetwork, 3, 6)};
  for (std::uint64_t seed = 10; seed < 60; ++seed) {
    const auto match = find(known, workload(kLenet, seed));
    ASSERT_TRUE(match);
    EXPECT_FALSE(match->alike()) << "distance " << match->distance << ", seed " << seed;
    EXPECT_LT(match->confidence(), 0.5);
  }
}

TEST_P(EverySimilarity, SingleEpochsCanBeComparedWithoutAnySpread) {
  for (std::uint64_t seed = 10; seed < 40; ++seed) {
    const std::vector<KnownWorkload> known{workload(kTextcnn, seed + 100), workload(kLenet, seed + 200)};
    EXPECT_TRUE(alike(known, workload(kLenet, seed))) << seed;
    EXPECT_FALSE(alike({known[0]}, workload(kLenet, seed))) << seed;
  }
}

TEST_P(EverySimilarity, ABusyNeighbourDoesNotMakeItAnotherWork) {
  Metrics slowed = kLenet;
  for (auto& [name, rate] : slowed)
    if (name != "resident-bytes" && name != "threads") rate *= 0.65;
  slowed["involuntary-switches"] = 400;
  EXPECT_TRUE(alike({exactly(kLenet)}, exactly(slowed)));
}

TEST_P(EverySimilarity, NoisyCountersDoNotHideARealDifference) {
  Metrics one{{"task-clock", 9e8}, {"instructions", 2e9}}, other = one;
  for (int i = 0; i < 12; ++i) one["wild-" + std::to_string(i)] = other["wild-" + std::to_string(i)] = 1e6;
  other["instructions"] = 3e9;
  KnownWorkload known = exactly(one);
  for (const auto& [name, rate] : known.rates) known.spread[name] = 0.01 * rate;
  for (int i = 0; i < 12; ++i) known.spread["wild-" + std::to_string(i)] = 1.5e6;
  EXPECT_TRUE(alike({known}, exactly(one)));
  EXPECT_FALSE(alike({known}, exactly(other)));
  // And what is noisy does not make a difference where there is none.
  Metrics lucky = one;
  for (int i = 0; i < 12; ++i) lucky["wild-" + std::to_string(i)] = 4e6;
  EXPECT_TRUE(alike({known}, exactly(lucky)));
}

// PipeTune's inertia is a sum over all points: with history everything comes within it.
TEST_P(EverySimilarity, ALongHistoryDoesNotMakeEverythingMatch) {
  std::vector<KnownWorkload> known;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    known.push_back(workload(kTextcnn, seed, 3));
    known.push_back(workload(kTinyNetwork, seed + 1000, 3));
  }
  const auto similarity = make_similarity(GetParam(), known);
  for (std::uint64_t seed = 2000; seed < 2020; ++seed) {
    EXPECT_FALSE(similarity->find(workload(kLenet, seed))->alike());
    EXPECT_TRUE(similarity->find(workload(kTextcnn, seed))->alike());
  }
}

TEST_P(EverySimilarity, ManyDifferentWorksAreNoReasonToTakeInAnother) {
  const auto any_work = [](Random& random, std::uint64_t seed, int epochs) {
    Metrics rates = kLenet;
    for (const char* name : {"resident-bytes", "written-chars", "voluntary-switches", "write-calls"})
      rates[name] *= std::exp(random.uniform(-2, 4));
    return workload(rates, seed, epochs);
  };
  Random random(5);
  std::vector<KnownWorkload> known;
  for (std::uint64_t i = 0; i < 200; ++i) known.push_back(any_work(random, 3000 + i, 3));
  const auto similarity = make_similarity(GetParam(), known);
  int matched = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto match = similarity->find(any_work(random, 4000 + i, 1));
    matched += match->alike();
    EXPECT_LE(match->limit, 3);  // however long the history
  }
  EXPECT_LE(matched, 50);  // two hundred works fill a part of the space, not all of it
}

TEST_P(EverySimilarity, AnotherBatchMachineOrReferenceIsNeverCompared) {
  const std::vector<KnownWorkload> known{exactly(kLenet)};
  for (const auto& change : std::vector<std::function<void(KnownWorkload&)>>{
           [](KnownWorkload& workload) { workload.batch = 128; },
           [](KnownWorkload& workload) { workload.machine = "four cores"; },
           [](KnownWorkload& workload) { workload.reference.cores = 2; },
           [](KnownWorkload& workload) { workload.reference.speed = 0.5; }}) {
    KnownWorkload query = exactly(kLenet);
    ASSERT_TRUE(alike(known, query));
    change(query);
    EXPECT_FALSE(find(known, query));
  }
}

TEST_P(EverySimilarity, OnlyWhatBothSidesMeasuredIsCompared) {
  KnownWorkload with_hardware = exactly(changed(kLenet, {{"instructions", 2e9}, {"cache-misses", 1e6}}));
  EXPECT_TRUE(alike({with_hardware}, exactly(kLenet)));
  EXPECT_TRUE(alike({exactly(kLenet)}, with_hardware));
  EXPECT_FALSE(alike({with_hardware}, exactly(kTextcnn)));
  // Nothing in common, or next to nothing: no answer rather than a lucky one.
  EXPECT_FALSE(find({exactly({{"instructions", 2e9}})}, exactly({{"cache-misses", 1e6}})));
  EXPECT_FALSE(find({exactly({{"instructions", 2e9}, {"a", 1e6}, {"b", 1e6}})},
                    exactly({{"instructions", 2e9}, {"c", 1e6}, {"d", 1e6}})));
}

TEST_P(EverySimilarity, CpuTimeOnOneSideOnlyIsNoObstacle) {
  Metrics without = kLenet;
  for (const char* name : {"task-clock", "user-time", "system-time"}) without.erase(name);
  EXPECT_TRUE(alike({exactly(without)}, exactly(kLenet)));
  EXPECT_TRUE(alike({exactly(kLenet)}, exactly(without)));
}

TEST_P(EverySimilarity, ConstantFeaturesNeitherBreakNorBlur) {
  // Counters that are 0 everywhere say nothing, however many there are.
  Metrics lenet = kLenet, textcnn = kTextcnn;
  for (int i = 0; i < 100; ++i)
    lenet["never-" + std::to_string(i)] = textcnn["never-" + std::to_string(i)] = 0;
  EXPECT_FALSE(alike({workload(lenet, 1, 5)}, workload(textcnn, 2)));
  EXPECT_TRUE(alike({workload(lenet, 1, 5)}, workload(lenet, 2)));
  EXPECT_FALSE(find({exactly({{"never", 0}})}, exactly({{"never", 0}})));
  // The same to the last bit: a distance of 0, not a division by it.
  KnownWorkload same = exactly(kLenet);
  for (const auto& [name, rate] : same.rates) same.spread[name] = 0;
  EXPECT_EQ(find({same, same, same}, same)->distance, 0);
  EXPECT_EQ(find({same, same, same}, same)->known, 0U);
  EXPECT_EQ(find({same, same, same}, same)->confidence(), 1);
}

TEST_P(EverySimilarity, TheMachinesStateIsNotTheWorks) {
  const Metrics elsewhere = changed(kLenet, {{"pressure-cpu", 0.001},
                                             {"pressure-io", 0.9},
                                             {"major-faults", 110},
                                             {"read-bytes", 1.4e8},
                                             {"cpu-migrations", 50},
                                             {"involuntary-switches", 900},
                                             {"context-switches", 912}});
  const auto match = find({exactly(kLenet)}, exactly(elsewhere));
  ASSERT_TRUE(match);
  EXPECT_EQ(match->distance, 0);
}

TEST_P(EverySimilarity, NothingKnownMatchesNothing) {
  EXPECT_FALSE(find({}, exactly(kLenet)));
  EXPECT_FALSE(find({exactly({})}, exactly(kLenet)));
  EXPECT_FALSE(find({exactly(kLenet)}, exactly({})));
}

TEST_P(EverySimilarity, NumbersThatAreNoneAreLeftOut) {
  const Metrics broken = changed(kLenet, {{"written-chars", std::numeric_limits<double>::quiet_NaN()},
                                          {"write-calls", std::numeric_limits<double>::infinity()},
                                          {"voluntary-switches", -5}});
  const auto match = find({exactly(kLenet)}, exactly(broken));
  ASSERT_TRUE(match);
  EXPECT_EQ(match->distance, 0);
  KnownWorkload odd = exactly(kLenet);
  for (const auto& [name, rate] : odd.rates) odd.spread[name] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(alike({odd}, exactly(kLenet)));
}

// On the CPU both only wait for their GPU.
const Metrics kComputeBound{
    {"gpu-busy", 0.97}, {"gpu-memory-busy", 0.3}, {"gpu-memory-bytes", 2.1e10}, {"gpu-power-share", 0.98}};
const Metrics kMemoryBound{
    {"gpu-busy", 0.98}, {"gpu-memory-busy", 0.85}, {"gpu-memory-bytes", 1.9e10}, {"gpu-power-share", 0.62}};

// A task with a GPU of its own: its CPU rates as any epoch's, those of the GPU with a noise of their own.
KnownWorkload on_gpu(const Metrics& gpu, std::uint64_t seed, int epochs = 1) {
  KnownWorkload out = workload(kLenet, seed, epochs);
  out.reference.gpus = out.measured.front().system.gpus = 1;
  Random random(seed + 7);
  for (const auto& [name, rate] : gpu) {
    out.rates[name] = rate * std::exp(0.03 * random.normal());
    if (epochs > 1) out.spread[name] = 0.03 * rate;
  }
  return out;
}

TEST_P(EverySimilarity, GpusTellApartWhatTheCpuCannot) {
  const std::vector<KnownWorkload> compute{on_gpu(kComputeBound, 1, 6)}, memory{on_gpu(kMemoryBound, 2, 6)};
  const std::vector<KnownWorkload> both{compute[0], memory[0]};
  for (std::uint64_t seed = 10; seed < 60; ++seed) {
    EXPECT_FALSE(alike(compute, on_gpu(kMemoryBound, seed))) << seed;
    EXPECT_FALSE(alike(memory, on_gpu(kComputeBound, seed))) << seed;
    const auto match = find(both, on_gpu(kMemoryBound, seed));
    ASSERT_TRUE(match);
    EXPECT_TRUE(match->alike()) << match->distance << ", seed " << seed;
    EXPECT_EQ(match->known, 1U);
  }
}

// An epoch of a second may begin in the middle of what NVML calls the last second.
TEST_P(EverySimilarity, ShortEpochsAreForgivenWhatNvmlsClockDoesToThem) {
  const Metrics cut =
      changed(kComputeBound, {{"gpu-busy", 0.65}, {"gpu-memory-busy", 0.2}, {"gpu-power-share", 0.86}});
  KnownWorkload whole = on_gpu(kComputeBound, 1), cut_short = on_gpu(cut, 2);
  EXPECT_TRUE(alike({whole}, cut_short));
  for (KnownWorkload* workload : {&whole, &cut_short}) workload->measured.front().seconds = 30;
  EXPECT_FALSE(alike({whole}, cut_short)) << "in half a minute it would not have been cut";
}

TEST_P(EverySimilarity, AlikeOnTheGpuIsNotEnough) {
  KnownWorkload other = on_gpu(kComputeBound, 3);
  for (const auto& [name, rate] : kTinyNetwork) other.rates[name] = rate;
  EXPECT_FALSE(alike({on_gpu(kComputeBound, 1, 6)}, other));
}

TEST_P(EverySimilarity, WhatOneSideKnowsOfItsGpusTheOtherMustKnowToo) {
  const KnownWorkload knows = on_gpu(kComputeBound, 1), does_not = on_gpu({}, 2);
  EXPECT_FALSE(find({does_not}, knows)) << "a record of before GPUs were looked at";
  EXPECT_FALSE(find({knows}, does_not));
  EXPECT_TRUE(alike({does_not}, on_gpu({}, 3))) << "where nothing tells, the CPU decides";
  KnownWorkload broken = knows;
  for (const auto& [name, rate] : kComputeBound) broken.rates[name] = std::nan("");
  EXPECT_FALSE(find({knows}, broken));
}

TEST_P(EverySimilarity, SharedGpusAndNoGpusSayNothing) {
  for (const auto& as : std::vector<std::function<void(KnownWorkload&)>>{
           [](KnownWorkload& workload) { workload.reference.gpu_memory = 1 << 30; },
           [](KnownWorkload& workload) { workload.reference.gpus = 0; }}) {
    KnownWorkload one = on_gpu(kComputeBound, 1), other = on_gpu(kMemoryBound, 2);
    as(one), as(other);
    EXPECT_TRUE(alike({one}, other));
  }
}

TEST_P(EverySimilarity, AnIdleGpuIsAlikeAnIdleGpu) {
  const Metrics idle{{"gpu-busy", 0}, {"gpu-memory-busy", 0}};
  EXPECT_TRUE(alike({on_gpu(idle, 1)}, on_gpu(idle, 2)));
  EXPECT_FALSE(alike({on_gpu(idle, 1)}, on_gpu(kComputeBound, 2)));
}

TEST(Similarity, EqualOnesGoToTheLowerIndex) {
  const std::vector<KnownWorkload> known{exactly(kTextcnn), exactly(kLenet), exactly(kLenet)};
  EXPECT_EQ(make_similarity("nearest", known)->find(exactly(kLenet))->known, 1U);
  EXPECT_EQ(make_similarity("kmeans", known)->find(exactly(kLenet))->known, 1U);
}

TEST(Similarity, EveryNameOfTheTableCanBeMadeAndNoOther) {
  ASSERT_GE(similarities().size(), 2U);
  for (const auto& entry : similarities()) EXPECT_TRUE(make_similarity(entry.name, {})) << entry.name;
  try {
    make_similarity("kmean", {});
    FAIL() << "no exception";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'kmeans'?"), std::string::npos) << error.what();
  }
}

TEST(Match, ConfidenceIsHalfAtTheLimit) {
  EXPECT_EQ((Match{0, 0, 2}.confidence()), 1);
  EXPECT_EQ((Match{0, 2, 2}.confidence()), 0.5);
  EXPECT_LT((Match{0, 20, 2}.confidence()), 0.01);
  EXPECT_TRUE((Match{0, 2, 2}.alike()));
  EXPECT_FALSE((Match{0, 2.001, 2}.alike()));
}

TEST(Features, AreWhatAllWorksShareInUnitsOfTheSpread) {
  std::vector<KnownWorkload> workloads{workload(kLenet, 1, 5), workload(kLenet, 2, 5),
                                       workload(kTextcnn, 3, 5)};
  workloads[0].rates["instructions"] = 1e9;
  const Features found = features(workloads);
  ASSERT_EQ(found.rows.size(), 3U);
  EXPECT_EQ(std::count(found.names.begin(), found.names.end(), "instructions"), 0);
  EXPECT_EQ(std::count(found.names.begin(), found.names.end(), "pressure-cpu"), 0);
  EXPECT_EQ(std::count(found.names.begin(), found.names.end(), "alignment-faults"), 0);
  EXPECT_EQ(std::count(found.names.begin(), found.names.end(), "resident-bytes"), 1);
  const auto apart = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t i = 0; i < found.names.size(); ++i) {
      EXPECT_TRUE(std::isfinite(found.rows[a][i]));
      sum += std::pow(found.rows[a][i] - found.rows[b][i], 2);
    }
    return std::sqrt(sum);
  };
  EXPECT_GT(apart(0, 2), 4 * apart(0, 1));
  EXPECT_TRUE(features({}).rows.empty());
  EXPECT_TRUE(features(std::vector{exactly({}), exactly(kLenet)}).names.empty());
}

TEST(Fingerprint, CountsAreTakenPerCpuSecondAndLevelsAsTheyAre) {
  const KnownWorkload whole = exactly({{"task-clock", 1e9}, {"instructions", 4e9}, {"resident-bytes", 1e8}});
  const KnownWorkload half = exactly({{"task-clock", 5e8}, {"instructions", 2e9}, {"resident-bytes", 1e8}});
  const Fingerprint a = fingerprint(whole, true), b = fingerprint(half, true);
  EXPECT_NEAR(a.at("instructions").value, b.at("instructions").value, 1e-6);
  EXPECT_EQ(a.at("resident-bytes").value, b.at("resident-bytes").value);
  EXPECT_GT(a.at("cpu-time").value, b.at("cpu-time").value + 0.5);
  EXPECT_GT(fingerprint(whole, false).at("instructions").value,
            fingerprint(half, false).at("instructions").value + 0.5);
}

TEST(Fingerprint, ALargerNetworkIsTakenForAnotherWorkWhereEpochsWereTimed) {
  KnownWorkload one = exactly(kTextcnn), larger = exactly(kTextcnn);  // the same rates
  one.measured = {{one.reference, 0.8, std::nullopt, 3}, {{2, 0, 1}, 0.5, std::nullopt, 1}};
  EXPECT_TRUE(make_similarity("nearest", std::vector{one})->find(larger)->alike());  // nobody timed it
  larger.measured = {{larger.reference, 4.0, std::nullopt, 3}};
  EXPECT_FALSE(make_similarity("nearest", std::vector{one})->find(larger)->alike());
  larger.measured.front().seconds = 1.0;
  EXPECT_TRUE(make_similarity("nearest", std::vector{one})->find(larger)->alike());
}

TEST(Fingerprint, CpuTimeComesFromTheKernelsTicksWherePerfIsAbsent) {
  EXPECT_TRUE(has_cpu_time(exactly({{"user-time", 0.5}, {"system-time", 0.1}})));
  EXPECT_FALSE(has_cpu_time(exactly({{"user-time", 0.5}})));
  EXPECT_FALSE(has_cpu_time(exactly({{"task-clock", 0}})));
}

TEST(Fingerprint, NoiseThatComesFromANeighbourIsTakenOutOfTheSpread) {
  KnownWorkload shaken = exactly({{"task-clock", 8e8}, {"instructions", 3e9}});
  shaken.spread = {{"task-clock", 1.6e8}, {"instructions", 6e8}};  // both by a fifth
  EXPECT_LT(fingerprint(shaken, true).at("instructions").spread, 0.05);
  EXPECT_GT(fingerprint(shaken, false).at("instructions").spread, 0.15);
}

}  // namespace
}  // namespace tandem::tune
