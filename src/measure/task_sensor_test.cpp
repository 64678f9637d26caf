#include "measure/task_sensor.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>

#include "base/error.h"
#include "base/random.h"
#include "measure/fake_counters.h"
#include "measure/fake_proc.h"
#include "platform/fake_nvml.h"

namespace tandem::measure {
namespace {

// A machine that draws what the test says.
struct FakeMeter : Meter {
  std::optional<MeterReading>& reading;
  explicit FakeMeter(std::optional<MeterReading>& r) : reading(r) {}
  std::string source() const override { return "rapl"; }
  bool measured() const override { return true; }
  std::optional<MeterReading> read() override { return reading; }
};

struct SensorFixture : testing::Test {
  FakeProc proc;
  Seconds now{1000};
  std::shared_ptr<FakeCounters> kernel = std::make_shared<FakeCounters>();
  std::optional<MeterReading> drawn = MeterReading{};
  std::unique_ptr<TaskSensor> sensor;

  virtual void wait(Seconds) {}  // a pause that the sensor makes
  Surroundings around() {
    Surroundings result;
    result.cores = 2;
    result.proc = proc.root();
    result.sys = proc.root() / "no-sys";
    result.clock = [this] { return now; };
    result.pause = [this](Seconds s) { wait(s); };
    result.counters = kernel;
    return result;
  }
  void make(bool with_meter = true) {
    sensor = std::make_unique<TaskSensor>(
        around(), EnergySources{with_meter ? std::make_unique<FakeMeter>(drawn) : nullptr});
  }
  void SetUp() override {
    kernel->refuse_everything(ENOENT);
    proc.busy(0);
    make();
  }
};

TEST_F(SensorFixture, ProfileFromProcWhenThereAreNoCounters) {
  proc.process({.pid = 100, .group = 100});
  proc.write("pressure/cpu", "some avg10=0 total=0\n");
  sensor->attach(1, 100);
  proc.process(
      {.pid = 100, .group = 100, .cpu = 1, .faults = 40, .pages = 30, .switches = 8, .read_calls = 4});
  proc.write("pressure/cpu", "some avg10=0 total=500000\n");
  now += Seconds{2};
  const auto rates = sensor->read(1).profile.rates;
  EXPECT_DOUBLE_EQ(rates.at("user-time"), 0.5);
  EXPECT_DOUBLE_EQ(rates.at("minor-faults"), 20);
  EXPECT_DOUBLE_EQ(rates.at("context-switches"), 4);
  EXPECT_DOUBLE_EQ(rates.at("read-calls"), 2);
  EXPECT_DOUBLE_EQ(rates.at("resident-bytes"), 20.0 * static_cast<double>(sysconf(_SC_PAGESIZE)));
  EXPECT_DOUBLE_EQ(rates.at("pressure-cpu"), 0.25);
  EXPECT_FALSE(rates.contains("pressure-io")) << "what is not there is not 0 but missing";
  EXPECT_FALSE(rates.contains("cpu-cycles"));
}

TEST_F(SensorFixture, PerfCountsWinOverProc) {
  kernel->refuse.erase("minor-faults");
  make();
  proc.process({.pid = 100, .group = 100});
  kernel->counts[{100, "minor-faults"}] = {0, 1, 1};
  sensor->attach(1, 100);
  kernel->counts[{100, "minor-faults"}] = {9, 2, 2};
  proc.process({.pid = 100, .group = 100, .faults = 5});
  now += Seconds{1};
  EXPECT_DOUBLE_EQ(sensor->read(1).profile.rates.at("minor-faults"), 9);
}

TEST_F(SensorFixture, UnreadableIoIsMissingNotZero) {
  proc.process({.pid = 100, .group = 100});
  proc.remove("100/io");
  sensor->attach(1, 100);
  now += Seconds{1};
  const auto rates = sensor->read(1).profile.rates;
  EXPECT_FALSE(rates.contains("read-calls"));
  EXPECT_TRUE(rates.contains("user-time"));
}

TEST_F(SensorFixture, EnergyByShareOfBusyTime) {
  proc.process({.pid = 100, .group = 100});
  sensor->attach(1, 100);
  for (int second = 1; second <= 4; ++second) {
    now += Seconds{1};
    proc.process({.pid = 100, .group = 100, .cpu = 0.5 * second});
    proc.busy(second);
    drawn->total = Joules{30.0 * second};
    sensor->sample();
  }
  const auto energy = sensor->read(1).energy;
  ASSERT_TRUE(energy);
  EXPECT_NEAR(energy->joules.value, 60, 1e-9);
  EXPECT_EQ(energy->source, "rapl");
  EXPECT_EQ(sensor->read(1).energy->joules.value, 0) << "since the last read";
}

TEST_F(SensorFixture, WhatWasDrawnBeforeATaskCameIsNotItsOwn) {
  proc.process({.pid = 100, .group = 100, .cpu = 9});
  drawn->total = Joules{5000};
  proc.busy(500);
  sensor->attach(1, 100);
  now += Seconds{1};
  EXPECT_EQ(sensor->read(1).energy->joules.value, 0);
}

TEST_F(SensorFixture, NoSourceAndAFailedMeterGiveNoEnergy) {
  proc.process({.pid = 100, .group = 100});
  sensor->attach(1, 100);
  now += Seconds{1};
  drawn.reset();
  sensor->sample();
  drawn = MeterReading{Joules{50}, 0};
  now += Seconds{1};
  EXPECT_FALSE(sensor->read(1).energy) << "part of the stretch went unmeasured";
  now += Seconds{1};
  EXPECT_TRUE(sensor->read(1).energy);
  drawn->breaks = 1;
  now += Seconds{1};
  EXPECT_FALSE(sensor->read(1).energy) << "a break is no measurement either";
  make(false);
  sensor->attach(1, 100);
  now += Seconds{1};
  EXPECT_FALSE(sensor->read(1).energy);
  EXPECT_EQ(sensor->energy_source(), "");
}

// Two GPUs, one task on both and one on the second alone; a third task has none.
struct GpuFixture : SensorFixture {
  platform::FakeNvml nvml;                    // 1 J and 2 J at the start
  ~GpuFixture() override { sensor.reset(); }  // it says good-bye to NVML

  void make_with_gpus(bool nvml_alone = false) {
    std::string why;
    std::shared_ptr<platform::Nvml> gpus = platform::Nvml::open(why, nvml.lookup());
    sensor = std::make_unique<TaskSensor>(
        around(), EnergySources{std::make_unique<FakeMeter>(drawn),
                                std::make_unique<GpuEnergy>(gpus, [this] { return now; }), nvml_alone});
    for (int task = 1; task <= 3; ++task) {
      proc.process({.pid = 100 * task, .group = 100 * task});
      sensor->attach(task, 100 * task);
    }
    sensor->uses_gpus(1, {"0", "1"});
    sensor->uses_gpus(2, {"1"});
  }
  // A second in which each task is busy on a core of its own, and GPUs and machine draw so much.
  void second(double first, double other, double machine) {
    now += Seconds{1};
    ++seconds;
    for (int task = 1; task <= 3; ++task)
      proc.process({.pid = 100 * task, .group = 100 * task, .cpu = static_cast<double>(seconds)});
    proc.busy(3.0 * seconds);
    drawn->total += Joules{machine};
    nvml.millijoules[0] += static_cast<unsigned long long>(first * 1000);
    nvml.millijoules[1] += static_cast<unsigned long long>(other * 1000);
    sensor->sample();
  }
  int seconds = 0;
};

TEST_F(GpuFixture, AGpuIsSplitEvenlyAmongItsTasksAndAddedToTheirShareOfTheMachine) {
  make_with_gpus();
  second(100, 60, 30);
  const auto both = *sensor->read(1).energy, one = *sensor->read(2).energy, none = *sensor->read(3).energy;
  EXPECT_NEAR(both.joules.value, 100 + 30 + 10, 1e-9);
  EXPECT_EQ(both.source, "nvml + rapl");
  ASSERT_EQ(both.parts.size(), 2u);
  EXPECT_EQ(both.parts[0].of, "GPU");
  EXPECT_NEAR(both.parts[0].joules.value, 130, 1e-9);
  EXPECT_EQ(both.parts[1], (EnergyPart{"CPU", both.parts[1].joules, "rapl"}));
  EXPECT_NEAR(one.joules.value, 30 + 10, 1e-9);
  EXPECT_NEAR(none.joules.value, 10, 1e-9) << "the CPU part alone";
  EXPECT_TRUE(none.parts.empty());
  sensor->detach(2);
  second(0, 60, 30);
  EXPECT_NEAR(sensor->read(1).energy->parts[0].joules.value, 60, 1e-9) << "nobody shares it any more";
  sensor->uses_gpus(1, {});
  second(50, 50, 30);
  EXPECT_NEAR(sensor->read(1).energy->joules.value, 10, 1e-9) << "it has given them back";
}

// A GPU that waits for its program to load draws a fourth of what it draws in training: by time alone,
// start-up would be blamed for training's energy.
TEST_F(GpuFixture, WhatStartingUpTookIsToldApart) {
  make_with_gpus();
  second(100, 60, 30);
  sensor->started_up(1);
  second(20, 60, 30);
  sensor->started_up(1);  // it says so again, when it has built its model
  second(400, 60, 30);
  const auto first = sensor->read(1);
  EXPECT_NEAR(first.energy->joules.value, 520 + 90 + 30, 1e-9);
  ASSERT_TRUE(first.startup_energy);
  EXPECT_NEAR(first.startup_energy->value, 120 + 60 + 20, 1e-9);
  second(400, 60, 30);
  const auto later = sensor->read(1);
  EXPECT_NEAR(later.energy->joules.value, 400 + 30 + 10, 1e-9);
  EXPECT_FALSE(later.startup_energy);
  nvml.failing = {"nvmlDeviceGetTotalEnergyConsumption"};
  second(1, 1, 1);
  sensor->started_up(1);
  EXPECT_FALSE(sensor->read(1).startup_energy) << "a part is missing";
}

// A counter that is renewed ten times a second, by a card that draws 100 W while the program loads and 600 W
// in its epochs of a third of a second.
struct SteppingFixture : GpuFixture {
  static constexpr double kReady = 1000.455;
  void wait(Seconds s) override { go_to(now.value + s.value); }
  void go_to(double at) {
    now = Seconds{at};
    const double step = std::floor(at * 10) / 10;
    const double joules = 100 * (std::min(step, kReady) - 1000) + 600 * std::max(0.0, step - kReady);
    nvml.millijoules[0] = 1000 + static_cast<unsigned long long>(joules * 1000);
  }
};

TEST_F(SteppingFixture, ShortEpochsAreNotTakenForTheCountersSteps) {
  go_to(1000);
  make_with_gpus(true);
  for (const int other : {2, 3}) sensor->detach(other);
  sensor->uses_gpus(1, {"0"});
  go_to(kReady);
  sensor->started_up(1);
  for (int epoch = 1; epoch <= 6; ++epoch) {
    go_to(kReady + epoch / 3.0);
    const auto reading = sensor->read(1);
    const double joules = reading.energy->joules.value - reading.startup_energy.value_or(Joules{}).value;
    EXPECT_NEAR(joules, 200, 15) << "of epoch " << epoch;
  }
}

// Each call takes NVML some milliseconds, and there may be eight GPUs.
TEST_F(GpuFixture, TasksOfTheCpuAloneDoNotMakeItLookAtGpus) {
  make_with_gpus();
  for (int task = 1; task <= 3; ++task) sensor->detach(task);
  const int before = nvml.energy_reads;
  for (int task = 4; task < 104; ++task) {
    proc.process({.pid = 100 * task, .group = 100 * task});
    sensor->attach(task, 100 * task);
    sensor->started_up(task);
    for (int epoch = 0; epoch < 5; ++epoch) {
      now += Seconds{0.002};
      EXPECT_TRUE(sensor->read(task).energy);
    }
    sensor->detach(task);
  }
  EXPECT_EQ(nvml.energy_reads, before) << "in a second";
  now += Seconds{3};
  sensor->attach(1, 100);
  EXPECT_EQ(nvml.energy_reads, before + 2) << "to learn what idle ones draw";
  EXPECT_EQ(nvml.opened, 1);
}

TEST_F(GpuFixture, WhatAnUnusedGpuDrewIsNotItsNextTasks) {
  make_with_gpus();
  sensor->uses_gpus(1, {"0"});
  sensor->uses_gpus(2, {});
  second(10, 500, 30);
  sensor->uses_gpus(2, {"1"});
  sensor->read(2);
  second(10, 60, 30);
  EXPECT_NEAR(sensor->read(2).energy->parts[0].joules.value, 60, 1e-9);
}

TEST_F(GpuFixture, NvmlIsOpenedOnceForEnergyAndProfiles) {
  Surroundings with_nvml = around();
  with_nvml.nvml = nvml.lookup();
  sensor = std::make_unique<TaskSensor>(SensorOptions{.energy = {.source = "model"}, .around = with_nvml});
  for (int task = 1; task <= 3; ++task) {
    proc.process({.pid = 100 * task, .group = 100 * task});
    sensor->attach(task, 100 * task);
    sensor->uses_gpus(task, {"0"});
  }
  now += Seconds{1};
  EXPECT_TRUE(sensor->read(1).profile.rates.contains("gpu-busy"));
  EXPECT_TRUE(sensor->nvml());
  EXPECT_EQ(nvml.opened, 1);
}

// Each look takes NVML some milliseconds, four times.
TEST_F(GpuFixture, AfterItsFirstEpochAProgramDoesNotWaitForLooksAtItsGpus) {
  Surroundings with_nvml = around();
  with_nvml.nvml = nvml.lookup();
  sensor = std::make_unique<TaskSensor>(with_nvml, EnergySources{std::make_unique<FakeMeter>(drawn)});
  proc.process({.pid = 100, .group = 100});
  sensor->attach(1, 100);
  sensor->uses_gpus(1, {"0"});
  now += Seconds{2};
  int before = nvml.looks;
  EXPECT_TRUE(sensor->read(1).profile.rates.contains("gpu-busy"));
  EXPECT_GT(nvml.looks, before) << "works are told apart by their first epoch";
  now += Seconds{2};
  before = nvml.looks;
  sensor->read(1);
  EXPECT_EQ(nvml.looks, before);
  sensor->sample();
  EXPECT_GT(nvml.looks, before);
  EXPECT_TRUE(sensor->read(1).profile.rates.contains("gpu-busy"));
}

TEST_F(GpuFixture, APartThatFailedIsMissingAndNotNothing) {
  make_with_gpus();
  nvml.failing = {"nvmlDeviceGetTotalEnergyConsumption"};
  second(100, 60, 30);
  auto seen = sensor->read(1).energy;
  ASSERT_TRUE(seen);
  EXPECT_FALSE(seen->complete());
  EXPECT_NEAR(seen->joules.value, 10, 1e-9);
  EXPECT_EQ(seen->source, "rapl");
  nvml.failing.clear();
  second(100, 60, 30);
  EXPECT_FALSE(sensor->read(1).energy->complete()) << "nor is it known how much of it came since";
  drawn->breaks = 1;
  second(100, 60, 30);
  seen = sensor->read(1).energy;
  EXPECT_FALSE(seen->complete());
  EXPECT_NEAR(seen->joules.value, 130, 1e-9) << "the GPUs' alone";
  EXPECT_FALSE(sensor->read(2).energy) << "of neither is all of it known";
  nvml.millijoules = {5, 5};
  second(1, 1, 30);
  ASSERT_TRUE(sensor->read(2).energy);
  second(1, 1, 30);
  nvml.millijoules = {5, 5};
  second(1, 1, 30);
  EXPECT_FALSE(sensor->read(2).energy.value().complete()) << "the driver was loaded anew and counts from 0";
  second(1, 1, 30);
  EXPECT_TRUE(sensor->read(2).energy->complete());
  sensor->uses_gpus(2, {"7"});
  for (int again = 0; again < 2; ++again) {
    second(1, 1, 30);
    EXPECT_FALSE(sensor->read(2).energy->complete()) << "there is no such GPU, however often one looks";
  }
}

TEST_F(GpuFixture, NvmlAloneIsOfItsGpusAlone) {
  make_with_gpus(true);
  second(100, 60, 30);
  EXPECT_NEAR(sensor->read(1).energy->joules.value, 130, 1e-9);
  EXPECT_EQ(sensor->read(1).energy->source, "nvml");
  EXPECT_EQ(sensor->most_power(1), Watts{700}) << "of what is counted";
  EXPECT_FALSE(sensor->read(3).energy) << "it may not be given what others drew";
}

TEST_F(GpuFixture, WhatAnIdleGpuDrawsIsLearntWhileNobodyIsOnIt) {
  make_with_gpus();
  second(100, 60, 30);
  EXPECT_FALSE(sensor->read(2).energy->parts[0].idle) << "not known yet";
  sensor->uses_gpus(1, {"0"});
  sensor->uses_gpus(2, {});
  const auto three_seconds = [&](double other) {  // as often as one looks at it
    for (int i = 0; i < 3; ++i) second(100, other, 30);
  };
  nvml.percent[1] = 40;
  three_seconds(12);
  nvml.percent[1] = 0;
  three_seconds(20);
  three_seconds(25);
  sensor->uses_gpus(2, {"1"});
  sensor->read(2);
  second(100, 60, 30);
  EXPECT_NEAR(sensor->read(2).energy->parts[0].idle->value, 20, 1e-9)
      << "the least while nothing ran: at 12 W something did";
  second(100, 15, 30);
  EXPECT_NEAR(sensor->read(2).energy->parts[0].idle->value, 15, 1e-9) << "never more than was drawn";
}

TEST_F(SensorFixture, AModelKnowsWhatOfItIsIdle) {
  sensor = std::make_unique<TaskSensor>(
      around(),
      EnergySources{std::make_unique<ModelMeter>(PowerModel{Watts{8}, Watts{30}}, 2,
                                                 platform::ProcFs(proc.root()), [this] { return now; })});
  EXPECT_EQ(sensor->most_power(0), Watts{30});
  EXPECT_FALSE(sensor->most_power(1)) << "nothing tells of a GPU";
  proc.process({.pid = 100, .group = 100});
  sensor->attach(1, 100);
  now += Seconds{10};
  proc.process({.pid = 100, .group = 100, .cpu = 5});
  proc.busy(10);
  const auto energy = *sensor->read(1).energy;
  EXPECT_NEAR(energy.joules.value, 0.5 * (10 * 8 + 22 * 5), 1e-9);
  ASSERT_EQ(energy.parts.size(), 1u);
  EXPECT_NEAR(energy.parts[0].idle->value, 40, 1e-9) << "half of all that was busy was its";
}

TEST_F(SensorFixture, AChildThatEndsIsCountedOnce) {
  proc.process({.pid = 100, .group = 100});
  sensor->attach(1, 100);
  proc.process({.pid = 101, .parent = 100, .group = 100, .cpu = 1});
  now += Seconds{1};
  sensor->sample();
  proc.end(101);
  proc.process({.pid = 100, .group = 100, .cpu = 0, .children_cpu = 3});
  now += Seconds{1};
  EXPECT_DOUBLE_EQ(sensor->read(1).profile.rates.at("user-time"), 1.5)
      << "three seconds of a child in two of ours";
}

TEST_F(SensorFixture, AThreadThatEndsTakesNoSwitchesBack) {
  proc.process({.pid = 100, .group = 100, .switches = 5});
  const std::string status = "voluntary_ctxt_switches:\t";
  proc.write("100/task/101/status", status + "50\nnonvoluntary_ctxt_switches:\t0\n");
  sensor->attach(1, 100);
  proc.remove("100/task/101");
  proc.process({.pid = 100, .group = 100, .switches = 7});
  now += Seconds{1};
  EXPECT_DOUBLE_EQ(sensor->read(1).profile.rates.at("voluntary-switches"), 2);
}

TEST_F(SensorFixture, AVanishedTaskHasNoEnergyUnlessPerfStillKnows) {
  proc.process({.pid = 100, .group = 100});
  sensor->attach(1, 100);
  proc.end(100);
  now += Seconds{1};
  EXPECT_FALSE(sensor->read(1).energy);

  kernel->refuse.erase("task-clock");
  make();
  proc.process({.pid = 100, .group = 100});
  kernel->counts[{100, "task-clock"}] = {0, 0, 0};
  sensor->attach(1, 100);
  proc.end(100);
  kernel->counts[{100, "task-clock"}] = {500'000'000, 1, 1};
  proc.busy(1);
  drawn->total += Joules{10};
  now += Seconds{1};
  EXPECT_NEAR(sensor->read(1).energy->joules.value, 5, 1e-6);
}

TEST_F(SensorFixture, UnknownTasksAndEarlyReads) {
  EXPECT_FALSE(sensor->read(9).energy);
  EXPECT_TRUE(sensor->read(9).profile.rates.empty());
  sensor->detach(9);
  sensor->sample();
  proc.process({.pid = 100, .group = 100});
  sensor->attach(1, 100);
  EXPECT_TRUE(sensor->read(1).profile.rates.empty()) << "no time has passed, so there is no rate";
  sensor->detach(1);
  EXPECT_FALSE(sensor->read(1).energy);
}

TEST_F(SensorFixture, TasksTogetherNeverGetMoreThanTheMachine) {
  Random random(6);
  double cpu[3] = {}, busy = 0, given = 0, machine = 0;
  for (int task = 0; task < 3; ++task) {
    proc.process({.pid = 100 + task, .group = 100 + task});
    sensor->attach(task, 100 + task);
  }
  for (int step = 0; step < 100; ++step) {
    now += Seconds{random.uniform(0.01, 1.5)};
    for (int task = 0; task < 3; ++task) {
      cpu[task] += random.uniform(0, 1);
      proc.process({.pid = 100 + task, .group = 100 + task, .cpu = cpu[task]});
    }
    busy += random.uniform(0, 3);
    proc.busy(busy);
    machine += random.uniform(0, 40);
    drawn->total = Joules{machine};
    sensor->sample();
    if (step % 7 == 0) given += sensor->read(step % 3).energy->joules.value;
  }
  for (int task = 0; task < 3; ++task) given += sensor->read(task).energy->joules.value;
  EXPECT_LE(given, machine * (1 + 1e-12));
  EXPECT_GT(given, 0);
}

TEST(TaskSensor, AnEnergySourceThatIsNotThereIsTheUsersToFix) {
  platform::FakeTree empty;
  SensorOptions options;
  options.energy.source = "rapl";
  options.around.sys = empty.root();
  EXPECT_THROW(TaskSensor{options}, UserError);
}

// A child in its own group that waits at a gate, then forks a child that burns CPU time, and says how much of
// it both have used by their own clocks; then it waits to be ended.
class Burner {
 public:
  Burner() {
    if (pipe(gate_) != 0 || pipe(report_) != 0) throw_errno("making pipes");
    pid_ = fork();
    if (pid_ == 0) run();
    setpgid(pid_, pid_);
  }
  ~Burner() {
    if (!ended_) end();
    for (int fd : {gate_[0], gate_[1], report_[0], report_[1]}) close(fd);
  }
  pid_t pid() const { return pid_; }
  double burn() {
    EXPECT_EQ(write(gate_[1], "g", 1), 1);
    double seconds = 0;
    EXPECT_EQ(read(report_[0], &seconds, sizeof seconds), static_cast<ssize_t>(sizeof seconds));
    return seconds;
  }
  void end() {
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    ended_ = true;
  }

 private:
  static double cpu_seconds(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
  static void use(double seconds) {
    const double end = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + seconds;
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < end) continue;
  }
  [[noreturn]] void run() {
    setpgid(0, 0);
    char go = 0;
    if (read(gate_[0], &go, 1) != 1) _exit(1);
    if (const pid_t child = fork(); child == 0) {
      use(0.2);
      _exit(0);
    } else {
      waitpid(child, nullptr, 0);
    }
    use(0.1);
    const double used = 0.3;
    if (write(report_[1], &used, sizeof used) != static_cast<ssize_t>(sizeof used)) _exit(1);
    for (;;) pause();
  }

  int gate_[2], report_[2];
  pid_t pid_ = -1;
  bool ended_ = false;
};

struct RealMachine : testing::TestWithParam<bool> {};

TEST_P(RealMachine, CountsTheCpuTimeOfChildren) {
  Surroundings around;
  const bool perf = GetParam();
  if (!perf) {
    auto none = std::make_shared<FakeCounters>();
    none->refuse_everything(ENOENT);
    around.counters = none;
  }
  std::optional<MeterReading> drawn = MeterReading{};
  TaskSensor sensor(around, EnergySources{std::make_unique<FakeMeter>(drawn)});
  Burner burner;
  const Seconds start = steady_now();
  sensor.attach(1, burner.pid());
  const double burnt = burner.burn();
  drawn->total = Joules{100};
  const auto reading = sensor.read(1);
  const double elapsed = (steady_now() - start).value;
  const double counted =
      (reading.profile.rates.at("user-time") + reading.profile.rates.at("system-time")) * elapsed;
  // /proc counts in ticks, and four numbers are rounded down.
  EXPECT_GE(counted, burnt - 0.06);
  if (perf && reading.profile.rates.contains("task-clock")) {
    EXPECT_GE(reading.profile.rates.at("task-clock") * 1e-9 * elapsed, burnt);
  }
  ASSERT_TRUE(reading.energy);
  EXPECT_GT(reading.energy->joules.value, 0);
  EXPECT_LE(reading.energy->joules.value, 100 * (1 + 1e-12));
  sensor.detach(1);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutPerf, RealMachine, testing::Bool());

}  // namespace
}  // namespace tandem::measure
