#include "bench/simgrid/star.h"

#include <cmath>

#include "base/random.h"
#include "bench/simgrid/problem.h"
#include "bench/simgrid/stopwatch.h"

namespace tandem::bench {

Star::Star(std::uint32_t hosts_, std::uint32_t rounds_, std::uint64_t seed) : hosts(hosts_), rounds(rounds_) {
  Random random(seed, hash_name("bench/simgrid/star"));
  for (std::size_t i = 0; i < std::size_t{hosts} * rounds; ++i) {
    flops_.push_back(random.uniform(1e6, 7e6));
    bytes_.push_back(std::floor(random.uniform(1e5, 5e5)));
  }
}

StarRun star_on_tandem(const Star& star) {
  sim::Engine engine;
  const sim::Topology network = sim::Topology::star(engine, star.hosts, Star::cable);
  std::vector<sim::HostId> hosts;
  for (std::uint32_t i = 0; i < star.hosts; ++i) hosts.push_back(engine.add_host(Star::speed, 1));
  std::vector<std::uint32_t> round(star.hosts, 0);
  double ends = 0;
  const Stopwatch stopwatch;
  for (std::uint32_t i = 0; i < star.hosts; ++i) engine.compute(hosts[i], star.flops(i, 0), 2 * i);
  while (const auto* done = engine.next())
    for (const sim::Token token : *done) {
      const auto i = static_cast<std::uint32_t>(token / 2);
      if (token % 2 == 0) {
        const sim::Route& route = network.route(i, star.target(i, round[i]));
        engine.transfer(route.links, star.bytes(i, round[i]), route.latency, token + 1,
                        cm02_weight(route.latency));
      } else if (++round[i] < star.rounds) {
        engine.compute(hosts[i], star.flops(i, round[i]), token - 1);
      } else {
        ends += engine.now();
      }
    }
  return {stopwatch.wall(), stopwatch.cpu(), static_cast<double>(engine.completed()), engine.now(),
          ends / star.hosts};
}

}  // namespace tandem::bench
