#include "data/models.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace tandem::data {
namespace {

std::string complaint(const std::string& name, const Values& given) {
  try {
    with_defaults(model(name), given);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Models, EveryDefaultIsAllowedByItsOwnRule) {
  for (const ModelEntry& entry : models()) {
    Values defaults = with_defaults(entry, {});
    EXPECT_EQ(defaults.size(), entry.hyper.size()) << entry.name;
    EXPECT_EQ(with_defaults(entry, defaults), defaults) << entry.name;
  }
}

TEST(Models, EveryEntryIsDescribedAndUnique) {
  std::set<std::string> seen;
  for (const ModelEntry& entry : models()) {
    EXPECT_TRUE(seen.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.description.empty()) << entry.name;
    EXPECT_TRUE(entry.input == "image" || entry.input == "text" || entry.input == "table") << entry.name;
    for (const HyperRule& rule : entry.hyper) EXPECT_FALSE(rule.description.empty()) << rule.name;
  }
}

TEST(Models, UnknownModelNamesTheNearest) {
  try {
    model("lenet");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("lenet5"), std::string::npos) << error.what();
  }
}

TEST(Models, AWholeNumberIsARealButNotTheOtherWayRound) {
  const Values taken =
      with_defaults(model("lenet5"), {{"learning_rate", std::int64_t{1}}, {"batch_size", 32.0}});
  EXPECT_EQ(taken.at("learning_rate"), Value(1.0));
  EXPECT_EQ(taken.at("batch_size"), Value(std::int64_t{32}));
  EXPECT_NE(complaint("lenet5", {{"batch_size", 32.5}}), "");
}

TEST(Models, EveryIssueIsReportedAtOnce) {
  const std::string said = complaint(
      "lenet5", {{"batch_size", std::int64_t{0}}, {"optimizer", std::string("adm")}, {"dropuot", 0.5}});
  EXPECT_NE(said.find("batch_size"), std::string::npos) << said;
  EXPECT_NE(said.find("'adam'"), std::string::npos) << said;
  EXPECT_NE(said.find("'dropout'"), std::string::npos) << said;
}

}  // namespace
}  // namespace tandem::data
