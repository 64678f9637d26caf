// Pollux's and Sia's step times: calibrated on one node and on two nodes of one GPU each, all other
// multi-node rows predicted, by application and cluster.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "bench/sim_validation/input.h"
#include "bench/sim_validation/sections.h"
#include "bench/sim_validation/sia_model.h"

namespace tandem::bench {
namespace {

constexpr double kMedian = 0.15;  // floor, for each application and cluster
constexpr std::size_t kWorstShown = 12;

struct Predicted {
  const SiaSet* set = nullptr;
  const SiaRow* row = nullptr;
  double seconds = 0;
  double error() const { return seconds / row->seconds - 1; }
};

bool to_predict(const SiaRow& row) {
  return !row.one_node() && !row.two_singles();
}

std::string text_nodes(const std::vector<int>& nodes) {
  std::string digits;
  for (const int gpus : nodes) digits += std::to_string(gpus);
  if (nodes.size() <= 4) return digits;
  int sum = 0;
  for (const int gpus : nodes) sum += gpus;
  return fmt::format("{} nodes, {} GPUs", nodes.size(), sum);
}

double median_of(const std::vector<Predicted>& some, bool two_nodes) {
  std::vector<double> errors;
  for (const Predicted& each : some)
    if ((each.row->nodes.size() == 2) == two_nodes) errors.push_back(std::abs(each.error()));
  return median(errors);
}

std::vector<std::string> summary_row(const SiaSet& set, const StepModel& model,
                                     const std::vector<Predicted>& some) {
  std::vector<double> signs, sizes, computing;
  for (const Predicted& each : some) {
    signs.push_back(each.error());
    sizes.push_back(std::abs(each.error()));
    computing.push_back(std::abs(model.computing(each.row->batch) / each.row->seconds - 1));
  }
  std::sort(sizes.begin(), sizes.end());
  const auto ms = [](double seconds) { return plain(1e3 * seconds, 0); };
  return {set.application,
          set.cluster,
          std::to_string(some.size()),
          percent(median(sizes)),
          signed_percent(median(signs)),
          percent(sizes[sizes.size() * 9 / 10], 0),
          percent(sizes.back(), 0),
          percent(median_of(some, true)),
          percent(median_of(some, false)),
          percent(median(computing), 0),
          ms(model.across()),
          ms(model.bus_of_two()),
          plain(1e3 * model.bus_each(), 1),
          model.loader() ? fmt::format("{:.0f} samples/s", *model.loader()) : ""};
}

std::vector<std::string> row_cells(const Predicted& each) {
  return {each.set->application,
          each.set->cluster,
          text_nodes(each.row->nodes),
          std::to_string(each.row->batch),
          plain(1e3 * each.row->seconds, 0),
          plain(1e3 * each.seconds, 0),
          signed_percent(each.error())};
}

Table rows_table(std::string caption, const std::vector<Predicted>& some) {
  Table table{std::move(caption),
              {"application", "cluster", "placement", "batch", "measured ms", "ours ms", "error"}};
  for (const Predicted& each : some) table.rows.push_back(row_cells(each));
  return table;
}

struct Findings {
  std::vector<Predicted> all{};
  std::vector<std::string> notes{};  // sets without a prediction, lines that cannot be read
  std::size_t missing = 0, judged = 0, over = 0;
  double worst = 0;
  std::string worst_of{};
};

void judge(const SiaSet& set, Findings& findings, Table& table) {
  for (const std::string& trouble : set.troubles)
    findings.notes.push_back(fmt::format("{}/{}", set.application, printable(trouble, 200)));
  findings.missing += set.troubles.size();
  const auto rows = static_cast<std::size_t>(std::count_if(set.rows.begin(), set.rows.end(), to_predict));
  const std::string name = set.application + " on " + set.cluster;
  if (rows == 0) return findings.notes.push_back(name + ": left out, it has no multi-node rows to predict");
  std::string why;
  const auto model = StepModel::fit(set, why);
  if (!model) {
    findings.missing += rows;
    return findings.notes.push_back(fmt::format("{}: {} rows not predicted, {}", name, rows, why));
  }
  std::vector<Predicted> some;
  std::vector<double> errors;
  for (const SiaRow& row : set.rows) {
    if (!to_predict(row)) continue;
    some.push_back({&set, &row, model->seconds(row.nodes, row.batch)});
    errors.push_back(some.back().error());
  }
  table.rows.push_back(summary_row(set, *model, some));
  const double middle = spread(errors).median;
  ++findings.judged;
  findings.over += middle > kMedian;
  if (middle >= findings.worst) findings.worst_of = name;
  findings.worst = std::max(findings.worst, middle);
  findings.all.insert(findings.all.end(), some.begin(), some.end());
}

void conclude(Section& section, Findings& findings, bool every_row) {
  if (every_row) {
    section.show(rows_table("All rows", findings.all));
    std::get<Table>(section.parts.back()).long_one = true;
  }
  auto& worst = findings.all;
  std::stable_sort(worst.begin(), worst.end(), [](const Predicted& a, const Predicted& b) {
    return std::abs(a.error()) > std::abs(b.error());
  });
  const std::size_t rows = worst.size();
  worst.resize(std::min(rows, kWorstShown));
  section.show(rows_table("The worst rows", worst));
  for (const std::string& note : findings.notes) section.say(note + ".");
  section.verdict = findings.judged > 0 && findings.over == 0 ? Verdict::held : Verdict::missed;
  section.summary = fmt::format(
      "{} rows of {} applications and clusters, the largest median {} ({}; asked: at most {} each), {} above "
      "it; {} rows "
      "not predicted",
      rows, findings.judged, percent(findings.worst), findings.worst_of, percent(kMedian, 0), findings.over,
      findings.missing);
}

}  // namespace

Section sia_section(const std::string& data, bool every_row) {
  Section section{"Pollux and Sia"};
  const auto sets = read_sia(data);
  if (!sets) {
    section.summary = "there is no folder sia";
    section.verdict = Verdict::absent;
    return section;
  }
  section.say(
      "Step times. These rows come from the calibrated step formula of validation-study.md B (the "
      "simulator's rule of "
      "overlap, one ring, units in place of hardware), not from simulating operations: neither the machines "
      "nor the layers "
      "are published with them. Calibrated on one-node rows and two nodes of one GPU each (`11`); sync_time "
      "is not looked "
      "at; all other multi-node rows are predicted. Units are milliseconds that all gradients take: across "
      "two nodes, "
      "between two GPUs of a node, and more for each further GPU. Stated for aws alone: from three nodes on "
      "a ring's unit "
      "is 0.67 of that of two, and 50 ms of jitter; by default 1 and 0.");
  Table table{"",
              {"application", "cluster", "rows", "median", "bias", "p90", "worst", "two nodes", "more",
               "computing only", "across", "bus", "each", "loader"}};
  Findings findings;
  for (const SiaSet& set : *sets) judge(set, findings, table);
  section.show(std::move(table));
  conclude(section, findings, every_row);
  return section;
}

}  // namespace tandem::bench
