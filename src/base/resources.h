// What a task is granted of a machine, and how the numbers are written down.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/units.h"

namespace tandem {

// The numbers a program computes with, where it says that it can change them (protocol: "precision").
enum class Precision { own, fp32, tf32, bf16, fp16 };  // own: as the program has it
const char* name(Precision);
std::optional<Precision> precision_from(std::string_view);

struct Resources {
  int cores = 1;
  Bytes memory = 0;      // 0: no limit of its own
  double speed = 1.0;    // share of full CPU speed, (0, 1]
  int gpus = 0;          // its own, unless it says how much of their memory it needs
  Bytes gpu_memory = 0;  // of each GPU: others may use the rest; 0: nobody shares its GPUs
  Watts gpu_power{};     // the most each of its GPUs may draw; 0: as it was found
  double gpu_clock = 0;  // hertz each of them runs at; 0: as it was found
  Precision precision = Precision::own;

  bool sets_gpus() const { return gpu_power.value > 0 || gpu_clock > 0; }
  bool operator==(const Resources&) const = default;
};

// All that makes a program faster or slower: memory is a limit, not a speed.
inline auto speed_key(const Resources& r) {
  return std::tuple(r.cores, r.speed, r.gpus, r.gpu_power.value, r.gpu_clock, r.precision);
}
inline bool same_speed(const Resources& a, const Resources& b) {
  return speed_key(a) == speed_key(b);
}

std::string text(const Resources&);        // "2 cores, 2 GiB, 80 % speed"
nlohmann::json to_json(const Resources&);  // {"cores":2,"memory":2147483648,"speed":1.0}; of GPUs what is set
Resources resources_from_json(const nlohmann::json&);  // SystemError on nonsense

}  // namespace tandem
