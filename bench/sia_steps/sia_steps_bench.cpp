// Our physical model on measured steps of distributed training, beside scikit-learn's forest: ten folds, and
// trained on at most half of the GPUs, tested on more.
//
// Ten folds are judged on the placements files, one for every application and cluster: on them, and on no
// other reading of the data, the forest is off by the 2.3 to 12.9 % that the floor speaks of (beside.py), and
// only they have permuted placements. On the scalability files they are shown for information. Which files
// are meant by more GPUs no figure tells: all are judged, and intervals are pooled over all.
//
//   sia_steps_bench --folds FILE    writes rows and folds, for beside.py
//   sia_steps_bench [--beside FILE]
//
// Exit code: 0 all floors held; 1 one was missed; 77 the data is not on this machine (TANDEM_DATA).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>

#include "base/error.h"
#include "bench/sia_steps/rows.h"
#include "bench/sim_validation/report.h"
#include "stats/regression/conformal.h"

using namespace tandem;
using namespace tandem::bench;
using namespace tandem::stats;

namespace {

constexpr double kFarOff = 0.12, kNoise = 1.1, kLevel = 0.9;

std::vector<bool> at_most_half(const StepSet& set) {
  double most = 0;
  for (std::size_t i = 0; i < set.count(); ++i) most = std::max(most, set.gpus(i));
  std::vector<bool> out;
  for (std::size_t i = 0; i < set.count(); ++i) out.push_back(set.gpus(i) <= most / 2);
  return out;
}

Metrics beyond(const StepSet& set) {
  auto small = at_most_half(set);
  const StepSet known = set.only(small);
  small.flip();
  const StepSet more = set.only(small);
  const auto model = make_regression("physical", kStepColumns);
  model->fit(known.rows, known.seconds);
  return metrics(more.seconds, model->predict_rows(more.rows, kStepColumns.size()));
}

struct Covered {
  std::size_t inside = 0, asked = 0;
};

// Intervals from half of the rows around the other half.
void cover(const StepSet& set, Covered& out) {
  const auto fold = deal_folds(set.count(), {.folds = 2});
  std::vector<bool> known;
  for (const auto each : fold) known.push_back(each == 0);
  const StepSet seen = set.only(known);
  known.flip();
  const StepSet unseen = set.only(known);
  Conformal model(maker("physical", kStepColumns));
  model.fit(seen.examples());
  for (std::size_t i = 0; i < unseen.count(); ++i) {
    const auto [low, high] = model.at(unseen.row(i)).interval(kLevel);
    out.inside += low <= unseen.seconds[i] && unseen.seconds[i] <= high;
    ++out.asked;
  }
}

// What one file shows of the model, and of what can be known.
struct Line {
  const StepSet* set;
  Metrics ours, far;
  double forest = NAN, forest_of_all = NAN, forest_far = NAN;
  std::optional<double> permuted{}, kinks{};

  bool compared() const { return !std::isnan(forest); }
  double asked() const { return std::max(forest / 2, permuted ? kNoise * *permuted : 0); }
  bool held() const { return ours.mape <= asked(); }
  // Of a model that knew each row's true mean, with room for what is too much in the noise.
  bool out_of_reach() const { return kinks && asked() < *kinks / kNoise; }
  bool far_held() const { return far.median_ape <= kFarOff; }
};

bool far_held(const std::vector<Line>& lines) {
  return std::all_of(lines.begin(), lines.end(), [](const Line& each) { return each.far_held(); });
}

bool folds_held(const std::vector<Line>& lines) {
  return std::all_of(lines.begin(), lines.end(),
                     [](const Line& each) { return !each.compared() || each.held(); });
}

Line line_of(const StepSet& set, const nlohmann::json& beside) {
  Line out{&set, metrics(set.seconds, cross_predict(maker("physical", kStepColumns), set.examples(), {})),
           beyond(set)};
  if (beside.contains(set.name())) {
    const auto& forest = beside[set.name()];
    forest.at("mape").get_to(out.forest), forest.at("mape_of_all").get_to(out.forest_of_all);
    forest.at("beyond").get_to(out.forest_far);
  }
  out.permuted = noise_floor(set);
  out.kinks = noise_in_kinks(set);
  return out;
}

std::string or_dash(double share, int digits = 2) {
  return std::isnan(share) ? "–" : percent(share, digits);
}

Table table_of(const std::vector<Line>& lines) {
  Table out{"",
            {"file", "rows", "MAPE", "half the forest's", "of all columns", "1.1 permuted", "noise", "",
             "on more GPUs", "forest's", ""},
            {}};
  for (const auto& each : lines)
    out.rows.push_back(
        {each.set->name(), std::to_string(each.set->count()), percent(each.ours.mape, 2),
         or_dash(each.forest / 2), or_dash(each.forest_of_all / 2),
         or_dash(each.permuted ? kNoise * *each.permuted : NAN), or_dash(each.kinks.value_or(NAN)),
         !each.compared()      ? "–"
         : each.held()         ? "held"
         : each.out_of_reach() ? "MISSED *"
                               : "MISSED",
         percent(each.far.median_ape), or_dash(each.forest_far, 1), each.far_held() ? "held" : "MISSED"});
  return out;
}

std::string missed_of(const std::vector<Line>& lines) {
  std::size_t missed = 0, out_of_reach = 0, far = 0, compared = 0;
  for (const auto& each : lines) {
    compared += each.compared();
    missed += each.compared() && !each.held();
    out_of_reach += each.compared() && !each.held() && each.out_of_reach();
    far += !each.far_held();
  }
  const std::string folds =
      compared == 0 ? "ten folds not judged: no forest to compare with"
                    : fmt::format("{} of {} missed in ten folds ({} of them out of any model's reach)",
                                  missed, compared, out_of_reach);
  return fmt::format("{}; {} of {} missed on more GPUs", folds, far, lines.size());
}

// Only one cluster has permuted placements. If what they show there is meant for the application's other
// clusters as well, this is missed.
std::string missed_with_shared_floor(const std::vector<Line>& lines) {
  std::map<std::string, double> floor;
  for (const auto& each : lines)
    if (each.permuted) floor[each.set->application] = kNoise * *each.permuted;
  std::vector<std::string> missed;
  for (const auto& each : lines)
    if (each.compared() && !each.held() && each.ours.mape > floor[each.set->application])
      missed.push_back(each.set->name());
  return fmt::format(
      "With the spread of permuted placements taken from the cluster that has some, missed would be: {}.",
      missed.empty() ? "none" : fmt::format("{}", fmt::join(missed, ", ")));
}

bool judge(const std::vector<Line>& lines) {
  Section section;
  section.title = "Step time, every application and cluster";
  section.show(table_of(lines));
  section.say(
      "MAPE over ten folds: at most the larger of half the forest's and 1.1 times the spread of permuted "
      "placements, where the cluster has some. The forest is the one that is off by 2.3 to 12.9 %, on batch, "
      "replicas, nodes and replicas on the fullest node; one that sees all our columns is beside it. On more "
      "GPUs: median error, trained on at most half of the GPUs; at most 12 %.");
  section.say(
      "Noise: about how far a model would be off that knew each row's true mean, told from kinks along the "
      "batch size that the cluster's other placements do not have. Where our own error is less, it is too "
      "large by as much. * missed, and asked for less than that noise divided by 1.1.");
  section.say(missed_with_shared_floor(lines));
  section.summary = missed_of(lines);
  const bool held = folds_held(lines) && far_held(lines);
  section.verdict = held ? Verdict::held : Verdict::missed;
  fmt::print("{}", as_text(section));
  return held;
}

// On them the forest is off by up to 28 %, which is not what the floor of ten folds speaks of.
bool judge_scalability(const std::vector<Line>& lines) {
  Section section;
  section.title = "The scalability files: on more GPUs; ten folds for information";
  section.show(table_of(lines));
  section.summary = missed_of(lines);
  section.verdict = far_held(lines) ? Verdict::held : Verdict::missed;
  fmt::print("{}", as_text(section));
  return far_held(lines);
}

bool judge_intervals(const std::vector<StepSet>& sets) {
  Covered covered;
  for (const auto& set : sets) cover(set, covered);
  const double share = static_cast<double>(covered.inside) / static_cast<double>(covered.asked);
  const bool held = share >= 0.87 && share <= 0.93 && covered.asked >= 2000;
  Section section;
  section.title = "90 % intervals, half of each file around the other half";
  section.summary = fmt::format("hold for {} of {} = {} (asked: 87 to 93 %)", covered.inside, covered.asked,
                                percent(share));
  section.verdict = held ? Verdict::held : Verdict::missed;
  fmt::print("{}", as_text(section));
  return held;
}

void write_folds(const std::string& path, const std::vector<StepSet>& sets) {
  nlohmann::json out;
  for (const auto& set : sets)
    out[set.name()] = {{"columns", kStepColumns},
                       {"rows", set.rows},
                       {"seconds", set.seconds},
                       {"fold", deal_folds(set.count(), {})},
                       {"small", at_most_half(set)}};
  std::ofstream file(path);
  file << out;
  if (!file.flush()) throw UserError("the folds cannot be written to " + path);
}

}  // namespace

int main(int argc, char** argv) try {
  const char* folder = std::getenv("TANDEM_DATA");
  const std::string data = folder ? folder : "../shared/data";
  const auto sets = read_steps(data);
  if (!sets) {
    fmt::print("skipped: sia/ is not in TANDEM_DATA ({})\n", data);
    return 77;
  }
  nlohmann::json beside;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (i + 1 == argc || (word != "--folds" && word != "--beside"))
      throw UserError("usage: sia_steps_bench [--folds FILE] [--beside FILE]");
    if (word == "--folds") return write_folds(argv[i + 1], *sets), 0;
    std::ifstream in(argv[++i]);
    beside = nlohmann::json::parse(in);
  }
  std::vector<Line> judged, beside_them;
  for (const auto& set : *sets)
    (set.file == "placements" ? judged : beside_them).push_back(line_of(set, beside));
  const bool steps = judge(judged);
  const bool far = judge_scalability(beside_them);
  const bool intervals = judge_intervals(*sets);
  return steps && far && intervals ? 0 : 1;
} catch (const UserError& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
