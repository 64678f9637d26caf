// How long regressions take to learn from ten thousand past runs, and to answer with intervals.
//
//   model_speed_bench --rows FILE           writes the runs as CSV, for beside.py
//   model_speed_bench [--beside FILE]       FILE: scikit-learn's seconds by model
//
// Learning: one model, no grid search, under 5 s. Answering: two hundred candidates with an interval and the
// probability to be in time, under 50 ms. Judged by processor time, which others on the machine do not
// change; everything runs on one thread. Exit code: 0 all held; 1 something was missed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "bench/sim_validation/report.h"
#include "bench/simgrid/stopwatch.h"
#include "stats/regression/conformal.h"

using namespace tandem;
using namespace tandem::bench;
using namespace tandem::stats;

namespace {

constexpr std::size_t kRows = 10000, kCandidates = 200;
constexpr double kLearnSeconds = 5, kAnswerSeconds = 0.05;
constexpr int kAnswers = 9;
const std::vector<std::string> kColumns = {"batch", "cores", "jobs", "records", "epochs"};

struct Runs {
  std::vector<double> rows, seconds;
};

// Steps that compute, synchronise and wait for those beside them, with noise of a few per cent.
Runs drawn(std::size_t count, std::uint64_t seed) {
  Runs out;
  Random random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const double batch = std::pow(2, std::floor(random.uniform(4, 11))),
                 cores = 1 + static_cast<double>(random.below(16));
    const double jobs = 1 + static_cast<double>(random.below(6)),
                 epochs = 1 + static_cast<double>(random.below(20));
    const double records = std::floor(random.uniform(5000, 60000));
    const double step = 0.002 + 0.0005 * cores + batch / cores * 2e-4 * (1 + 0.02 * jobs * cores);
    out.rows.insert(out.rows.end(), {batch, cores, jobs, records, epochs});
    out.seconds.push_back(records * epochs / batch * step * std::exp(0.05 * random.normal()));
  }
  return out;
}

void write_rows(const std::string& path, const Runs& runs) {
  std::ofstream file(path);
  for (std::size_t i = 0; i < runs.seconds.size(); ++i) {
    for (std::size_t c = 0; c < kColumns.size(); ++c) file << runs.rows[i * kColumns.size() + c] << ',';
    file << runs.seconds[i] << '\n';
  }
  if (!file.flush()) throw UserError("the runs cannot be written to " + path);
}

struct Took {
  double learn = 0, intervals = 0, answer = 0, read = 0;
  std::size_t bytes = 0;
};

Took time_of(const std::string& name, const Runs& past, const Runs& asked) {
  Took out;
  const auto model = make_regression(name, kColumns);
  const Stopwatch learning;
  model->fit(past.rows, past.seconds);
  out.learn = learning.cpu();
  Conformal intervals(maker(name, kColumns));
  const Stopwatch conformal;
  intervals.fit({past.rows, past.seconds, kColumns.size()});
  out.intervals = conformal.cpu();
  std::vector<double> answers;
  double sum = 0;  // kept, so that nothing is left out as unused
  for (int i = 0; i < kAnswers; ++i) {
    const Stopwatch answering;
    for (const Outcome& outcome : intervals.at_rows(asked.rows, kColumns.size()))
      sum += outcome.interval(0.9).low + outcome.probability_at_most(300);
    answers.push_back(answering.cpu());
  }
  if (!std::isfinite(sum)) fmt::print("  {}: some intervals are not finite\n", name);
  out.answer = median(answers);
  const auto stored = nlohmann::json::to_cbor(intervals.written());
  out.bytes = stored.size();
  const Stopwatch reading;
  Conformal::read(nlohmann::json::from_cbor(stored));
  out.read = reading.cpu();
  return out;
}

bool show(const nlohmann::json& beside) {
  const Runs past = drawn(kRows, 1), asked = drawn(kCandidates, 2);
  Section section;
  section.title = "Speed of the regressions";
  Table table{fmt::format("{} runs of {} columns; seconds of one processor", kRows, kColumns.size()),
              {"model", "to learn", "scikit-learn", "with intervals", "200 answers (ms)", "stored (MB)",
               "to read (ms)", ""},
              {}};
  bool ok = true;
  for (const auto& entry : regressions()) {
    const Took took = time_of(entry.name, past, asked);
    const bool held = took.learn < kLearnSeconds && took.answer < kAnswerSeconds;
    ok = ok && held;
    table.rows.push_back({entry.name, plain(took.learn, 3),
                          beside.contains(entry.name) ? plain(beside.at(entry.name), 3) : "–",
                          plain(took.intervals, 2), plain(1000 * took.answer, 2),
                          plain(static_cast<double>(took.bytes) / 1e6, 2), plain(1000 * took.read, 1),
                          held ? "held" : "MISSED"});
  }
  section.show(table);
  section.summary = "learning under 5 s, answering under 50 ms";
  section.verdict = ok ? Verdict::held : Verdict::missed;
  fmt::print("{}", as_text(section));
  return ok;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word == "--rows" && argc == 3) return write_rows(argv[2], drawn(kRows, 1)), 0;
  nlohmann::json beside = nlohmann::json::object();
  if (word == "--beside" && argc == 3) {
    std::ifstream in(argv[2]);
    beside = nlohmann::json::parse(in);
  } else if (argc > 1) {
    throw UserError("usage: model_speed_bench [--rows FILE | --beside FILE]");
  }
  return show(beside) ? 0 : 1;
} catch (const UserError& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
