#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "place/policy/policies.h"

namespace tandem::place {

Ranking::Ranking(const Policy& policy, std::span<const MachineType> types, Predictor* predictor,
                 std::uint64_t seed)
    : policy_(policy), types_(types), predictor_(predictor), seed_(seed) {
  const bool predicts = policy_.heats || (policy_.kit && policy_.kit->predicts());
  if (predicts && !predictor_)
    throw UserError(fmt::format("policy {} weighs predicted time and energy, and nothing predicts them here",
                                policy_.name));
  for (const auto& type : types) keep_.push_back(policy_.kit ? policy_.kit->keeps_free(type) : Amount{});
}

double Ranking::h_of(std::uint32_t task) const {
  if (!policy_.heats) return 0;
  return policy_.heats->random_h ? Random(seed_, task).uniform() : policy_.heats->h;
}

const std::vector<HeatsScore>& Ranking::scores(std::uint32_t task, std::span<const std::uint32_t> allowed) {
  options_.clear();
  for (const auto type : allowed) {
    options_.push_back({type, predictor_->predict(task, type)});
    auto& predicted = options_.back().predicted;
    if (policy_.heats && policy_.heats->idle) predicted.joules += predicted.idle_joules;
  }
  score(h_of(task), options_, scores_);
  return scores_;
}

void Ranking::rank_by_kit(std::uint32_t task, const TaskRequirements& needs,
                          std::span<const std::uint32_t> allowed, std::span<const Pool> pools) {
  const bool predicts = policy_.kit->predicts();
  Random random(seed_, draw_);
  draw_ = random.bits();
  candidates_.clear();
  for (const auto type : allowed) {
    const auto room = pools[type].room(needs.part, where(type));
    if (!room || (needs.apart && !has_room(needs, pools[type], type))) continue;
    candidates_.push_back({type, *room, {}, random.uniform()});
    if (predicts) candidates_.back().predicted = predictor_->predict(task, type);
  }
  policy_.kit->score(needs, candidates_, types_, sums_);
  std::vector<std::size_t> places(candidates_.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](auto a, auto b) { return sums_[a] > sums_[b]; });
  for (const auto place : places) order_.push_back(candidates_[place].type);
}

const std::vector<std::uint32_t>& Ranking::rank(std::uint32_t task, std::uint32_t attempt,
                                                const TaskRequirements& needs,
                                                std::span<const std::uint32_t> allowed,
                                                std::span<const Pool> pools) {
  draw_ = (static_cast<std::uint64_t>(attempt) << 32) + task;
  order_.clear();
  if (policy_.heats)
    for (const auto& scored : scores(task, allowed)) order_.push_back(scored.type);
  else if (policy_.kit)
    rank_by_kit(task, needs, allowed, pools);
  else
    order_.assign(allowed.begin(), allowed.end());
  return order_;
}

Where Ranking::where(std::uint32_t type, bool apart) const {
  return {policy_.kit ? policy_.kit->nodes : NodeRule::first, draw_, keep_[type], apart};
}

bool Ranking::has_room(const TaskRequirements& needs, const Pool& pool, std::uint32_t type) const {
  if (needs.apart) return pool.has_room_apart(needs.part, needs.parts, keep_[type]);
  return pool.room(needs.part, where(type)).has_value();
}

std::vector<std::uint32_t> Ranking::allowed(const TaskRequirements& needs,
                                            std::span<const std::uint32_t> among) const {
  std::vector<std::uint32_t> out;
  for (const auto type : among) {
    Amount usable = types_[type].node;
    usable.milli_cores -= keep_[type].milli_cores, usable.memory -= keep_[type].memory;
    if (!Pool::could_ever(usable, types_[type].count, needs.part, needs.parts, needs.apart)) continue;
    if (!policy_.kit || policy_.kit->refuses(needs, types_[type]).empty()) out.push_back(type);
  }
  return out;
}

HeatsScore Ranking::last_score(std::uint32_t type) const {
  if (policy_.heats)
    for (const auto& scored : scores_)
      if (scored.type == type) return scored;
  for (std::size_t i = 0; !policy_.heats && i < candidates_.size(); ++i)
    if (candidates_[i].type == type) return {type, sums_[i]};
  return {type};
}

std::vector<Considered> Ranking::explain(std::uint32_t task, const TaskRequirements& needs,
                                         std::span<const std::uint32_t> among, std::span<const Pool> pools) {
  std::vector<Considered> out;
  const auto passed = allowed(needs, among);
  for (const auto type : rank(task, 0, needs, passed, pools)) {
    Considered row{type, has_room(needs, pools[type], type) ? "" : kNoRoom, 0, ""};
    for (const auto& scored : scores_)
      if (policy_.heats && scored.type == type) row.score = scored.score, row.why = why(scored);
    for (std::size_t i = 0; !policy_.heats && i < candidates_.size(); ++i)
      if (candidates_[i].type == type) row.score = sums_[i];
    out.push_back(std::move(row));
  }
  for (const auto type : among) {
    const auto known = [&](const Considered& row) { return row.type == type; };
    if (std::any_of(out.begin(), out.end(), known)) continue;
    const auto refused = policy_.kit ? policy_.kit->refuses(needs, types_[type]) : std::string();
    out.push_back({type, refused.empty() ? std::string(kNoRoom) : refused, 0, ""});
  }
  return out;
}

}  // namespace tandem::place
