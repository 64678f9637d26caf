// A recording of an H200 that answers like NVIDIA's library, for tests on machines without a GPU.
//
// Load it with TANDEM_NVML=/path/to/libfake_nvml.so. All processes that name the same file in FAKE_NVML_STATE
// share the same GPUs, as those of one machine do: limits, locks, energy and who is at work on them.
//
//   FAKE_NVML_STATE=FILE   made when it is not there (needed)
//   FAKE_NVML_GPUS=N       how many GPUs a new file has (1 to 8; 1)
//   FAKE_NVML_DENY=1       this process may not set anything
//   FAKE_NVML_NO_ENERGY=1  the GPUs have no energy counter
//   FAKE_NVML_LOST=I       for this process GPU I has fallen off the bus (fake_nvml_lose: for all)
//
// How fast it is and what it draws: recorded_gpu.h.
//
// Functions named fake_nvml_... are the tests' own. A call locks the file, so a killed process leaves nothing
// half done.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "tests/fake_nvml/recorded_gpu.h"

namespace {

using namespace fake_nvml;

constexpr int kSuccess = 0, kUninitialized = 1, kInvalid = 2, kNotSupported = 3, kNotPermitted = 4,
              kLost = 15;
struct State {
  unsigned long long magic;
  unsigned gpus;
  Gpu gpu[kMostGpus];
};
constexpr unsigned long long kMagic = 0x32764c4d564e4b46;

std::mutex one_thread;
State* state = nullptr;
int file = -1, users = 0;

bool variable_is(const char* name, unsigned value) {
  const char* text = std::getenv(name);
  return text && *text && std::strtoul(text, nullptr, 10) == value;
}

// Holds the file, and with it all GPUs, while it lives.
struct Hold {
  std::lock_guard<std::mutex> thread{one_thread};
  Hold() { ::flock(file, LOCK_EX); }
  ~Hold() { ::flock(file, LOCK_UN); }
};

bool map_state(const char* path) {
  file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::flock(file, LOCK_EX) != 0 || ::ftruncate(file, sizeof(State)) != 0) return false;
  void* memory = ::mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return false;
  state = static_cast<State*>(memory);
  if (state->magic != kMagic) {
    const char* wanted = std::getenv("FAKE_NVML_GPUS");
    state->gpus = std::clamp(wanted ? static_cast<unsigned>(std::atoi(wanted)) : 1u, 1u, kMostGpus);
    for (auto& gpu : state->gpu) gpu = {.limit = kMostLimit, .locked = 0, .lost = 0, .at = now()};
    state->magic = kMagic;
  }
  ::flock(file, LOCK_UN);
  return true;
}

// A GPU with its energy counted up to now, or why there is none.
int find(void* device, Gpu*& gpu) {
  if (!state) return kUninitialized;
  gpu = static_cast<Gpu*>(device);
  const auto index = static_cast<unsigned>(gpu - state->gpu);
  if (index >= state->gpus) return kInvalid;
  if (gpu->lost || variable_is("FAKE_NVML_LOST", index)) return kLost;
  count_energy(*gpu);
  return kSuccess;
}

template <class Action>
int with(void* device, Action action) {
  const Hold hold;
  Gpu* gpu = nullptr;
  if (const int status = find(device, gpu); status != kSuccess) return status;
  return action(*gpu);
}

template <class Action>
int change(void* device, Action action) {
  return with(device, [&](Gpu& gpu) {
    if (variable_is("FAKE_NVML_DENY", 1)) return kNotPermitted;
    const int status = action(gpu);
    gpu.sets += status == kSuccess;
    return status;
  });
}

int give(unsigned* out, double value) {
  *out = static_cast<unsigned>(value);
  return kSuccess;
}

int write_text(char* out, unsigned length, const char* text) {
  std::snprintf(out, length, "%s", text);
  return kSuccess;
}

}  // namespace

extern "C" {

const char* tandem_nvml_recording() {
  return "three power limits of an H200";
}

int nvmlInit_v2() {
  const char* path = std::getenv("FAKE_NVML_STATE");
  const std::lock_guard<std::mutex> lock(one_thread);
  if (!state && (!path || !map_state(path))) return kUninitialized;
  ++users;
  return kSuccess;
}
int nvmlShutdown() {
  const std::lock_guard<std::mutex> lock(one_thread);
  if (users == 0) return kUninitialized;
  if (--users > 0) return kSuccess;
  ::munmap(state, sizeof(State));
  ::close(file);
  state = nullptr;
  return kSuccess;
}
const char* nvmlErrorString(int status) {
  switch (status) {
    case kUninitialized:
      return "FAKE_NVML_STATE names no file that can be written";
    case kInvalid:
      return "Invalid Argument";
    case kNotSupported:
      return "Not Supported";
    case kNotPermitted:
      return "Insufficient Permissions";
    case kLost:
      return "GPU is lost";
    default:
      return "Unknown Error";
  }
}
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return write_text(text, length, "recording");
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  return state ? give(count, state->gpus) : kUninitialized;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (!state || index >= state->gpus) return kInvalid;
  *device = &state->gpu[index];
  return kSuccess;
}
int nvmlDeviceGetName(void*, char* text, unsigned length) {
  return write_text(text, length, "NVIDIA H200");
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned length) {
  const auto index = static_cast<unsigned>(static_cast<Gpu*>(device) - state->gpu);
  std::snprintf(text, length, "GPU-00000000-recorded-%u", index);
  return kSuccess;
}

int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  return with(device, [&](Gpu& gpu) {
    *millijoules = static_cast<unsigned long long>(gpu.millijoules);
    return variable_is("FAKE_NVML_NO_ENERGY", 1) ? kNotSupported : kSuccess;
  });
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  return with(device, [&](Gpu& gpu) { return give(milliwatts, watts(gpu) * 1e3); });
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned* gpu_and_memory) {
  return with(device, [&](Gpu& gpu) {
    gpu_and_memory[0] = workers(gpu) > 0 ? 100 : 0;
    gpu_and_memory[1] = gpu_and_memory[0] / 2;
    return kSuccess;
  });
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* total_free_used) {
  return with(device, [&](Gpu& gpu) {
    total_free_used[0] = kMemory;
    total_free_used[2] = workers(gpu) * 8'000'000'000ull;
    total_free_used[1] = kMemory - total_free_used[2];
    return kSuccess;
  });
}
int nvmlDeviceGetTemperature(void* device, int, unsigned* celsius) {
  return with(device, [&](Gpu& gpu) { return give(celsius, 27 + watts(gpu) / 20); });
}
int nvmlDeviceGetClockInfo(void* device, int, unsigned* megahertz) {
  return with(device, [&](Gpu& gpu) {
    if (workers(gpu) == 0) return give(megahertz, kLeastClock);
    return give(megahertz, kMostClock * when_busy(gpu).products_a_second / kRecording[2].products_a_second);
  });
}
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* bits) {
  return with(device, [&](Gpu& gpu) {
    constexpr unsigned long long kIdleBit = 1, kPowerCap = 4;
    *bits = workers(gpu) == 0 ? kIdleBit : watts(gpu) > 0.97e-3 * gpu.limit ? kPowerCap : 0;
    return kSuccess;
  });
}

int nvmlDeviceGetPowerManagementLimit(void* device, unsigned* milliwatts) {
  return with(device, [&](Gpu& gpu) { return give(milliwatts, gpu.limit); });
}
int nvmlDeviceGetPowerManagementDefaultLimit(void* device, unsigned* milliwatts) {
  return with(device, [&](Gpu&) { return give(milliwatts, kMostLimit); });
}
int nvmlDeviceGetPowerManagementLimitConstraints(void* device, unsigned* least, unsigned* most) {
  return with(device, [&](Gpu&) { return give(least, kLeastLimit), give(most, kMostLimit); });
}
int nvmlDeviceSetPowerManagementLimit(void* device, unsigned milliwatts) {
  return change(device, [&](Gpu& gpu) {
    if (milliwatts < kLeastLimit || milliwatts > kMostLimit) return kInvalid;
    gpu.limit = milliwatts;
    return kSuccess;
  });
}
int nvmlDeviceGetSupportedMemoryClocks(void* device, unsigned* count, unsigned* megahertz) {
  return with(device, [&](Gpu&) { return give(megahertz, kMemoryClock), give(count, 1); });
}
int nvmlDeviceGetSupportedGraphicsClocks(void* device, unsigned memory, unsigned* count,
                                         unsigned* megahertz) {
  return with(device, [&](Gpu&) {
    const unsigned steps = (kMostClock - kLeastClock) / kClockStep + 1;
    if (memory != kMemoryClock || *count < steps) return kInvalid;
    for (unsigned i = 0; i < steps; ++i) megahertz[i] = kMostClock - i * kClockStep;
    return give(count, steps);
  });
}
int nvmlDeviceSetGpuLockedClocks(void* device, unsigned least, unsigned most) {
  return change(device, [&](Gpu& gpu) {
    if (least > most || most < kLeastClock || most > kMostClock) return kInvalid;
    gpu.locked = most;
    return kSuccess;
  });
}
int nvmlDeviceResetGpuLockedClocks(void* device) {
  return change(device, [&](Gpu& gpu) { return gpu.locked = 0, kSuccess; });
}

// The tests' own. A GPU is named by its number; nvmlInit_v2 comes first.
int fake_nvml_users() {  // in this process
  const std::lock_guard<std::mutex> lock(one_thread);
  return users;
}
unsigned fake_nvml_locked(unsigned index) {
  return state->gpu[index].locked;
}
unsigned long long fake_nvml_sets(unsigned index) {
  return state->gpu[index].sets;
}
void fake_nvml_lose(unsigned index, int lost) {
  state->gpu[index].lost = lost;
}
// This process works on the GPU from now on, until it says otherwise or ends.
void fake_nvml_work(unsigned index, int works) {
  with(&state->gpu[index], [&](Gpu& gpu) {
    const pid_t from = works ? 0 : ::getpid(), to = works ? ::getpid() : 0;
    if (const auto at = std::find(gpu.workers, gpu.workers + kMostWorkers, from);
        at != gpu.workers + kMostWorkers)
      *at = to;
    return kSuccess;
  });
}
// Products a second this process gets at this moment: what the settings allow, shared by all at work.
double fake_nvml_speed(unsigned index) {
  double speed = 0;
  with(&state->gpu[index], [&](Gpu& gpu) {
    speed = when_busy(gpu).products_a_second / std::max(1u, workers(gpu));
    return kSuccess;
  });
  return speed;
}
}
