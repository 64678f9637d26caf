#include "app/machine_probes.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/complaint_for_test.h"
#include "platform/process.h"
#include "platform/temporary.h"
#include "runtime/local/leftovers.h"

namespace tandem::app {
namespace {

using platform::Probe;

// A variable of the environment, as it was afterwards.
class WithVariable {
 public:
  WithVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* had = ::getenv(name)) former_ = had;
    ::setenv(name, value.c_str(), 1);
  }
  ~WithVariable() { former_ ? ::setenv(name_, former_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> former_;
};

// Without GPUs, and with no programs in PATH but those that are put there.
class MachineProbes : public testing::Test {
 protected:
  MachineProbes() { std::filesystem::create_directory(folder_.path() / "bin"); }
  std::vector<Probe> look() {
    platform::Topology machine;
    machine.model = "AMD EPYC";
    machine.cpus = {{.id = 0, .core = 0}, {.id = 1, .core = 0}, {.id = 2, .core = 1}};
    return examine_machine(machine, store_, gpus_);
  }
  Probe row(const std::vector<Probe>& all, const std::string& what, const std::string& mechanism) {
    for (const auto& probe : all)
      if (probe.what == what && probe.mechanism == mechanism) return probe;
    ADD_FAILURE() << "no row for " << what << ", " << mechanism;
    return {};
  }
  Probe row(const std::string& what, const std::string& mechanism) { return row(look(), what, mechanism); }
  void sinfo(const std::string& script) {
    const auto file = folder_.path() / "bin/sinfo";
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    ::chmod(file.c_str(), 0700);
  }

  platform::TemporaryFolder folder_{"tandem-probes"};
  WithVariable no_gpus_{"TANDEM_NVML", (folder_.path() / "none.so").string()};
  WithVariable path_{"PATH", (folder_.path() / "bin").string()};
  store::Store store_{folder_.path() / "store"};
  nlohmann::json gpus_;
};

TEST_F(MachineProbes, EveryRowSaysWhatAndWhy) {
  const auto all = look();
  for (const auto& probe : all) {
    EXPECT_FALSE(probe.what.empty() || probe.mechanism.empty());
    EXPECT_FALSE(probe.why.empty()) << probe.what << ", " << probe.mechanism;
  }
  const auto cores = row(all, "cores", "affinity");
  EXPECT_TRUE(mentions(cores.why, "3 CPUs this process may use: 2 cores")) << cores.why;
  EXPECT_TRUE(mentions(cores.why, "(AMD EPYC)")) << cores.why;
  EXPECT_NE(row(all, "memory", "cgroup").available, row(all, "memory", "rlimit").available) << "one is in force";
  EXPECT_FALSE(row(all, "speed", "cpufreq").available && row(all, "speed", "quota").available);
  EXPECT_TRUE(mentions(row(all, "store", "sqlite").why, store_.folder().string()));
  EXPECT_EQ(gpus_, nlohmann::json::array());
}

TEST_F(MachineProbes, SlurmIsThereWhenItAnswers) {
  EXPECT_EQ(row("Slurm", "sinfo").why, "no sinfo in PATH");
  sinfo("echo slurm-wlm 22.05.8; echo more");
  const auto there = row("Slurm", "sinfo");
  EXPECT_TRUE(there.available);
  EXPECT_EQ(there.why, "slurm-wlm 22.05.8");
  sinfo("exit 1");
  const auto silent = row("Slurm", "sinfo");
  EXPECT_FALSE(silent.available);
  EXPECT_TRUE(mentions(silent.why, "finds no cluster"));
}

TEST_F(MachineProbes, WhatAKilledTandemLeftIsEndedAndSaid) {
  EXPECT_EQ(row("leftovers", "none").available, true);
  const auto run = store_.create_run("train", "x", "{}", Seconds{1});
  platform::Child left;
  left.pid = ::fork();
  if (left.pid == 0) {
    ::setsid();
    for (::alarm(600);;) ::pause();
  }
  left.started = platform::start_time_of(left.pid);
  local::remember_process(store_.run_folder(run.id), "task", "", 0, {}, left);
  const auto found = row("leftovers", "ended");
  EXPECT_TRUE(found.available) << "it could be ended";
  EXPECT_TRUE(mentions(found.why, "run " + run.id + " left: 1 process")) << found.why;
  EXPECT_EQ(platform::start_time_of(left.pid), 0);
  ::kill(left.pid, SIGKILL);
  ::waitpid(left.pid, nullptr, 0);
}

}  // namespace
}  // namespace tandem::app
