// Test program: a Tandem reduced to its GPU settings, told what to do line by line.
//
//   gpu_owner GUARDIAN FOLDER LOG     answers each line of standard input with one line
//
//   apply GPU WATTS|- MHZ|-   "ok", or why not
//   restore GPU               the same
//   check                     the same
//   try GPU                   whether the power limit may be set
//   guardian                  the guardian's pid, -1: none
//   storm SEED                changes settings of all GPUs as fast as it can, until it is killed
//
// It says what it repaired, one line each, then "ready".
#include <fmt/format.h>

#include <iostream>
#include <sstream>

#include "base/random.h"
#include "platform/gpu_settings.h"

namespace {

using tandem::Random;
using tandem::platform::GpuSetting;
using tandem::platform::GpuSettings;
using tandem::platform::Nvml;

std::string ok_or(const std::string& why) {
  return why.empty() ? "ok" : why;
}

// Some of the calls put everything back, so that kills fall into first changes and into restores too.
[[noreturn]] void storm(GpuSettings& settings, std::size_t gpus, std::uint64_t seed) {
  Random random(seed);
  std::cout << "ok" << std::endl;
  while (true) {
    const auto gpu = static_cast<std::size_t>(random.below(gpus));
    GpuSetting wanted;
    if (random.uniform() < 0.6) wanted.watts = 200 + static_cast<double>(random.below(500));
    if (random.uniform() < 0.6) wanted.hertz = 1e6 * (345 + 15.0 * static_cast<double>(random.below(100)));
    if (const auto why = settings.apply(gpu, wanted); !why.empty()) {
      std::cout << why << std::endl;
      std::exit(1);
    }
  }
}

std::string obey(GpuSettings& settings, const Nvml& nvml, const std::string& line) {
  std::istringstream words(line);
  std::string what, watts, megahertz;
  std::uint64_t number = 0;
  words >> what >> number >> watts >> megahertz;
  if (what == "storm") storm(settings, nvml.gpus().size(), number);
  if (what == "restore") return ok_or(settings.restore(number));
  if (what == "check") return ok_or(settings.check());
  if (what == "try") return ok_or(settings.try_power_limit(number));
  if (what == "guardian") return std::to_string(settings.guardian());
  if (what != "apply") return "unknown line: " + line;
  GpuSetting wanted;
  if (watts != "-") wanted.watts = std::stod(watts);
  if (megahertz != "-") wanted.hertz = 1e6 * std::stod(megahertz);
  return ok_or(settings.apply(number, wanted));
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  std::string why;
  const auto nvml = Nvml::open(why);
  if (!nvml) {
    std::cout << why << std::endl;
    return 1;
  }
  GpuSettings settings(*nvml, {.guardian = words[1], .folder = words[2], .log = words[3]});
  for (const auto& repair : settings.repairs()) std::cout << repair << "\n";
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) std::cout << obey(settings, *nvml, line) << std::endl;
}
