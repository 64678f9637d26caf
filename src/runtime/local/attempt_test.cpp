#include "runtime/local/attempt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <stdlib.h>

#include <fstream>
#include <optional>

#include "platform/temporary.h"

namespace tandem::local {
namespace {

TEST(NumberReport, ReportsComeOneAfterTheOther) {
  Attempted a;
  a.last_epoch = 3;
  EXPECT_EQ(number_report(a, {std::nullopt, {}}).epoch, 4);
  EXPECT_EQ(number_report(a, {4, {}}).epoch, 4);
  EXPECT_FALSE(number_report(a, {3, {}}).error.empty()) << "twice";
  EXPECT_FALSE(number_report(a, {6, {}}).error.empty()) << "a gap";
}

TEST(NumberReport, AScriptWithItsOwnStateMayGoOnWhereTheLastAttemptEnded) {
  Attempted a;
  a.counted_before = 5;
  EXPECT_EQ(number_report(a, {6, {}}).epoch, 6);
  EXPECT_EQ(number_report(a, {1, {}}).epoch, 1) << "or start over";
  a.first_report = false;
  EXPECT_FALSE(number_report(a, {6, {}}).error.empty()) << "but only at first";
}

TEST(Judge, NamesEveryKindOfEnd) {
  Attempted a;
  a.granted.memory = kGiB;
  EXPECT_EQ(judge(a, CLD_EXITED, 0, 0).failure, Failure::silent);
  EXPECT_EQ(judge(a, CLD_EXITED, 3, 0).failure, Failure::crashed);
  EXPECT_EQ(judge(a, CLD_KILLED, SIGSEGV, 0).failure, Failure::killed);
  EXPECT_EQ(judge(a, CLD_KILLED, SIGKILL, 1).failure, Failure::out_of_memory);
  EXPECT_NE(judge(a, CLD_KILLED, SIGKILL, 1).detail.find("1 GiB"), std::string::npos);
  a.last_epoch = 1;
  EXPECT_TRUE(judge(a, CLD_EXITED, 0, 0).well);
  a.told_to_stop = true;
  EXPECT_TRUE(judge(a, CLD_KILLED, SIGTERM, 0).well) << "it was asked to";
  a.verdict.emplace(Failure::stalled, "no report");
  EXPECT_EQ(judge(a, CLD_KILLED, SIGKILL, 0).failure, Failure::stalled) << "our own verdict comes first";
}

TEST(Environment, CarriesWhatTheProtocolPromises) {
  Attempted a;
  a.begin.hyper = {{"learning_rate", 0.05}, {"optimizer", std::string("sgd")}};
  a.begin.epochs = 9;
  a.begin.folder = "/f";
  a.counted_before = 4;
  a.granted = {2, kGiB, 0.5};
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
  Attempted a;
  EXPECT_EQ(environment_for(a).at("GOMP_SPINCOUNT"), "10000");
  ::setenv("OMP_WAIT_POLICY", "active", 1);
  EXPECT_FALSE(environment_for(a).contains("GOMP_SPINCOUNT"));
  ::unsetenv("OMP_WAIT_POLICY");
  ::setenv("GOMP_SPINCOUNT", "7", 1);
  EXPECT_FALSE(environment_for(a).contains("GOMP_SPINCOUNT")) << "the program inherits the user's";
}

TEST(TailOf, GivesTheLastLinesOfThisAttemptMadePrintable) {
  const platform::TemporaryFolder folder;
  const std::string file = (folder.path() / "output").string();
  std::ofstream(file) << "earlier attempt\n"
                      << "one\ntwo\x01\n";
  EXPECT_EQ(tail_of(file, 16), "one\ntwo?");
  EXPECT_EQ(tail_of(file, 1000), "");
  EXPECT_EQ(tail_of("/no/such/file", 0), "");
  std::ofstream many(file);
  for (int i = 0; i < 1000; ++i) many << "line " << i << "\n";
  many.close();
  const auto tail = tail_of(file, 0);
  EXPECT_TRUE(tail.ends_with("line 999"));
  EXPECT_EQ(std::count(tail.begin(), tail.end(), '\n'), 11);
}

}  // namespace
}  // namespace tandem::local
