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

TEST(Resources, SurviveJson) {
  const Resources given{3, 5 * kMiB, 0.75};
  EXPECT_EQ(resources_from_json(json::parse(to_json(given).dump())), given);
  EXPECT_EQ(resources_from_json(json::object()), Resources{});
}

TEST(Resources, NonsenseIsASystemError) {
  for (const char* bad :
       {R"([1])", R"(null)", R"({"cores":0})", R"({"cores":1.5})", R"({"cores":"2"})",
        R"({"cores":4294967297})", R"({"memory":-1})", R"({"memory":1e30})",
        R"({"memory":18446744073709551615})", R"({"speed":0})", R"({"speed":1.1})", R"({"speed":"fast"})"})
    EXPECT_THROW(resources_from_json(json::parse(bad)), SystemError) << bad;
}

}  // namespace
}  // namespace tandem
