#include "bench/simgrid/on_simgrid.h"

#include <cmath>
#include <optional>
#include <simgrid/s4u.hpp>
#include <string>

#include "bench/simgrid/stopwatch.h"

namespace tandem::bench {
namespace {

namespace s4u = simgrid::s4u;
using Direction = s4u::LinkInRoute::Direction;

// CM02 has factors of 1 for bandwidth and latency and no weight-S; a TCP-gamma of 0 is no window at all.
void configure(Upkeep upkeep) {
  for (const char* setting :
       {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0", "network/weight-S:0",
        "cpu/optim:Lazy", "contexts/factory:raw", "contexts/stack-size:64"})
    s4u::Engine::set_config(setting);
  if (upkeep == Upkeep::lazy) return;
  // By default moments 10 us apart are one, and shares are exact to 1e-5: too coarse for short works.
  for (const char* setting : {"network/optim:Full", "network/maxmin-selective-update:no",
                              "surf/precision:1e-9", "maxmin/precision:1e-9"})
    s4u::Engine::set_config(setting);
}

s4u::Engine& engine() {
  static char program[] = "simgrid_bench", quiet[] = "--log=root.thres:error";
  static char* arguments[] = {program, quiet, nullptr};
  static int count = 2;
  static s4u::Engine made(&count, arguments);
  return made;
}

class Platform {
 public:
  explicit Platform(const Problem& problem) : problem_(problem) {
    switch (problem.kind) {
      case Kind::star:
        star(nullptr);
        break;
      case Kind::uneven_star:
        star(&problem.edges);
        break;
      case Kind::fat_tree:
        fat_tree();
        break;
      case Kind::torus:
        torus();
        break;
      case Kind::graph:
        graph();
        break;
    }
  }
  s4u::Host* host(std::size_t i) const { return hosts_[i]; }

 private:
  s4u::Host* add_host(s4u::NetZone* zone) {
    const Machine& machine = problem_.machines[hosts_.size()];
    hosts_.push_back(zone->create_host("host" + std::to_string(hosts_.size()), machine.flops_a_second));
    return hosts_.back()->set_core_count(machine.cores);
  }

  s4u::Link* add_link(s4u::NetZone* zone, const sim::Cable& cable) {
    const std::string name = "link" + std::to_string(links_++);
    auto* link = zone->create_split_duplex_link(name, cable.bytes_a_second);
    link->set_latency(cable.latency);
    return link;
  }

  void add_node(s4u::NetZone* zone, const sim::Cable& cable) {
    s4u::Host* host = add_host(zone);
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {{add_link(zone, cable), Direction::UP}});
  }

  void star(const std::vector<sim::Topology::Edge>* edges) {
    auto* zone = s4u::create_star_zone("star");
    for (std::size_t i = 0; i < problem_.machines.size(); ++i)
      add_node(zone, edges ? (*edges)[i].cable : problem_.cable);
    zone->seal();
  }

  // A star of stars: each leaf's gateway stands where the leaf's cable to the spine begins.
  void fat_tree() {
    auto* spine = s4u::create_star_zone("spine");
    while (hosts_.size() < problem_.machines.size()) {
      const std::string name = "leaf" + std::to_string(hosts_.size());
      auto* leaf = s4u::create_star_zone(name);
      leaf->set_parent(spine);
      auto* gateway = leaf->create_router(name + "-gateway");
      leaf->add_route(gateway, nullptr, nullptr, nullptr, {});
      for (std::size_t i = 0; i < problem_.per_leaf && hosts_.size() < problem_.machines.size(); ++i)
        add_node(leaf, problem_.cable);
      leaf->seal();
      spine->add_route(leaf->get_netpoint(), nullptr, gateway, nullptr,
                       {{add_link(spine, problem_.up), Direction::UP}});
    }
    spine->seal();
  }

  void torus() {
    const auto node = [this](s4u::NetZone* zone, const std::vector<unsigned long>&, unsigned long) {
      return std::make_pair(add_host(zone)->get_netpoint(),
                            static_cast<simgrid::kernel::routing::NetPoint*>(nullptr));
    };
    const std::vector<unsigned long> sizes(problem_.sizes.begin(), problem_.sizes.end());
    s4u::create_torus_zone("torus", nullptr, sizes, s4u::ClusterCallbacks(node),
                           problem_.cable.bytes_a_second, problem_.cable.latency,
                           s4u::Link::SharingPolicy::SPLITDUPLEX)
        ->seal();
  }

  // SimGrid's own shortest ways count links, ours latency: the routes are given here.
  void graph() {
    auto* zone = s4u::create_full_zone("graph");
    for (std::size_t i = 0; i < problem_.machines.size(); ++i) add_host(zone);
    std::vector<s4u::Link*> links;
    for (const auto& edge : problem_.edges) links.push_back(add_link(zone, edge.cable));
    sim::Engine fresh;  // so that edge e is the links 2e, from a to b, and 2e + 1
    const sim::Topology network = build(problem_, fresh);
    for (std::size_t a = 0; a < hosts_.size(); ++a)
      for (std::size_t b = 0; b < hosts_.size(); ++b) {
        if (a == b) continue;
        std::vector<s4u::LinkInRoute> route;
        for (const sim::LinkId link : network.route(a, b).links)
          route.emplace_back(links[link / 2], link % 2 == 0 ? Direction::UP : Direction::DOWN);
        zone->add_route(hosts_[a]->get_netpoint(), hosts_[b]->get_netpoint(), nullptr, nullptr, route, false);
      }
    zone->seal();
  }

  const Problem& problem_;
  std::vector<s4u::Host*> hosts_;
  std::size_t links_ = 0;
};

Problem platform_of(const Star& star) {
  Problem problem;
  problem.machines.assign(star.hosts, {Star::speed, 1});
  problem.cable = Star::cable;
  return problem;
}

}  // namespace

std::vector<double> run_on_simgrid(const Problem& problem, Upkeep upkeep) {
  s4u::Engine& simulator = engine();
  configure(upkeep);
  const Platform platform(problem);
  std::vector<double> completion(problem.works.size(), std::nan(""));
  for (std::size_t i = 0; i < problem.works.size(); ++i)
    s4u::Actor::create("work", platform.host(problem.works[i].from), [&, i] {
      const Work& work = problem.works[i];
      s4u::this_actor::sleep_until(work.start);
      if (work.transfer)
        s4u::Comm::sendto(platform.host(work.from), platform.host(work.to),
                          static_cast<std::uint64_t>(work.amount));
      else
        s4u::this_actor::execute(work.amount);
      completion[i] = s4u::Engine::get_clock();
    });
  simulator.run();
  return completion;
}

StarRun star_on_simgrid(const Star& star, Way way) {
  s4u::Engine& simulator = engine();
  configure(Upkeep::lazy);
  const Problem problem = platform_of(star);
  const Platform platform(problem);
  std::vector<s4u::Mailbox*> boxes;
  const auto never = s4u::Semaphore::create(0);
  for (std::uint32_t i = 0; i < star.hosts && way == Way::mailbox; ++i) {
    boxes.push_back(s4u::Mailbox::by_name("box" + std::to_string(i)));
    boxes[i]->set_receiver(s4u::Actor::create("receiver", platform.host(i), [never] {
      s4u::Actor::self()->daemonize();
      never->acquire();
    }));
  }
  std::optional<Stopwatch> stopwatch;
  StarRun run;
  for (std::uint32_t i = 0; i < star.hosts; ++i)
    s4u::Actor::create("worker", platform.host(i), [&, i] {
      static int letter = 0;
      if (!stopwatch) stopwatch.emplace();
      for (std::uint32_t k = 0; k < star.rounds; ++k) {
        s4u::this_actor::exec_init(star.flops(i, k))->wait();
        const std::uint32_t to = star.target(i, k);
        const auto bytes = static_cast<std::uint64_t>(star.bytes(i, k));
        if (way == Way::sendto)
          s4u::Comm::sendto(platform.host(i), platform.host(to), bytes);
        else
          boxes[to]->put(&letter, bytes);
        run.completed += 2;
      }
      run.wall = stopwatch->wall(), run.cpu = stopwatch->cpu();
      run.mean_end += s4u::Engine::get_clock() / star.hosts;
    });
  simulator.run();
  run.end = s4u::Engine::get_clock();
  return run;
}

}  // namespace tandem::bench
