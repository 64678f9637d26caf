#include "place/dias/dias_deflator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "stats/queues/marked_model.h"

namespace tandem::place {
namespace {

// Of a class, at one drop ratio and timeout: its time on the slots, and how long it would sprint.
struct Served {
  stats::ServiceTime plain{}, sprinted{};
  double sprints = 0;  // s, mean
};

// Works out each (class, drop, timeout) once, however many choices it appears in.
class Times {
 public:
  explicit Times(const DiasSystem& system) : system_(system) {}

  const Served& of(std::size_t which, double drop, const std::optional<Seconds>& timeout) {
    const std::tuple key{which, drop, timeout ? timeout->value : -1.0};
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    const auto time = processing_time(with_drop(system_.classes[which].job, drop), system_.slots);
    Served served{stats::service_of(time), {}, 0};
    if (timeout) {
      const double speed = system_.power.sprint_speed();
      served.sprinted = stats::sped_up_service(time, timeout->value, speed);
      served.sprints = stats::sped_up_seconds(time, timeout->value, speed);
    }
    return known_.emplace(key, std::move(served)).first->second;
  }

 private:
  const DiasSystem& system_;
  std::map<std::tuple<std::size_t, double, double>, Served> known_;
};

void check_choice(const DiasSystem& system, const DiasChoice& choice) {
  const std::size_t classes = system.classes.size();
  if (choice.drops.size() != classes || choice.timeouts.size() != classes)
    throw UserError(fmt::format("{} classes, but {} drop ratios and {} timeouts: one each", classes,
                                choice.drops.size(), choice.timeouts.size()));
  if (system.arrivals.classes() != classes)
    throw UserError(fmt::format("{} classes arrive, {} are described", system.arrivals.classes(), classes));
  if (system.discipline != stats::Discipline::non_preemptive &&
      std::any_of(choice.timeouts.begin(), choice.timeouts.end(),
                  [](const auto& t) { return t.has_value(); }))
    throw UserError(
        fmt::format("sprinting is for non-preemptive queues, this one is {}: leave the timeouts out",
                    stats::name_of(system.discipline)));
}

template <class Model>
void ask(const Model& model, Detail detail, DiasPrediction& out) {
  out.load = model.load();
  for (std::size_t k = 0; k < out.classes.size(); ++k) {
    out.classes[k].response = model.mean_response(k);
    if (detail == Detail::percentiles) out.classes[k].p95 = model.percentile(k, 0.95);
  }
}

DiasPrediction predict_with(Times& times, const DiasSystem& system, const DiasChoice& choice, Detail detail) {
  check_choice(system, choice);
  const auto rates = stats::mean_rates(system.arrivals);
  DiasPrediction out;
  double wanted = 0;  // seconds of sprint a second
  for (std::size_t k = 0; k < rates.size(); ++k)
    wanted += rates[k] * times.of(k, choice.drops[k], choice.timeouts[k]).sprints;
  if (system.limit && wanted > 0)
    out.sprint_paid = std::min(1.0, system.limit->refill.value / system.power.extra().value / wanted);
  out.sprinting = wanted * out.sprint_paid;
  std::vector<stats::ServiceTime> services;
  for (std::size_t k = 0; k < rates.size(); ++k) {
    const auto& served = times.of(k, choice.drops[k], choice.timeouts[k]);
    services.push_back(!choice.timeouts[k] ? served.plain
                       : out.sprint_paid == 1
                           ? served.sprinted
                           : either_service(out.sprint_paid, served.sprinted, served.plain));
    const double effective = effective_drop(with_drop(system.classes[k].job, choice.drops[k]));
    out.classes.push_back(
        {0, 0, services[k].mean, effective > 0 ? system.classes[k].accuracy.loss(choice.drops[k]) : 0});
  }
  if (system.arrivals.phases() > 1) {
    ask(stats::MarkedModel(system.arrivals, services, system.discipline), detail, out);
  } else {
    std::vector<stats::QueueClass> classes;
    for (std::size_t k = 0; k < rates.size(); ++k) classes.push_back({rates[k], services[k]});
    const stats::PriorityModel model(std::move(classes), system.discipline);
    ask(model, detail, out);
    out.waste = model.waste();
  }
  const double busy = std::min(1.0, out.load);
  out.power = system.power.base * (busy - out.sprinting) + system.power.sprint * out.sprinting +
              system.power.idle * (1 - busy);
  return out;
}

bool meets(const DiasPrediction& predicted, const std::vector<DiasTarget>& targets, Detail detail) {
  for (std::size_t k = 0; k < targets.size(); ++k) {
    const auto& got = predicted.classes[k];
    if (!std::isfinite(got.response)) return false;
    if (targets[k].response && got.response > targets[k].response->value) return false;
    if (detail == Detail::percentiles && targets[k].p95 && got.p95 > targets[k].p95->value) return false;
  }
  return true;
}

double cost_of(Times& times, const DiasSystem& system, const DiasSearch& search,
               const DiasPrediction& predicted) {
  double slowdown = 0, loss = 0;
  for (std::size_t k = 0; k < predicted.classes.size(); ++k) {
    slowdown += predicted.classes[k].response / times.of(k, 0, std::nullopt).plain.mean;
    loss += predicted.classes[k].loss;
  }
  return search.latency * slowdown + search.accuracy * loss +
         search.power * (predicted.power / system.power.base);
}

// Every combination, the first class's options slowest; false at the end.
bool advance(std::vector<std::size_t>& at, const std::vector<std::size_t>& sizes) {
  for (std::size_t i = at.size(); i-- > 0;) {
    if (++at[i] < sizes[i]) return true;
    at[i] = 0;
  }
  return false;
}

struct DropOption {
  double drop = 0;
  std::optional<Seconds> timeout{};
};

std::vector<DropOption> drop_options(const DiasClass& of, const DiasTarget& target, const DiasSearch& search,
                                     bool sprints) {
  std::vector<DropOption> out;
  for (const double drop : search.drops) {
    if (!of.accuracy.knows(drop) || of.accuracy.loss(drop) > target.loss + 1e-12) continue;
    if (!sprints) out.push_back({drop, {}});
    for (const auto& timeout : search.timeouts)
      if (sprints) out.push_back({drop, timeout});
  }
  return out;
}

}  // namespace

AccuracyCurve::AccuracyCurve(std::vector<Point> rising) {
  for (const Point& point : rising) {
    if (!(point.drop > points_.back().drop) || !(point.loss >= points_.back().loss))
      throw UserError(
          fmt::format("an accuracy curve rises: a loss of {} at a drop of {} follows one of {} at {}",
                      point.loss, point.drop, points_.back().loss, points_.back().drop));
    points_.push_back(point);
  }
}

double AccuracyCurve::loss(double drop) const {
  if (!knows(drop))
    throw UserError(
        fmt::format("the loss at a drop of {} was not measured, only up to {}", drop, points_.back().drop));
  if (drop <= 0 || points_.size() == 1) return 0;
  std::size_t i = 1;
  while (i + 1 < points_.size() && points_[i].drop < drop) ++i;
  const Point &from = points_[i - 1], &to = points_[i];
  return from.loss + (to.loss - from.loss) * std::min(1.0, (drop - from.drop) / (to.drop - from.drop));
}

double AccuracyCurve::most_drop(double loss) const {
  std::size_t i = points_.size() - 1;
  if (points_[i].loss <= loss) return points_[i].drop;
  while (points_[i].loss > loss) --i;
  const Point &from = points_[i], &to = points_[i + 1];
  return from.drop + (to.drop - from.drop) * (loss - from.loss) / (to.loss - from.loss);
}

DiasPrediction predict(const DiasSystem& system, const DiasChoice& choice, Detail detail) {
  Times times(system);
  return predict_with(times, system, choice, detail);
}

std::optional<DiasDecision> choose(const DiasSystem& system, const std::vector<DiasTarget>& targets,
                                   const DiasSearch& search) {
  const std::size_t classes = system.classes.size();
  if (targets.size() != classes)
    throw UserError(fmt::format("{} classes, but {} targets: one each", classes, targets.size()));
  Times times(system);
  std::vector<std::vector<DropOption>> options;
  std::vector<std::size_t> sizes;
  for (std::size_t k = 0; k < classes; ++k) {
    const bool sprints = k < search.sprints.size() && search.sprints[k];
    options.push_back(drop_options(system.classes[k], targets[k], search, sprints));
    sizes.push_back(options.back().size());
    if (options.back().empty()) return std::nullopt;  // not even the smallest offered drop is allowed
  }
  const bool tails =
      std::any_of(targets.begin(), targets.end(), [](const auto& t) { return t.p95.has_value(); });
  std::optional<DiasDecision> best;
  std::size_t tried = 0, feasible = 0;
  std::vector<std::size_t> at(classes, 0);
  do {
    DiasChoice choice;
    for (std::size_t k = 0; k < classes; ++k) {
      choice.drops.push_back(options[k][at[k]].drop);
      choice.timeouts.push_back(options[k][at[k]].timeout);
    }
    ++tried;
    auto predicted = predict_with(times, system, choice, Detail::means);
    if (!meets(predicted, targets, Detail::means)) continue;
    if (tails) predicted = predict_with(times, system, choice, Detail::percentiles);
    if (tails && !meets(predicted, targets, Detail::percentiles)) continue;
    ++feasible;
    const double cost = cost_of(times, system, search, predicted);
    if (!best || cost < best->cost) best = DiasDecision{choice, predicted, cost, 0, 0};
  } while (advance(at, sizes));
  if (best) best->tried = tried, best->feasible = feasible;
  return best;
}

}  // namespace tandem::place
