// What a task is granted of a machine, and how the numbers are written down.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/units.h"

namespace tandem {

struct Resources {
  int cores = 1;
  Bytes memory = 0;    // 0: no limit of its own
  double speed = 1.0;  // share of full CPU speed, (0, 1]
  int gpus = 0;        // whole ones, its own

  bool operator==(const Resources&) const = default;
};

std::string text(const Resources&);                    // "2 cores, 2 GiB, 80 % speed"
nlohmann::json to_json(const Resources&);              // {"cores":2,"memory":2147483648,"speed":1.0}, "gpus" if any
Resources resources_from_json(const nlohmann::json&);  // SystemError on nonsense

}  // namespace tandem
