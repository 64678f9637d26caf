#include "measure/energy_choice.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/error.h"
#include "measure/fake_counters.h"
#include "measure/fake_proc.h"
#include "measure/probe.h"
#include "platform/fake_http_server.h"
#include "platform/fake_nvml.h"

namespace tandem::measure {
namespace {

using platform::FakeHttpServer;
using platform::FakeNvml;
using platform::FakeTree;

struct EnergyChoice : testing::Test {
  FakeProc proc;
  FakeTree sys;
  FakeNvml gpu;
  std::shared_ptr<FakeCounters> kernel = std::make_shared<FakeCounters>();
  Surroundings around;
  spec::EnergySpec spec;

  void SetUp() override {
    proc.busy(1);
    around.cores = 2;
    around.proc = proc.root();
    around.sys = sys.root();
    around.counters = kernel;
    around.nvml = [](const char*) -> void* { return nullptr; };
  }
  void add_rapl() {
    sys.write("class/powercap/intel-rapl:0/name", "package-0");
    sys.write("class/powercap/intel-rapl:0/energy_uj", "5");
    sys.write("class/powercap/intel-rapl:0/max_energy_range_uj", "1000000");
  }
  std::string chosen() {
    const auto sources = choose_energy(spec, around);
    return sources.machine->source() + (sources.gpus ? ", GPUs " + sources.gpus->source() : "");
  }
  std::string refusal() {
    try {
      return "no refusal, but " + chosen();
    } catch (const UserError& error) {
      return error.what();
    }
  }
  platform::Probe find(const std::string& what, const std::string& mechanism) {
    for (const auto& found : probe({spec, around}))
      if (found.what == what && found.mechanism == mechanism) return found;
    ADD_FAILURE() << "no probe of " << what << " " << mechanism;
    return {};
  }
};

TEST_F(EnergyChoice, AutoTakesTheBestThereIs) {
  EXPECT_EQ(chosen(), "model (idle 8 W, busy 30 W)");
  around.nvml = gpu.lookup();
  EXPECT_EQ(chosen(), "model (idle 8 W, busy 30 W), GPUs nvml");
  add_rapl();
  EXPECT_EQ(chosen(), "rapl, GPUs nvml");
  gpu.failing = {"nvmlDeviceGetTotalEnergyConsumption"};
  EXPECT_EQ(chosen(), "rapl, GPUs nvml (power samples)");
  gpu.failing.insert("nvmlDeviceGetPowerUsage");
  EXPECT_EQ(chosen(), "rapl");
  FakeHttpServer meter(FakeHttpServer::ok("80"));
  spec.url = meter.url();
  EXPECT_EQ(chosen(), "pdu");
}

TEST_F(EnergyChoice, NoneIsNone) {
  spec.source = "none";
  EXPECT_EQ(choose_energy(spec, around).machine, nullptr);
}

TEST_F(EnergyChoice, ByName) {
  add_rapl();
  around.nvml = gpu.lookup();
  spec.source = "rapl";
  EXPECT_EQ(chosen(), "rapl, GPUs nvml") << "a GPU draws beside the CPU";
  spec.source = "nvml";
  EXPECT_EQ(chosen(), "nvml, GPUs nvml");
  spec.source = "model";
  spec.idle = Watts{20};
  spec.busy = Watts{95};
  EXPECT_EQ(chosen(), "model (idle 20 W, busy 95 W), GPUs nvml");
}

TEST_F(EnergyChoice, WhatWasAskedForAndIsNotThereIsSaid) {
  spec.source = "rapl";
  EXPECT_NE(refusal().find("virtual machine"), std::string::npos) << refusal();
  spec.source = "nvml";
  EXPECT_NE(refusal().find("nvmlInit_v2"), std::string::npos) << refusal();
  spec.source = "pdu";
  EXPECT_NE(refusal().find("energy.url"), std::string::npos) << refusal();
  FakeHttpServer broken(FakeHttpServer::ok("sorry"));
  spec.url = broken.url();
  EXPECT_NE(refusal().find("sorry"), std::string::npos) << refusal();
  spec.source = "modle";
  EXPECT_NE(refusal().find("did you mean 'model'"), std::string::npos) << refusal();
  spec.source = "model";
  spec.idle = Watts{100};
  EXPECT_NE(refusal().find("less than idle"), std::string::npos) << refusal();
}

TEST_F(EnergyChoice, DoctorSaysWhatIsInUseAndWhyOthersAreNot) {
  EXPECT_FALSE(find("energy", "rapl").available);
  EXPECT_NE(find("energy", "rapl").why.find("virtual machine"), std::string::npos);
  EXPECT_FALSE(find("energy", "pdu").available);
  EXPECT_NE(find("energy", "model").why.find("in use"), std::string::npos);
  add_rapl();
  EXPECT_EQ(find("energy", "rapl").why, "package-0; in use");
  EXPECT_NE(find("energy", "model").why.find("not used: rapl measures"), std::string::npos);
  around.nvml = gpu.lookup();
  EXPECT_NE(find("energy", "nvml").why.find("2 GPU(s), nvml; in use for tasks that are given GPUs"),
            std::string::npos);
  EXPECT_EQ(find("GPUs", "nvml").why, "driver 555.42: Fake GPU, Fake GPU");
  FakeHttpServer meter(FakeHttpServer::ok("80"));
  spec.url = meter.url();
  EXPECT_EQ(find("energy", "pdu").why, "reads 80 W; in use");
  EXPECT_NE(find("energy", "rapl").why.find("not used"), std::string::npos);
  spec.source = "model";
  EXPECT_NE(find("energy", "pdu").why.find("model was chosen"), std::string::npos);
}

TEST_F(EnergyChoice, DoctorCountsTheCounters) {
  EXPECT_TRUE(find("counters", "hardware events").available);
  for (const auto& code : platform::known_events("/nonexistent")) {
    if (!code.software) kernel->refuse[code.name] = ENOENT;
    if (code.software) kernel->refuse_kernel[code.name] = EACCES;
  }
  proc.write("sys/kernel/perf_event_paranoid", "2\n");
  const auto hardware = find("counters", "hardware events"), software = find("counters", "software events");
  EXPECT_FALSE(hardware.available);
  EXPECT_NE(hardware.why.find("virtual machine"), std::string::npos) << hardware.why;
  EXPECT_TRUE(software.available);
  EXPECT_NE(software.why.find("perf_event_paranoid=2"), std::string::npos) << software.why;
  EXPECT_NE(software.why.find("from /proc instead: context-switches"), std::string::npos) << software.why;
  EXPECT_TRUE(find("counters", "/proc").available);
  EXPECT_FALSE(find("counters", "pressure").available);
}

}  // namespace
}  // namespace tandem::measure
