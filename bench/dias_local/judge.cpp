// What is asked of bench/dias_local. Directions are judged on means: of a few high jobs the 95th percentile
// is the slowest one.
#include <fmt/format.h>

#include <cmath>

#include "bench/dias_local/compare.h"

namespace tandem::bench {
namespace {

constexpr double kDirection = 0.10;  // less than this, said by the simulator, is no direction
constexpr double kFallsMuch = -0.30, kRisesLittle = 0.25;

double change(const Outcome& now, const Outcome& before, std::size_t which) {
  return now.classes[which].mean / before.classes[which].mean - 1;
}

class Judging {
 public:
  void ask(const std::string& what, const std::string& asked, const std::string& measured, bool ok) {
    ++(ok ? out.held : out.missed);
    out.table.rows.push_back({what, asked, measured, ok ? "ok" : "MISSED"});
  }
  void tell(const std::string& what, const std::string& asked, const std::string& measured) {
    out.table.rows.push_back({what, asked, measured, "not judged"});
  }

  Judged out{{"Asked and measured, changes against P", {"what", "asked", "measured", ""}, {}}};
};

void judge_direction(Judging& judging, const Comparison& one, const Comparison& first, std::size_t which) {
  const double here = change(one.here, first.here, which), there = change(one.there, first.there, which);
  const auto what = fmt::format("{}: {} mean", one.contender.name, kNames[which]);
  if (std::fabs(there) < kDirection)
    judging.tell(what, "the simulator's: " + signed_percent(there) + ", no direction", signed_percent(here));
  else
    judging.ask(
        what, fmt::format("{}, as the simulator's {}", there < 0 ? "falls" : "rises", signed_percent(there)),
        signed_percent(here), (here < 0) == (there < 0));
}

void judge_waste(Judging& judging, const std::vector<Comparison>& all) {
  judging.ask(all[0].contender.name + ": waste", "some, as the simulator's " + percent(all[0].there.waste),
              percent(all[0].here.waste), (all[0].here.waste > 0) == (all[0].there.waste > 0));
  for (std::size_t i = 1; i < all.size(); ++i)
    judging.ask(all[i].contender.name + ": waste", "none", percent(all[i].here.waste),
                all[i].here.waste == 0);
}

void judge_energy(Judging& judging, const Comparison& one, const Comparison& first) {
  const std::string what = one.contender.name + ": energy";
  if (!one.here.joules || !first.here.joules) return judging.tell(what, "falls", "no source of energy");
  const double here = *one.here.joules / *first.here.joules - 1,
               there = *one.there.joules / *first.there.joules - 1;
  judging.ask(what, "falls, as the simulator's " + signed_percent(there), signed_percent(here), here < 0);
}

}  // namespace

Judged judge(const std::vector<Comparison>& all, double low_loss) {
  Judging judging;
  judge_waste(judging, all);
  const Comparison& first = all[0];
  for (std::size_t i = 1; i < all.size(); ++i)
    for (const std::size_t which : {kHigh, kLow}) judge_direction(judging, all[i], first, which);
  for (std::size_t i = 2; i < all.size(); ++i) {
    const auto& one = all[i];
    const double low = change(one.here, first.here, kLow), high = change(one.here, first.here, kHigh);
    judging.ask(one.contender.name + ": low mean falls much", "at most " + signed_percent(kFallsMuch),
                signed_percent(low), low <= kFallsMuch);
    if (one.contender.choice.timeouts[kHigh])
      judging.ask(one.contender.name + ": high mean does not rise much",
                  "at most " + signed_percent(kRisesLittle), signed_percent(high), high <= kRisesLittle);
    judge_energy(judging, one, first);
    judging.ask(one.contender.name + ": low loses", "at most " + percent(low_loss, 0),
                percent(one.here.classes[kLow].loss), one.here.classes[kLow].loss <= low_loss);
  }
  return judging.out;
}

}  // namespace tandem::bench
