// Every regression on Courier's measured runs, ten folds, ten times, beside the paper and scikit-learn.
//
//   courier_bench --folds FILE    writes the folds, for beside.py
//   courier_bench [--beside FILE] [--quick]
//
// Exit code: 0 all floors held; 1 one was missed; 77 the runs are not on this machine (TANDEM_DATA).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>

#include "base/error.h"
#include "bench/courier/runs.h"
#include "bench/sim_validation/report.h"
#include "stats/regression/conformal.h"

using namespace tandem;
using namespace tandem::bench;
using namespace tandem::stats;

namespace {

constexpr double kLevel = 0.9, kOursAtLeast = 0.985;
const std::vector<std::string> kThree = {"batch", "cores", "jobs"},
                               kFour = {"batch", "cores", "jobs", "processes"}, kTwo = {"batch", "cores"};

struct Candidate {
  std::string label, regression;
  std::vector<std::string> columns;
};

// Models of times alone have nothing to say of accuracy.
std::vector<Candidate> candidates(bool of_time) {
  std::vector<Candidate> out;
  for (const auto& entry : regressions())
    if (of_time || (entry.name != "queueing" && entry.name != "physical"))
      out.push_back({entry.name, entry.name, kThree});
  out.push_back({"forest, with processes", "forest", kFour});
  out.push_back({"boosting, with processes", "boosting", kFour});
  if (of_time) out.push_back({"boosting, without jobs", "boosting", kTwo});
  return out;
}

const std::map<std::string, std::string> kPaperTime = {{"anova", "0.640"},
                                                       {"queueing", "0.833"},
                                                       {"forest, with processes", "0.986"},
                                                       {"boosting, without jobs", "0.889"}},
                                         kPaperAccuracy = {{"anova", "0.957"},
                                                           {"forest, with processes", "0.971"},
                                                           {"boosting", "0.971"}};

struct Counted {
  std::size_t inside = 0, asked = 0;
};

// Of nominal intervals around held-out rows, each by a model that saw none of its fold.
Counted coverage(const Candidate& candidate, const Examples& examples, std::size_t repeats) {
  Counted out;
  for (std::size_t repeat = 1; repeat <= repeats; ++repeat) {
    const auto fold = deal_folds(examples.targets.size(), {.seed = repeat});
    for (std::size_t held = 0; held < 10; ++held) {
      std::vector<double> rows, targets;
      for (std::size_t i = 0; i < fold.size(); ++i) {
        if (fold[i] == held) continue;
        const auto row = examples.rows.subspan(i * examples.columns, examples.columns);
        rows.insert(rows.end(), row.begin(), row.end());
        targets.push_back(examples.targets[i]);
      }
      Conformal model(maker(candidate.regression, candidate.columns));
      model.fit({rows, targets, examples.columns});
      for (std::size_t i = 0; i < fold.size(); ++i) {
        if (fold[i] != held) continue;
        const auto [low, high] =
            model.at(examples.rows.subspan(i * examples.columns, examples.columns)).interval(kLevel);
        out.inside += low <= examples.targets[i] && examples.targets[i] <= high;
        ++out.asked;
      }
    }
  }
  return out;
}

std::string importances(const Candidate& candidate, const Examples& examples) {
  const auto found = permutation_importance(maker(candidate.regression, candidate.columns), examples);
  std::string out;
  for (std::size_t i = 0; i < found.size(); ++i)
    out += fmt::format("{}{} {:.2f}", i ? ", " : "", candidate.columns[i], found[i]);
  return out;
}

struct Found {
  std::map<std::string, double> r2;  // by label
  Counted covered;
};

Found table_of(const CourierRuns& runs, bool of_time, const nlohmann::json& beside, bool quick) {
  const auto& targets = of_time ? runs.seconds : runs.accuracy;
  const auto& paper = of_time ? kPaperTime : kPaperAccuracy;
  Section section;
  section.title = of_time ? "Time" : "Accuracy";
  Table table{"",
              {"model", "R²", "least..most", "MSE", "MAPE", "median", "90 % holds", "the paper's R²",
               "importance (fall of R²)"},
              {}};
  Found out;
  const auto mse = [&](double value) { return of_time ? plain(value, 0) : fmt::format("{:.2e}", value); };
  for (const auto& candidate : candidates(of_time)) {
    const auto rows = rows_of(runs, candidate.columns);
    const Examples examples{rows, targets, candidate.columns.size()};
    const auto all =
        repeated_metrics(maker(candidate.regression, candidate.columns), examples, {}, quick ? 2 : kRepeats);
    const auto [least, most] =
        std::minmax_element(all.begin(), all.end(), [](auto& a, auto& b) { return a.r2 < b.r2; });
    const Metrics middle = mean(all);
    const Counted covered = coverage(candidate, examples, quick ? 1 : 5);
    out.r2[candidate.label] = middle.r2;
    out.covered.inside += covered.inside, out.covered.asked += covered.asked;
    table.rows.push_back({candidate.label, plain(middle.r2, 3),
                          fmt::format("{:.3f}..{:.3f}", least->r2, most->r2), mse(middle.mse),
                          percent(middle.mape), percent(middle.median_ape),
                          percent(static_cast<double>(covered.inside) / static_cast<double>(covered.asked)),
                          paper.contains(candidate.label) ? paper.at(candidate.label) : "–",
                          importances(candidate, examples)});
  }
  for (const auto& row : beside) {
    if (row.at("target").get<std::string>() != (of_time ? "time" : "accuracy")) continue;
    const std::string label = "scikit-learn's " + row.at("model").get<std::string>();
    out.r2[label] = row.at("r2");
    table.rows.push_back({label, plain(row.at("r2"), 3), "", mse(row.at("mse")), percent(row.at("mape")),
                          percent(row.at("median_ape")), "–", "–", "–"});
  }
  section.show(table);
  const auto best = std::max_element(out.r2.begin(), out.r2.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  section.summary = fmt::format("the best here is {}", best->first);
  fmt::print("{}", as_text(section));
  return out;
}

void print_grids(const CourierRuns& runs) {
  const auto rows = rows_of(runs, kThree);
  const Examples examples{rows, runs.seconds, 3};
  const Metrics spread = metrics(runs.seconds, std::vector<double>(runs.count(), 0.0));
  const double variance = spread.mse / (1 - spread.r2);
  for (const char* name : {"forest", "boosting"}) {
    const auto found = grid_search(name, kThree, usual_grid(name), examples, {.folds = 5});
    fmt::print(
        "grid search, 5-fold, time: {} is the best {} of {} (R² {:.3f}, which choosing makes too good)\n",
        found.front().regression, name, found.size(), 1 - found.front().mse / variance);
  }
}

// Floors; true when all held.
bool judge(const Found& time, const Counted& covered) {
  bool ok = true;
  const auto line = [&](const std::string& what, double value, double asked) {
    ok = ok && value >= asked;
    fmt::print("{}: {:.3f} (at least {:.3f}): {}\n", what, value, asked, value >= asked ? "held" : "MISSED");
  };
  if (time.r2.contains("physical"))
    line("R² of time, physical", time.r2.at("physical"), kOursAtLeast);
  else
    fmt::print("R² of time, physical: not here\n");
  if (time.r2.contains("scikit-learn's forest"))
    line("R² of time, our forest beside scikit-learn's less 0.01", time.r2.at("forest"),
         time.r2.at("scikit-learn's forest") - 0.01);
  const double share = static_cast<double>(covered.inside) / static_cast<double>(covered.asked);
  const bool calibrated = share >= 0.87 && share <= 0.93;
  fmt::print("90 % intervals, pooled over models and both targets: {} of {} = {} (87 to 93 %): {}\n",
             covered.inside, covered.asked, percent(share), calibrated ? "held" : "MISSED");
  return ok && calibrated;
}

void write_folds(const std::string& path, std::size_t count) {
  nlohmann::json out = nlohmann::json::array();
  for (std::size_t repeat = 1; repeat <= kRepeats; ++repeat)
    out.push_back(deal_folds(count, {.seed = repeat}));
  std::ofstream file(path);
  file << out;
  if (!file.flush()) throw UserError("the folds cannot be written to " + path);
}

}  // namespace

int main(int argc, char** argv) try {
  const char* data = std::getenv("TANDEM_DATA");
  const auto runs = read_courier(data ? data : "../shared/data");
  if (!runs) {
    fmt::print("skipped: courier/lenet5-bigdl-48.csv is not in TANDEM_DATA ({})\n",
               data ? data : "../shared/data");
    return 77;
  }
  nlohmann::json beside = nlohmann::json::array();
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--folds" && i + 1 < argc) return write_folds(argv[i + 1], runs->count()), 0;
    if (word == "--beside" && i + 1 < argc) {
      std::ifstream in(argv[++i]);
      beside = nlohmann::json::parse(in);
    } else if (word == "--quick") {
      quick = true;
    } else {
      throw UserError("usage: courier_bench [--folds FILE] [--beside FILE] [--quick]");
    }
  }
  fmt::print(
      "{} runs, 10 folds, {} times: R² of all held-out predictions of a deal, mean over deals.\n"
      "The paper's R² are of other data (288 runs, topology a factor) and another split (80/20, once).\n",
      runs->count(), quick ? 2 : kRepeats);
  const Found time = table_of(*runs, true, beside, quick), accuracy = table_of(*runs, false, beside, quick);
  if (!quick) print_grids(*runs);
  return judge(time,
               {time.covered.inside + accuracy.covered.inside, time.covered.asked + accuracy.covered.asked})
             ? 0
             : 1;
} catch (const UserError& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
