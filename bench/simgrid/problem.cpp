#include "bench/simgrid/problem.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace tandem::bench {
namespace {

double log_uniform(Random& random, double low, double high) {
  return std::exp(random.uniform(std::log(low), std::log(high)));
}

// A third of the platforms has no latency at all: there CM02 shares equally instead of by latency.
struct Cables {
  bool latency;
  sim::Cable operator()(Random& random) const {
    return {log_uniform(random, 1e7, 1e10), latency ? log_uniform(random, 1e-6, 1e-2) : 0.0};
  }
};

void lay_graph(Problem& problem, Random& random, const Cables& cables, std::size_t nodes) {
  problem.switches = random.below(5);
  const std::size_t points = nodes + problem.switches;
  for (std::size_t point = 1; point < points;
       ++point)  // a tree, so that everybody is reached, then shortcuts
    problem.edges.push_back({random.below(point), point, cables(random)});
  for (std::size_t extra = random.below(points); extra > 0; --extra) {
    const std::size_t a = random.below(points), b = random.below(points);
    if (a != b) problem.edges.push_back({a, b, cables(random)});
  }
}

std::size_t lay_network(Problem& problem, Random& random) {
  const Cables cables{random.below(3) > 0};
  std::size_t nodes = 3 + random.below(30);
  problem.cable = cables(random);
  problem.up = cables(random);
  switch (problem.kind) {
    case Kind::star:
      break;
    case Kind::uneven_star:
      problem.switches = 1;
      for (std::size_t i = 0; i < nodes; ++i) problem.edges.push_back({i, nodes, cables(random)});
      break;
    case Kind::fat_tree:
      problem.per_leaf = 1 + random.below(6);
      break;
    case Kind::torus:
      nodes = 1;
      for (std::size_t d = 1 + random.below(3); d > 0; --d) {
        problem.sizes.push_back(3 + 2 * random.below(problem.sizes.empty() ? 3 : 2));
        nodes *= problem.sizes.back();
      }
      break;
    case Kind::graph:
      lay_graph(problem, random, cables, nodes);
      break;
  }
  return nodes;
}

Work random_transfer(Random& random, std::size_t nodes, std::size_t hot, double start) {
  Work work{start, random.below(nodes), random.below(nodes), std::floor(log_uniform(random, 1e4, 1e9)), true};
  if (random.below(3) == 0) work.to = hot;  // many to one
  if (work.to == work.from) work.to = (work.from + 1) % nodes;
  return work;
}

}  // namespace

const char* name(Kind kind) {
  constexpr const char* names[kKinds] = {"star", "uneven star", "fat tree", "torus", "graph"};
  return names[static_cast<int>(kind)];
}

Problem random_problem(std::uint64_t seed) {
  Random random(seed, hash_name("bench/simgrid"));
  Problem problem;
  problem.kind = static_cast<Kind>(seed % kKinds);
  const std::size_t nodes = lay_network(problem, random);
  for (std::size_t i = 0; i < nodes; ++i)
    problem.machines.push_back({log_uniform(random, 1e8, 1e11), static_cast<int>(1 + random.below(4))});
  const std::size_t hot = random.below(nodes);
  const double span = log_uniform(random, 0.1, 10);
  for (std::size_t left = 20 + random.below(180); left > 0; --left) {
    // Some begin together, at one of four moments.
    const double start =
        random.below(2) == 0 ? span * static_cast<double>(random.below(4)) / 4 : random.uniform(0.001, span);
    if (random.below(3) == 0) {
      problem.works.push_back({start, random.below(nodes), 0, log_uniform(random, 1e6, 1e11), false});
      continue;
    }
    problem.works.push_back(random_transfer(random, nodes, hot, start));
    if (random.below(4) > 0) continue;
    Work back = problem.works.back();  // at the same time, the other way
    std::swap(back.from, back.to);
    back.amount = std::floor(log_uniform(random, 1e4, 1e9));
    problem.works.push_back(back);
  }
  return problem;
}

sim::Topology build(const Problem& problem, sim::Engine& engine) {
  const std::size_t nodes = problem.machines.size();
  switch (problem.kind) {
    case Kind::star:
      return sim::Topology::star(engine, nodes, problem.cable);
    case Kind::fat_tree:
      return sim::Topology::fat_tree(engine, nodes, problem.per_leaf, problem.cable, problem.up);
    case Kind::torus:
      return sim::Topology::torus(engine, problem.sizes, problem.cable);
    default:
      return sim::Topology::arbitrary(engine, nodes, problem.switches, problem.edges);
  }
}

std::vector<double> run_on_tandem(const Problem& problem) {
  sim::Engine engine;
  const sim::Topology network = build(problem, engine);
  std::vector<sim::HostId> hosts;
  for (const Machine& machine : problem.machines)
    hosts.push_back(engine.add_host(machine.flops_a_second, machine.cores));
  const std::size_t count = problem.works.size();
  std::vector<double> completion(count, std::nan(""));
  for (std::size_t i = 0; i < count; ++i) engine.wait_until(problem.works[i].start, i);
  while (const auto* done = engine.next())
    for (const sim::Token token : *done) {
      if (token >= count) {
        completion[token - count] = engine.now();
        continue;
      }
      const Work& work = problem.works[token];
      if (work.transfer) {
        const sim::Route& route = network.route(work.from, work.to);
        engine.transfer(route.links, work.amount, route.latency, count + token, cm02_weight(route.latency));
      } else {
        engine.compute(hosts[work.from], work.amount, count + token);
      }
    }
  return completion;
}

}  // namespace tandem::bench
