// Courier's SLO test on its authors' own measurements: 500 random jobs, whose cells were never seen.
//
//   slo_bench [SEED]
//
// Then how long an answer takes (answer_time.h), and learning curves of real trainings (curves.h).
//
// A job is cpus (1, 2, 4 or 8) and jobs beside each other (1, 3 or 5) as measured, with an SLO drawn from
// 300 ± 100 s (drawn again where it is not positive). For it all four cells of those cpus and jobs are held
// out: choosers learn from the other 44 (history_without in cells.h says how their runs are made of mean and
// deviation). What a batch size would have taken is drawn from its held-out cell: normal with the cell's mean
// and deviation, again where not positive; the same for every chooser.
//
// Judged are the jobs that some batch size could meet with 95 % by its cell's own distribution. Best in
// hindsight is the most accurate such batch size. Exit code: 0 all floors held; 1 one was missed; 77 the
// tables are not on this machine (TANDEM_DATA).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/error.h"
#include "bench/sim_validation/report.h"
#include "bench/slo/answer_time.h"
#include "bench/slo/cells.h"
#include "bench/slo/choosers.h"
#include "bench/slo/curves.h"

using namespace tandem;
using namespace tandem::bench;

namespace {

constexpr int kJobs = 500;
constexpr double kProbability = 0.95, kMetFloor = 0.98, kGapFloor = 0.5;
const std::vector<int> kBatches = {64, 128, 256, 512};

struct Drawn {
  SloJob job;
  std::map<int, double> seconds;  // by batch size
  int best = 0;                   // the most accurate batch that could meet it as probably as wanted; 0: none
};

double normal_below(double x) {
  return std::erfc(-x / std::sqrt(2.0)) / 2;
}

template <class Draw>
double positive(Draw draw) {
  double out = draw();
  while (out <= 0) out = draw();
  return out;
}

std::vector<Drawn> draw_jobs(const Cells& cells, std::uint64_t seed) {
  Random random(seed, hash_name("jobs"));
  constexpr int cpus[] = {1, 2, 4, 8}, jobs[] = {1, 3, 5};
  std::vector<Drawn> out;
  for (int i = 0; i < kJobs; ++i) {
    Drawn drawn;
    drawn.job = {cpus[random.below(4)], jobs[random.below(3)],
                 positive([&] { return 300 + 100 * random.normal(); })};
    for (const int batch : kBatches) {
      const auto& cell = cells.at({drawn.job.cpus, batch, drawn.job.jobs});
      drawn.seconds[batch] = positive([&] { return cell.mean + cell.deviation * random.normal(); });
      const bool could = normal_below((drawn.job.slo - cell.mean) / cell.deviation) >= kProbability;
      const auto accuracy = [&](int b) { return cells.at({drawn.job.cpus, b, drawn.job.jobs}).accuracy; };
      if (could && (drawn.best == 0 || accuracy(batch) > accuracy(drawn.best))) drawn.best = batch;
    }
    out.push_back(std::move(drawn));
  }
  return out;
}

struct Tally {
  int judged = 0, met = 0, of_all_met = 0, clairvoyant_jobs = 0;
  double gap = 0, clairvoyant_gap = 0, off = 0;  // points; relative errors of predicted means

  void add(const Cells& cells, const Drawn& drawn, const Choice& choice) {
    const auto cell = [&](int batch) { return cells.at({drawn.job.cpus, batch, drawn.job.jobs}); };
    const bool in_time = drawn.seconds.at(choice.batch) <= drawn.job.slo;
    of_all_met += in_time;
    if (drawn.best == 0) return;
    ++judged;
    met += in_time;
    const auto& chosen = cell(choice.batch);
    gap += 100 * (cell(drawn.best).accuracy - chosen.accuracy);
    off += std::abs(choice.seconds - chosen.mean) / chosen.mean;
    double best = 0;
    for (const auto& [batch, seconds] : drawn.seconds)
      if (seconds <= drawn.job.slo) best = std::max(best, cell(batch).accuracy);
    if (best == 0) return;
    ++clairvoyant_jobs;
    clairvoyant_gap += 100 * (best - chosen.accuracy);
  }
  double met_share() const { return static_cast<double>(met) / judged; }
  double mean_gap() const { return gap / judged; }
};

Tally run(Chooser& chooser, const Cells& cells, const std::vector<Drawn>& jobs, std::uint64_t seed) {
  std::map<std::pair<int, int>, std::vector<const Drawn*>> by_column;
  for (const auto& drawn : jobs) by_column[{drawn.job.cpus, drawn.job.jobs}].push_back(&drawn);
  Tally out;
  for (const auto& [column, of_column] : by_column) {
    chooser.learn(history_without(cells, column.first, column.second, seed));
    for (const auto* drawn : of_column) out.add(cells, *drawn, chooser.choose(drawn->job, kBatches));
  }
  return out;
}

// Knows each cell's mean and deviation: what a perfect model would choose.
class Omniscient final : public Chooser {
 public:
  explicit Omniscient(const Cells& cells) : cells_(cells) {}
  std::string name() const override { return "knows every cell, 95 %"; }
  void learn(const std::vector<advise::PastRun>&) override {}
  Choice choose(const SloJob& job, const std::vector<int>& batches) override {
    int best = 0, likeliest = 0;
    const auto sure = [&](int batch) {
      const auto& cell = cells_.at({job.cpus, batch, job.jobs});
      return normal_below((job.slo - cell.mean) / cell.deviation);
    };
    const auto accuracy = [&](int batch) { return cells_.at({job.cpus, batch, job.jobs}).accuracy; };
    for (const int batch : batches) {
      if (likeliest == 0 || sure(batch) > sure(likeliest)) likeliest = batch;
      if (sure(batch) >= kProbability && (best == 0 || accuracy(batch) > accuracy(best))) best = batch;
    }
    const int chosen = best != 0 ? best : likeliest;
    return {chosen, cells_.at({job.cpus, chosen, job.jobs}).mean};
  }

 private:
  const Cells& cells_;
};

std::vector<std::string> line_of(const Chooser& chooser, const Tally& tally, bool predicts) {
  return {chooser.name(),
          percent(tally.met_share()),
          fmt::format("{:+.2f}", tally.mean_gap()),
          fmt::format("{:+.2f}", tally.clairvoyant_gap / tally.clairvoyant_jobs),
          predicts ? percent(tally.off / tally.judged) : "-",
          percent(static_cast<double>(tally.of_all_met) / kJobs)};
}

Section slo_section(const Cells& cells, std::uint64_t seed) {
  const auto jobs = draw_jobs(cells, seed);
  const auto ours = make_advisor(kProbability);
  const auto tally = run(*ours, cells, jobs, seed);
  Section section;
  section.title = fmt::format("{} jobs of Courier's tables, seed {}", kJobs, seed);
  Table table{
      "",
      {"who chooses", "SLO met", "points below hindsight", "below clairvoyance", "time off by", "met of all"},
      {}};
  table.rows.push_back(line_of(*ours, tally, true));
  Omniscient omniscient(cells);
  table.rows.push_back(line_of(omniscient, run(omniscient, cells, jobs, seed), true));
  for (const auto& [chooser, predicts] :
       {std::pair(make_by_point("Courier: forest with jobs, by point", "forest", true), true),
        std::pair(make_by_point("boosting without jobs, by point", "boosting", false), true)}) {
    const auto beside = run(*chooser, cells, jobs, seed);
    table.rows.push_back(line_of(*chooser, beside, predicts));
  }
  const auto random = make_random(seed);
  table.rows.push_back(line_of(*random, run(*random, cells, jobs, seed), false));
  section.show(table);
  section.say(fmt::format(
      "{} of {} jobs could be met with {:.0f} % by some batch size; those are judged, \"of all\" "
      "counts the others too. Clairvoyance saw the drawn times themselves: no promise of {:.0f} % "
      "reaches it, as the line that knows every cell shows.",
      tally.judged, kJobs, 100 * kProbability, 100 * kProbability));
  const bool held = tally.met_share() >= kMetFloor && tally.mean_gap() <= kGapFloor;
  section.summary = fmt::format(
      "SLO met {} (asked: {:.0f} %), {:.2f} points below the best in hindsight (asked: at most {})",
      percent(tally.met_share()), 100 * kMetFloor, tally.mean_gap(), kGapFloor);
  section.verdict = held ? Verdict::held : Verdict::missed;
  return section;
}

}  // namespace

int main(int count, char** words) try {
  const char* named = std::getenv("TANDEM_DATA");
  const std::string data = named ? named : "../shared/data";
  const auto cells = read_cells(data);
  if (cells.empty()) {
    fmt::print("skipped: no {}/courier/fullfactorial-means-48.csv (set TANDEM_DATA)\n", data);
    return 77;
  }
  const std::uint64_t seed = count > 1 ? std::stoull(words[1]) : 1;
  int missed = 0;
  const auto print = [&](const Section& section) {
    fmt::print("{}", as_text(section));
    missed += section.verdict == Verdict::missed;
  };
  print(slo_section(cells, seed));
  print(answer_time_section(seed));
  print(curves_section(data));
  return missed == 0 ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "slo_bench: {}\n", error.what());
  return 2;
}
