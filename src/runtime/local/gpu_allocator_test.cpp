#include "runtime/local/gpu_allocator.h"

#include <gtest/gtest.h>

namespace tandem::local {
namespace {

using Taken = std::optional<std::vector<std::size_t>>;

GpuAllocator two() {
  return GpuAllocator({{"GPU-a", "A", 40 * kGiB}, {"GPU-b", "A", 40 * kGiB}});
}
const GpuAllocator::Numbers kBoth{0, 1};
const Resources kWhole{.gpus = 1}, kPart{.gpus = 1, .gpu_memory = 15 * kGiB};

TEST(GpuAllocator, WholeGpusAreNobodyElses) {
  GpuAllocator gpus = two();
  EXPECT_EQ(gpus.take(kWhole, kBoth), (Taken{{0}}));
  EXPECT_EQ(gpus.take(kWhole, kBoth), (Taken{{1}}));
  EXPECT_EQ(gpus.take(kWhole, kBoth), std::nullopt);
  EXPECT_EQ(gpus.take(kPart, kBoth), std::nullopt) << "a part of a GPU that somebody has whole";
  EXPECT_EQ(gpus.free(kBoth), 0);
  gpus.give_back({1}, kWhole);
  EXPECT_EQ(gpus.free(kBoth), 1);
  EXPECT_EQ(gpus.take(kPart, kBoth), (Taken{{1}}));
}

TEST(GpuAllocator, SharersFillOneGpuAsFarAsItsMemoryGoes) {
  GpuAllocator gpus = two();
  EXPECT_EQ(gpus.take(kPart, kBoth), (Taken{{0}}));
  EXPECT_EQ(gpus.take(kPart, kBoth), (Taken{{0}}));
  EXPECT_EQ(gpus.take(kPart, kBoth), (Taken{{1}})) << "three times 15 GiB are more than 40";
  EXPECT_EQ(gpus.take(kWhole, kBoth), std::nullopt) << "both have somebody on them";
  gpus.give_back({1}, kPart);
  EXPECT_EQ(gpus.take(kWhole, kBoth), (Taken{{1}}));
}

TEST(GpuAllocator, SeveralOfOneTaskAreSeveralGpus) {
  GpuAllocator gpus = two();
  const Resources both{.gpus = 2, .gpu_memory = 30 * kGiB};
  EXPECT_EQ(gpus.take({.gpus = 3}, kBoth), std::nullopt);
  EXPECT_EQ(gpus.take(both, kBoth), (Taken{{0, 1}}));
  EXPECT_EQ(gpus.take(both, kBoth), std::nullopt);
  EXPECT_EQ(gpus.names({0, 1}), (std::vector<std::string>{"GPU-a", "GPU-b"}));
  gpus.give_back({0, 1}, both);
  EXPECT_EQ(gpus.free(kBoth), 2);
}

TEST(GpuAllocator, ANodeHasItsOwn) {
  GpuAllocator gpus = two();
  EXPECT_EQ(gpus.take(kWhole, {1}), (Taken{{1}}));
  EXPECT_EQ(gpus.take(kWhole, {1}), std::nullopt) << "the other one is another node's";
  EXPECT_EQ(gpus.free({1}), 0);
  EXPECT_EQ(gpus.free(kBoth), 1);
}

TEST(GpuAllocator, NoneAskedForIsNoneGiven) {
  GpuAllocator gpus({});
  EXPECT_EQ(gpus.take({}, {}), (Taken{std::vector<std::size_t>{}}));
}

}  // namespace
}  // namespace tandem::local
