#include "search/composed.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "search/points.h"
#include "search/population.h"

namespace tandem::search {
namespace {

class Composed final : public Searcher {
 public:
  Composed(std::unique_ptr<Schedule> schedule, std::unique_ptr<Sampler> sampler, const spec::Space& space,
           std::size_t goals, std::uint64_t seed)
      : schedule_(std::move(schedule)),
        sampler_(std::move(sampler)),
        space_(space),
        goals_(goals),
        seed_(seed) {}

  std::optional<Ask> ask() override {
    auto step = schedule_->next();
    if (!step) return std::nullopt;
    const auto trial = step->trial.value_or(static_cast<TrialId>(points_.size()));
    auto point = step->trial ? point_of(trial) : new_point(trial, *step);
    if (!point) {
      schedule_->no_more_points();
      return ask();  // a held trial may go on now; there is no new one any more
    }
    Ask next{trial, *std::move(point), step->until, step->bracket, step->rung, step->clone_from};
    asked(next);
    return next;
  }

  void asked(const Ask& ask) override {
    const auto known = static_cast<TrialId>(points_.size());
    assert(ask.trial >= 0 && ask.trial <= known);
    if (ask.trial == known) {
      points_.push_back(ask.point);
      sampler_->began(ask.trial, ask.point);
    }
    schedule_->asked(ask);
  }

  Verdict tell(TrialId trial, std::int64_t epoch, const Losses& losses) override {
    const Verdict verdict = schedule_->judge(trial, epoch, losses);
    told(trial, epoch, losses, verdict);
    return verdict;
  }

  void told(TrialId trial, std::int64_t epoch, const Losses& losses, Verdict verdict) override {
    assert(losses.size() == goals_);
    assert(std::none_of(losses.begin(), losses.end(), [](double loss) { return std::isnan(loss); }));
    sampler_->observe(trial, epoch, losses);
    schedule_->told(trial, epoch, losses, verdict);
  }

  void left(TrialId trial) override {
    if (schedule_->left(trial)) sampler_->failed(trial);
  }

  void ended(TrialId trial) override { schedule_->left(trial); }

  std::vector<TrialId> dropped() override { return schedule_->dropped(); }
  bool finished() const override { return schedule_->finished(); }
  std::int64_t expected_trials() const override { return schedule_->expected_trials(); }
  std::int64_t expected_epochs() const override { return schedule_->expected_epochs(); }

 private:
  std::optional<Values> new_point(TrialId trial, const Step& step) {
    Random random(seed_, static_cast<std::uint64_t>(trial));
    if (step.clone_from) return perturbed(space_, point_of(*step.clone_from), random);
    return sampler_->sample(trial, random);
  }
  const Values& point_of(TrialId trial) const { return points_.at(static_cast<std::size_t>(trial)); }

  std::unique_ptr<Schedule> schedule_;
  std::unique_ptr<Sampler> sampler_;
  spec::Space space_;
  std::size_t goals_;
  std::uint64_t seed_;
  std::vector<Values> points_;
};

class SometimesRandom final : public Sampler {
 public:
  SometimesRandom(std::unique_ptr<Sampler> inner, const spec::Space& space, double fraction)
      : inner_(std::move(inner)), space_(space), fraction_(fraction) {}

  std::optional<Values> sample(TrialId trial, Random& random) override {
    if (random.uniform() < fraction_) return draw(space_, random);
    return inner_->sample(trial, random);
  }
  void began(TrialId trial, const Values& point) override { inner_->began(trial, point); }
  void observe(TrialId trial, std::int64_t epoch, const Losses& losses) override {
    inner_->observe(trial, epoch, losses);
  }
  void failed(TrialId trial) override { inner_->failed(trial); }

 private:
  std::unique_ptr<Sampler> inner_;
  spec::Space space_;
  double fraction_;
};

class BeginAt final : public Sampler {
 public:
  BeginAt(std::unique_ptr<Sampler> inner, const spec::Space& space, std::vector<Values> known)
      : inner_(std::move(inner)), space_(space), known_(std::move(known)) {}

  std::optional<Values> sample(TrialId trial, Random& random) override {
    const auto known = static_cast<TrialId>(known_.size());
    if (trial < known) return completed(space_, known_[static_cast<std::size_t>(trial)], random);
    return inner_->sample(trial - known, random);
  }
  void began(TrialId trial, const Values& point) override { inner_->began(trial, point); }
  void observe(TrialId trial, std::int64_t epoch, const Losses& losses) override {
    inner_->observe(trial, epoch, losses);
  }
  void failed(TrialId trial) override { inner_->failed(trial); }

 private:
  std::unique_ptr<Sampler> inner_;
  spec::Space space_;
  std::vector<Values> known_;
};

}  // namespace

std::unique_ptr<Sampler> begin_at(std::unique_ptr<Sampler> inner, const spec::Space& space,
                                  std::vector<Values> known) {
  if (known.empty()) return inner;
  return std::make_unique<BeginAt>(std::move(inner), space, std::move(known));
}

std::unique_ptr<Searcher> compose(std::unique_ptr<Schedule> schedule, std::unique_ptr<Sampler> sampler,
                                  const spec::Space& space, std::size_t goals, std::uint64_t seed) {
  return std::make_unique<Composed>(std::move(schedule), std::move(sampler), space, goals, seed);
}

std::unique_ptr<Sampler> sometimes_random(std::unique_ptr<Sampler> inner, const spec::Space& space,
                                          double fraction) {
  return std::make_unique<SometimesRandom>(std::move(inner), space, fraction);
}

}  // namespace tandem::search
