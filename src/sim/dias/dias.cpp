#include "sim/dias/dias.h"

#include <algorithm>

namespace tandem::sim {
namespace {

double widest(std::span<const DiasServer> servers) {
  double out = 0;
  for (const auto& server : servers)
    for (std::size_t k = 0; k < server.classes(); ++k) {
      const auto& response = server.seen(k).response;
      out = std::max(out, response.half_width() / response.mean());
    }
  return out;
}

}  // namespace

DiasRun simulate(DiasStream& stream, std::span<DiasServer> servers, const DiasPrecision& precision) {
  const auto feed = [&](std::uint64_t jobs) {
    for (std::uint64_t i = 0; i < jobs; ++i) {
      const auto arrival = stream.next();
      for (auto& server : servers) server.arrive(arrival);
    }
  };
  feed(precision.at_least / 10);
  for (auto& server : servers) server.forget();
  DiasRun out;
  for (std::uint64_t more = precision.at_least; out.jobs < precision.at_most; more = out.jobs / 4) {
    more = std::min(more, precision.at_most - out.jobs);
    feed(more);
    out.jobs += more;
    out.half_width = widest(servers);
    out.reached = out.half_width <= precision.half_width;
    if (out.reached) break;
  }
  return out;
}

}  // namespace tandem::sim
