#include "search/population.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "search/points.h"

namespace tandem::search {
namespace {

constexpr double kDrawAgain = 0.25, kLess = 0.8, kMore = 1.2;
constexpr int kMostPopulationAttempts = 100;

Value another_choice(const spec::Domain& domain, const Value& value, Random& random) {
  const std::size_t count = domain.choices.size();
  if (count == 1) return value;
  const auto current = static_cast<std::size_t>(position(domain, value) * static_cast<double>(count));
  const auto drawn = static_cast<std::size_t>(random.below(count - 1));
  return domain.choices[drawn < current ? drawn : drawn + 1];
}

Value perturbed_value(const spec::Domain& domain, const Value& value, Random& random) {
  const bool choice = domain.kind == spec::Domain::Kind::choice;
  if (random.uniform() < kDrawAgain)
    return choice ? another_choice(domain, value, random) : at(domain, random.uniform());
  if (choice) return value;
  const double u = position(domain, value) * (random.below(2) == 0 ? kLess : kMore);
  return at(domain, std::min(u, std::nextafter(1.0, 0.0)));
}

bool take(std::vector<TrialId>& from, TrialId id) {
  const auto found = std::find(from.begin(), from.end(), id);
  if (found == from.end()) return false;
  from.erase(found);
  return true;
}

}  // namespace

Values perturbed(const spec::Space& space, const Values& parent, Random& random) {
  for (int attempt = 0; attempt < kMostPopulationAttempts; ++attempt) {
    Values out;
    for (const auto& parameter : space.parameters) {
      if (!spec::exists(parameter, out)) continue;
      const auto before = parent.find(parameter.name);
      out[parameter.name] = before == parent.end()
                                ? at(parameter.domain, random.uniform())
                                : perturbed_value(parameter.domain, before->second, random);
    }
    if (spec::allowed(space, out)) return out;
  }
  return parent;
}

Population::Population(std::int64_t size, std::int64_t max_epochs)
    : Schedule(max_epochs), size_(size), length_(std::max<std::int64_t>(1, max_epochs / 9)), awaited_(size) {}

std::optional<Step> Population::next() const {
  Step step{{}, end_of(generation_), 0, generation_, {}};
  if (!clone_.empty())
    step.clone_from = clone_.front();
  else if (!go_on_.empty())
    step.trial = go_on_.front();
  else if (generation_ > 0 || started() >= size_)
    return std::nullopt;
  return step;
}

void Population::on_asked(const Ask& ask, const std::optional<Trial>& before) {
  const bool planned = before           ? take(go_on_, ask.trial)
                       : ask.clone_from ? take(clone_, *ask.clone_from)
                                        : generation_ == 0 && started() <= size_;
  if (!planned) ++awaited_;  // history had another member
}

void Population::on_told(TrialId id, const Losses& losses, Verdict verdict) {
  if (verdict == Verdict::go_on) return;
  --awaited_;
  rung_.report(id, losses);
  settle();
}

void Population::on_left(TrialId id, State before) {
  if (before == State::running || take(go_on_, id)) --awaited_;
  rung_.lose(id);
  while (take(clone_, id)) {  // its clones begin from the best that is left
    if (go_on_.empty())
      --awaited_;
    else
      clone_.push_back(go_on_.front());
  }
  settle();
}

void Population::no_more_points() {
  assert(generation_ == 0);
  awaited_ -= size_ - started();
  size_ = started();
  settle();
}

void Population::settle() {
  if (awaited_ == 0) end_generation();
}

void Population::end_generation() {
  std::vector<TrialId> order;
  for (TrialId id : rung_.best_first())
    if (trial(id).state == State::held) order.push_back(id);
  const auto reached = static_cast<std::int64_t>(order.size());
  const bool last = reached == 0 || end_of(generation_) == max_epochs();
  const std::int64_t failed = size_ - reached;
  const std::int64_t worst = last ? reached : std::clamp<std::int64_t>(quarter() - failed, 0, reached - 1);
  for (std::int64_t i = 0; i < worst; ++i, order.pop_back()) drop(order.back());
  if (last) return;

  const auto best = std::clamp<std::int64_t>(quarter(), 1, reached - worst);
  for (std::int64_t i = 0; i < failed + worst; ++i)
    clone_.push_back(order[static_cast<std::size_t>(i % best)]);
  go_on_ = std::move(order);
  rung_ = {};
  ++generation_;
  awaited_ = static_cast<std::int64_t>(clone_.size() + go_on_.size());
}

std::int64_t Population::end_of(std::int64_t generation) const {
  return std::min((generation + 1) * length_, max_epochs());
}

std::int64_t Population::quarter() const {
  return size_ >= 2 ? std::max<std::int64_t>(1, size_ / 4) : 0;
}

std::int64_t Population::expected_trials() const {
  if (awaited_ == 0) return started();
  const std::int64_t generations = (max_epochs() + length_ - 1) / length_;
  const std::int64_t unstarted = generation_ == 0 ? std::max<std::int64_t>(0, size_ - started()) : 0;
  return started() + unstarted + static_cast<std::int64_t>(clone_.size()) +
         (generations - 1 - generation_) * quarter();
}

std::int64_t Population::further_epochs() const {
  if (awaited_ == 0) return 0;
  const std::int64_t here = end_of(generation_);
  const std::int64_t unstarted = generation_ == 0 ? std::max<std::int64_t>(0, size_ - started()) : 0;
  const auto to_ask = static_cast<std::int64_t>(clone_.size() + go_on_.size());
  return unstarted * here + to_ask * (here - end_of(generation_ - 1)) + size_ * (max_epochs() - here);
}

}  // namespace tandem::search
