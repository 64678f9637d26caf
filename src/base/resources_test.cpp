#include "base/resources.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tandem {
namespace {

using nlohmann::json;

TEST(Resources, TextNamesOnlyWhatIsLimited) {
  EXPECT_EQ(text(Resources{}), "1 core");
  EXPECT_EQ(text(Resources{2, 2 * kGiB, 0.8}), "2 cores, 2 GiB, 80 % speed");
}

const Resources kGpus{4, 0, 1.0, 2, 20 * kGiB, Watts{300}, 1.2e9, Precision::bf16};

TEST(Resources, TextSaysHowGpusAreSet) {
  EXPECT_EQ(text(kGpus), "4 cores, 2 GPUs with 20 GiB at 300 W at 1.2 GHz, bf16");
  EXPECT_EQ(text(Resources{.gpus = 1}), "1 core, 1 GPU");
}

TEST(Resources, MemoryIsNoSpeed) {
  Resources roomy = kGpus;
  roomy.memory = 5 * kGiB, roomy.gpu_memory = 0;
  EXPECT_TRUE(same_speed(kGpus, roomy));
  for (auto change :
       {+[](Resources& r) { r.cores = 3; }, +[](Resources& r) { r.speed = 0.5; },
        +[](Resources& r) { r.gpus = 1; }, +[](Resources& r) { r.gpu_power = Watts{200}; },
        +[](Resources& r) { r.gpu_clock = 1e9; }, +[](Resources& r) { r.precision = Precision::fp16; }}) {
    Resources other = kGpus;
    change(other);
    EXPECT_FALSE(same_speed(kGpus, other)) << text(other);
  }
}

TEST(Resources, PrecisionsHaveNames) {
  for (auto precision : {Precision::own, Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16})
    EXPECT_EQ(precision_from(name(precision)), precision);
  EXPECT_EQ(precision_from("fp8"), std::nullopt);
}

TEST(Resources, SurviveJson) {
  const Resources given{3, 5 * kMiB, 0.75};
  EXPECT_EQ(resources_from_json(json::parse(to_json(given).dump())), given);
  EXPECT_EQ(resources_from_json(json::parse(to_json(kGpus).dump())), kGpus);
  EXPECT_EQ(resources_from_json(json::object()), Resources{});
}

TEST(Resources, NonsenseIsASystemError) {
  for (const char* bad :
       {R"([1])", R"(null)", R"({"cores":0})", R"({"cores":1.5})", R"({"cores":"2"})",
        R"({"cores":4294967297})", R"({"memory":-1})", R"({"memory":1e30})",
        R"({"memory":18446744073709551615})", R"({"speed":0})", R"({"speed":1.1})", R"({"speed":"fast"})",
        R"({"gpus":-1})", R"({"gpu_memory":-1})", R"({"gpu_memory":1.5})", R"({"gpu_power":-1})",
        R"({"gpu_power":"300W"})", R"({"precision":"fp8"})", R"({"precision":16})"})
    EXPECT_THROW(resources_from_json(json::parse(bad)), SystemError) << bad;
}

}  // namespace
}  // namespace tandem
