#include "search/pareto.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

namespace tandem::search {
namespace {

constexpr double kAlone = std::numeric_limits<double>::infinity();
using Indices = std::vector<std::size_t>;

Indices sorted_by_losses(const std::vector<Losses>& losses) {
  Indices order(losses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return losses[a] < losses[b]; });
  return order;
}

std::vector<int> ranks_of_one(const std::vector<Losses>& losses, const Indices& order) {
  std::vector<int> rank(losses.size());
  int current = -1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || losses[order[i - 1]] != losses[order[i]]) ++current;
    rank[order[i]] = current;
  }
  return rank;
}

// In the order of the first goal, a point is dominated by a front exactly when the front's least second loss
// so far is not above its own; those minima grow with the rank, so the rank is found by bisection.
std::vector<int> ranks_of_two(const std::vector<Losses>& losses, const Indices& order) {
  std::vector<int> rank(losses.size());
  std::vector<double> least;  // of the second goal, one a front
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Losses& here = losses[order[i]];
    if (i > 0 && losses[order[i - 1]] == here) {
      rank[order[i]] = rank[order[i - 1]];
      continue;
    }
    const auto found = std::upper_bound(least.begin(), least.end(), here[1]);
    rank[order[i]] = static_cast<int>(found - least.begin());
    if (found == least.end())
      least.push_back(here[1]);
    else
      *found = here[1];
  }
  return rank;
}

// In lexicographic order nothing is dominated by what comes after it.
std::vector<int> ranks_of_many(const std::vector<Losses>& losses, const Indices& order) {
  std::vector<int> rank(losses.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (rank[order[j]] >= rank[order[i]] && dominates(losses[order[j]], losses[order[i]]))
        rank[order[i]] = rank[order[j]] + 1;
  return rank;
}

double gap(double low, double high, double span) {
  if (high == low) return 0;  // also when both are the same infinity
  const double here = high - low;
  return here < kAlone ? here / span : kAlone;
}

}  // namespace

bool dominates(const Losses& a, const Losses& b) {
  assert(a.size() == b.size());
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

std::vector<int> ranks(const std::vector<Losses>& losses) {
  if (losses.empty()) return {};
  const std::size_t goals = losses.front().size();
  for ([[maybe_unused]] const auto& each : losses) assert(each.size() == goals);
  const Indices order = sorted_by_losses(losses);
  if (goals <= 1) return ranks_of_one(losses, order);
  return goals == 2 ? ranks_of_two(losses, order) : ranks_of_many(losses, order);
}

std::vector<double> crowding(const std::vector<Losses>& losses, const Indices& which) {
  std::vector<double> alone(which.size(), 0);
  const std::size_t goals = which.empty() ? 0 : losses[which.front()].size();
  if (goals <= 1) return alone;  // all of a rank are equal
  Indices order(which.size());
  for (std::size_t goal = 0; goal < goals; ++goal) {
    const auto loss = [&](std::size_t i) { return losses[which[order[i]]][goal]; };
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return losses[which[a]][goal] < losses[which[b]][goal];
    });
    const double span = loss(order.size() - 1) - loss(0);
    if (!(span > 0)) continue;  // all alike: this goal tells nobody apart
    alone[order.front()] = alone[order.back()] = kAlone;
    for (std::size_t i = 1; i + 1 < order.size(); ++i) alone[order[i]] += gap(loss(i - 1), loss(i + 1), span);
  }
  return alone;
}

std::vector<std::size_t> best_first(const std::vector<Losses>& losses, std::size_t most) {
  const std::vector<int> rank = ranks(losses);
  std::vector<Indices> fronts;
  for (std::size_t i = 0; i < rank.size(); ++i) {
    const auto which = static_cast<std::size_t>(rank[i]);
    if (fronts.size() <= which) fronts.resize(which + 1);
    fronts[which].push_back(i);
  }
  Indices out;
  for (auto& members : fronts) {
    if (out.size() >= most) break;
    const std::vector<double> alone = crowding(losses, members);
    Indices place(members.size());
    std::iota(place.begin(), place.end(), std::size_t{0});
    std::stable_sort(place.begin(), place.end(),
                     [&](std::size_t a, std::size_t b) { return alone[a] > alone[b]; });
    for (const auto i : place) out.push_back(members[i]);
  }
  out.resize(std::min(out.size(), most));
  return out;
}

std::vector<std::size_t> front(const std::vector<Losses>& losses) {
  const std::vector<int> rank = ranks(losses);
  Indices out;
  for (std::size_t i = 0; i < rank.size(); ++i)
    if (rank[i] == 0) out.push_back(i);
  return out;
}

}  // namespace tandem::search
