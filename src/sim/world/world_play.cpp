#include "sim/world/world_play.h"

#include <limits>
#include <utility>
#include <vector>

namespace tandem::sim {
namespace {

constexpr Seconds kHoweverLong{std::numeric_limits<double>::infinity()};

class Player {
 public:
  Player(World& world, control::Decider& decider) : world_(world), decider_(decider) {}

  void take(std::vector<Event> events) {
    decided_.clear();
    for (auto& event : events) decide(std::move(event));
    for (const auto& decision : decided_) world_.carry_out(decision, decider_.view());
  }

  bool over() const { return played_.stuck == 0 && world_.all_arrived() && decider_.view().holding.empty(); }

  const Played& played() const { return played_; }

 private:
  void decide(Event event) {
    ++played_.events;
    if (std::holds_alternative<JobSubmitted>(event.body)) ++played_.stuck;
    auto entry = decider_.step(std::move(event));
    for (auto& decision : entry.decisions) {
      ++played_.decisions;
      if (std::holds_alternative<FinishJob>(decision.body)) --played_.stuck;
      decided_.push_back(std::move(decision));
    }
  }

  World& world_;
  control::Decider& decider_;
  std::vector<Decision> decided_;
  Played played_;
};

}  // namespace

Played play(World& world, control::Decider& decider) {
  Player player(world, decider);
  std::vector<Event> events;
  for (auto& node : world.nodes()) events.push_back({world.now(), std::move(node)});
  player.take(std::move(events));
  while (!player.over()) {
    events = world.wait(kHoweverLong);
    if (events.empty()) break;
    player.take(std::move(events));
  }
  return player.played();
}

}  // namespace tandem::sim
