// Pollux's and Sia's step times by the one law of step times (stats/training/physical_model.h): learnt from
// one node and from two nodes of one GPU each, all other multi-node rows predicted, by application and
// cluster.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/text.h"
#include "bench/sim_validation/input.h"
#include "bench/sim_validation/sections.h"
#include "stats/regression/regression.h"
#include "stats/training/training_law.h"

namespace tandem::bench {
namespace {

constexpr double kMedian = 0.15;  // floor, for each application and cluster
constexpr std::size_t kWorstShown = 12;

const std::vector<std::string> kColumns = {"batch", "replicas", "nodes", "largest"};

// Two hosts of a cloud without RDMA share one flow's limit for both directions of their ring, and their
// delays grow with the nodes that wait for each other. No row on one or two nodes can tell, so it is stated.
std::string law_of(const std::string& cluster) {
  return cluster.starts_with("aws") ? "physical:many=0.56:jitter=0.135" : "physical";
}

struct Predicted {
  const SiaSet* set = nullptr;
  const SiaRow* row = nullptr;
  double seconds = 0;
  bool held = false;  // to what was measured
  double error() const { return seconds / row->seconds - 1; }
};

bool to_predict(const SiaRow& row) {
  return !row.one_node() && !row.two_singles();
}

std::vector<double> cells_of(const SiaRow& row) {
  return {static_cast<double>(row.batch), static_cast<double>(row.gpus()),
          static_cast<double>(row.nodes.size()), static_cast<double>(row.nodes.back())};
}

// nullptr: there is nothing to learn from; `why` says what is missing.
std::unique_ptr<stats::Regression> learnt(const SiaSet& set, std::string& why) {
  std::vector<double> rows, seconds;
  bool one = false, two = false;
  for (const SiaRow& row : set.rows) {
    if (to_predict(row)) continue;
    one = one || row.one_node(), two = two || row.two_singles();
    const auto cells = cells_of(row);
    rows.insert(rows.end(), cells.begin(), cells.end());
    seconds.push_back(row.seconds);
  }
  if (!one) why = "no one-node rows to calibrate on";
  if (one && !two) why = "no two-node `11` rows to calibrate the network on";
  if (!one || !two) return nullptr;
  auto model = stats::make_regression(law_of(set.cluster), kColumns);
  model->fit(rows, seconds);
  return model;
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

std::vector<std::string> summary_row(const SiaSet& set, const stats::Regression& model,
                                     const std::vector<Predicted>& some) {
  std::vector<double> signs, sizes, computing;
  std::size_t held = 0;
  for (const Predicted& each : some) {
    signs.push_back(each.error());
    sizes.push_back(std::abs(each.error()));
    const double alone = model.predict(std::vector<double>{static_cast<double>(each.row->batch), 1, 1, 1});
    computing.push_back(std::abs(alone / each.row->seconds - 1));
    held += each.held;
  }
  std::sort(sizes.begin(), sizes.end());
  using Law = stats::TrainingLaw;
  const auto written = model.written();
  const auto law = written.at("law").get<std::vector<double>>();
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
          ms(law[Law::pair]),
          ms(law[Law::bus]),
          plain(1e3 * law[Law::bus] * law[Law::more_bus], 1),
          written.at("input").is_null()
              ? ""
              : fmt::format("{:.0f} samples/s", written.at("input").at("rate").get<double>()),
          std::to_string(held)};
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
  const auto model = learnt(set, why);
  if (!model) {
    findings.missing += rows;
    return findings.notes.push_back(fmt::format("{}: {} rows not predicted, {}", name, rows, why));
  }
  std::vector<Predicted> some;
  std::vector<double> errors;
  for (const SiaRow& row : set.rows) {
    if (!to_predict(row)) continue;
    const auto said = model->bounded(cells_of(row));
    some.push_back({&set, &row, said.value, said.held()});
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
      "Step times, by the law that advice asks too (src/stats/physical_model.h), not from simulating "
      "operations: neither the machines nor the layers are published with them. It learns from one-node rows "
      "and two nodes of one GPU each (`11`); sync_time is not looked at; all other multi-node rows are "
      "predicted. Milliseconds that all gradients take: across two nodes, between two GPUs of a node, and "
      "more for each further GPU. Input: where many one-node runs waited for their input, the rate that is "
      "taken to hold on more nodes than were learnt from. Held: predictions that what was measured kept "
      "from being smaller or larger. Stated for aws alone: from three nodes on a ring's unit is 0.56 of that "
      "of two, and jitter is 0.135 of a usual step.");
  Table table{"",
              {"application", "cluster", "rows", "median", "bias", "p90", "worst", "two nodes", "more",
               "computing only", "across", "bus", "each", "input", "held"}};
  Findings findings;
  for (const SiaSet& set : *sets) judge(set, findings, table);
  section.show(std::move(table));
  conclude(section, findings, every_row);
  return section;
}

}  // namespace tandem::bench
