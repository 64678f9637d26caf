// DiAS, simulated: servers side by side on the same arrivals, until their means are known well enough.
#pragma once

#include <cstdint>
#include <span>

#include "sim/dias/dias_server.h"

namespace tandem::sim {

struct DiasPrecision {
  double half_width = 0.01;          // of every class's mean response, relative
  std::uint64_t at_least = 200'000;  // jobs; a tenth of them is forgotten before
  std::uint64_t at_most = 20'000'000;
};

struct DiasRun {
  std::uint64_t jobs = 0;
  bool reached = false;   // the precision, before at_most
  double half_width = 0;  // the widest, relative
};

// Feeds the stream to every server.
DiasRun simulate(DiasStream&, std::span<DiasServer> servers, const DiasPrecision&);

}  // namespace tandem::sim
