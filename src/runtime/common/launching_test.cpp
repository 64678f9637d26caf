#include "runtime/common/launching.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>

namespace tandem::runtime {
namespace {

TEST(Environment, CarriesWhatTheProtocolPromises) {
  Conversation a;
  a.begin.hyper = {{"learning_rate", 0.05}, {"optimizer", std::string("sgd")}};
  a.begin.epochs = 9;
  a.begin.folder = "/f";
  a.counted_before = 4;
  a.begin.system = {2, kGiB, 0.5};
  a.begin.system.precision = Precision::bf16;
  const auto variables = environment_for(a);
  EXPECT_EQ(variables.at("TANDEM_HYPER_LEARNING_RATE"), "0.05");
  EXPECT_EQ(variables.at("TANDEM_HYPER_OPTIMIZER"), "sgd");
  EXPECT_EQ(variables.at("TANDEM_HYPER"), R"({"learning_rate":0.05,"optimizer":"sgd"})");
  EXPECT_EQ(variables.at("TANDEM_EPOCHS"), "9");
  EXPECT_EQ(variables.at("TANDEM_REPORTED"), "4");
  EXPECT_EQ(variables.at("TANDEM_CORES"), "2");
  EXPECT_EQ(variables.at("TANDEM_MEMORY"), "1073741824");
  EXPECT_EQ(variables.at("TANDEM_SPEED"), "0.5");
  EXPECT_EQ(variables.at("TANDEM_FOLDER"), "/f");
  EXPECT_EQ(variables.at("TANDEM_PRECISION"), "bf16");
}

TEST(Environment, AShellScriptSeesWhatIsInAGroup) {
  Conversation a;
  a.begin.hyper =
      spec::in_groups({{"optimizer.name", std::string("sgd")}, {"optimizer.deep.x", 0.5}, {"a.b", true}},
                      {"optimizer", "optimizer.deep"});
  const auto variables = environment_for(a);
  EXPECT_EQ(variables.at("TANDEM_HYPER"), R"({"a.b":true,"optimizer":{"deep":{"x":0.5},"name":"sgd"}})");
  EXPECT_EQ(variables.at("TANDEM_HYPER_OPTIMIZER"), R"({"deep":{"x":0.5},"name":"sgd"})");
  EXPECT_EQ(variables.at("TANDEM_HYPER_OPTIMIZER_NAME"), "sgd");
  EXPECT_EQ(variables.at("TANDEM_HYPER_OPTIMIZER_DEEP_X"), "0.5");
  EXPECT_EQ(variables.at("TANDEM_HYPER_A_B"), "true");
}

// The environment of the test itself, put back at its end.
struct WithoutVariable {
  explicit WithoutVariable(const char* variable) : name(variable) {
    if (const char* was = ::getenv(name)) value = was;
    ::unsetenv(name);
  }
  ~WithoutVariable() { value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name); }
  WithoutVariable(const WithoutVariable&) = delete;
  const char* name;
  std::optional<std::string> value;
};

TEST(Environment, ThreadsSpinShortlyUnlessTheUserSaysHow) {
  const WithoutVariable policy("OMP_WAIT_POLICY"), spins("GOMP_SPINCOUNT");
  Conversation a;
  EXPECT_EQ(environment_for(a).at("GOMP_SPINCOUNT"), "10000");
  ::setenv("OMP_WAIT_POLICY", "active", 1);
  EXPECT_FALSE(environment_for(a).contains("GOMP_SPINCOUNT"));
  ::unsetenv("OMP_WAIT_POLICY");
  ::setenv("GOMP_SPINCOUNT", "7", 1);
  EXPECT_FALSE(environment_for(a).contains("GOMP_SPINCOUNT")) << "the program inherits the user's";
}

TEST(Command, ABuiltInModelIsTheTrainers) {
  EXPECT_EQ(command_of({"lenet5", "mnist", {}}, "trainer").front(), "trainer");
  EXPECT_EQ(command_of({"", "", {"own", "--x"}}, "trainer"), (std::vector<std::string>{"own", "--x"}));
}

}  // namespace
}  // namespace tandem::runtime
