// The core of the simulator: a clock, and activities that take time on shared resources.
//
// An activity is a computation on a host, a transfer over links, or a wait. Whoever starts one gives it a
// token and gets the token back when it is complete:
//
//     Engine engine;
//     const auto host = engine.add_host(1e9, 1);
//     engine.compute(host, 2e9, 7);
//     while (const auto* done = engine.next()) { ... }   // at engine.now() == 2, done == {7}
//
// A host's cores are shared equally by its computations, at most one core each. A transfer first takes its
// latency, then its share of the links (sharing.h). Time is virtual: nothing waits, and there is no state
// outside the object, so many engines can run side by side. Equal runs are equal to the last bit: what
// completes at the same moment comes back in the order in which its completion was determined. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/heap.h"
#include "sim/engine/sharing.h"

namespace tandem::sim {

using HostId = std::uint32_t;
using Token = std::uint64_t;

// Names an activity until it is complete; another one with the same slot has another generation.
struct ActivityId {
  std::uint32_t slot = ~std::uint32_t{0};
  std::uint32_t generation = 0;
  bool operator==(const ActivityId&) const = default;
};

class Engine {
 public:
  double now() const { return now_; }

  HostId add_host(double flops_a_second, int cores);  // a core's; both > 0
  // From now on; 0 cores stop what runs there.
  void set_host(HostId, double flops_a_second, int cores);
  LinkId add_link(double bytes_a_second) { return sharing_.add_link(bytes_a_second); }
  void set_link(LinkId link, double bytes_a_second) { sharing_.set_capacity(link, bytes_a_second); }

  ActivityId compute(HostId, double flops, Token);
  // `weight`: its share where links are contended; `bound`: its rate at most, bytes a second.
  ActivityId transfer(std::span<const LinkId> route, double bytes, double latency, Token, double weight = 1,
                      double bound = kUnbounded);
  ActivityId wait_until(double time, Token);
  // Takes it away; its token does not come back. What is left of it: flops, bytes, or seconds. Nothing
  // happens, and 0 is returned, when it is complete already.
  double cancel(ActivityId);
  bool alive(ActivityId) const;

  // Goes on to the next moment at which something completes and returns the tokens, at least one; nullptr
  // when nothing will complete any more. Valid until the next call.
  const std::vector<Token>* next();

  std::size_t active() const { return active_; }
  std::uint64_t completed() const { return completed_; }
  // Of a host: computations running. Of a link: bytes a second at this moment.
  std::size_t computing(HostId host) const { return hosts_[host].running.size(); }
  double used(LinkId);

 private:
  enum class Kind : std::uint8_t { none, compute, latency, transfer, wait };
  struct Activity {
    Token token;
    double left, rate, updated;  // `left` was true at `updated`
    double weight, bound;        // of a transfer
    std::uint32_t resource;      // host, or flow
    std::uint32_t place;         // in its host's list, or in routes_ during its latency
    std::uint32_t generation;
    Kind kind;
  };
  struct Host {
    double speed;
    int cores;
    bool dirty = false;
    std::vector<std::uint32_t> running;
  };

  std::uint32_t slot(Kind, Token, double left);
  void free(std::uint32_t slot);
  void touch(HostId);
  void leave_host(std::uint32_t slot);
  void begin_transfer(std::uint32_t slot, std::span<const LinkId> route);
  void set_rate(std::uint32_t slot, double rate);
  void settle();
  void complete(std::uint32_t slot);

  double now_ = 0;
  Heap heap_;
  Sharing sharing_;
  std::vector<Host> hosts_;
  std::vector<HostId> dirty_hosts_;
  std::vector<Activity> activities_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> of_flow_;       // activity of each flow
  std::vector<std::vector<LinkId>> routes_;  // of transfers in their latency
  std::vector<std::uint32_t> free_routes_;
  std::vector<Token> done_;
  std::size_t active_ = 0;
  std::uint64_t completed_ = 0;
};

}  // namespace tandem::sim
