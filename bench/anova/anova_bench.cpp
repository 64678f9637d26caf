// Are the factors that Courier found significant found on its own data?
//
//   anova_bench [--markdown | --tables]       --tables: as CSV, for bench/anova/compare.py
//
// Exit code: 0 all were; 1 one was missed; 77 the measurements are not on this machine (TANDEM_DATA).
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "bench/anova/measurements.h"
#include "bench/sim_validation/report.h"
#include "stats/design/anova.h"
#include "stats/design/linear_model.h"

using namespace tandem;
using namespace tandem::bench;

namespace {

constexpr int kSkipped = 77;
constexpr double kSignificant = 0.05;  // the paper's 95 % level
const std::vector<std::string> kFactors{"cpu", "batch", "njobs"};

struct Finding {
  std::string term;
  bool matters;  // what the paper found; false: not significant there
  std::string where;
};

struct Question {
  std::string title, response;
  bool logarithm = false;  // of the response
  bool means = false;      // of the 288 runs' means, else of the 47 single runs
  bool numbers = false;    // factors as numbers, as in the paper's tables; else as sets of levels
  std::size_t order = 2;
  std::string why{};
  std::vector<Finding> findings{};
};

const std::vector<Finding> kTimeByF{
    {"cpu", true, "table 13: P > F 9.9e-06"},       {"batch", true, "table 13: P > F 9.0e-57"},
    {"njobs", true, "table 13: P > F 4.1e-10"},     {"cpu:batch", true, "table 13: P > F 4.2e-03"},
    {"cpu:njobs", true, "table 13: P > F 9.6e-05"}, {"batch:njobs", true, "table 13: P > F 9.4e-04"}};

std::vector<Question> questions() {
  auto with_all_three = kTimeByF;
  with_all_three.push_back({"cpu:batch:njobs", true, "table 13: P > F 3.2e-03"});
  const std::string levels =
      "Factors as sets of levels: no shape is assumed; one run a cell, so pairs at most. ";
  return {{"time, from the 288 runs' means", "time", false, true, true, 3,
           "As the paper: seconds, factors as numbers, all interactions. Its network's part is missing here "
           "and is "
           "in the residual.",
           with_all_three},
          {"time, 47 runs", "time", false, false, false, 2, levels + "Seconds, as in the paper.", kTimeByF},
          {"log time, 47 runs",
           "time",
           true,
           false,
           false,
           2,
           levels +
               "The logarithm of seconds: effects multiply, and the deviation does not grow with the mean. "
               "batch:njobs is then no interaction: more jobs stretch all batches alike, so nothing is asked "
               "of it.",
           {{"cpu", true, "table 13"},
            {"batch", true, "3.3: P > |t| < 0.05"},
            {"njobs", true, "table 13"},
            {"cpu:batch", true, "table 13"},
            {"cpu:njobs", true, "3.3: P > |t| < 0.05"}}},
          {"accuracy, 47 runs",
           "final_accuracy",
           false,
           false,
           false,
           2,
           levels + "As measured: a share, but far from 1 for its spread.",
           {{"batch", true, "3.1: only affected by the batch size"},
            {"cpu", false, "3.1: the same"},
            {"njobs", false, "3.1: the same"},
            {"cpu:batch", false, "3.1: the same"},
            {"cpu:njobs", false, "3.1: the same"},
            {"batch:njobs", false, "3.1: the same"}}},
          {"CPU use, 47 runs",
           "cpu_mean",
           true,
           false,
           false,
           2,
           levels + "The logarithm of the percentage: it spans a factor of twelve.",
           {{"cpu:njobs", true, "3.3, figure 2b, 2c: mainly the interaction of CPUs and jobs"},
            {"cpu", true, "figure 2b"},
            {"njobs", true, "figure 2c"}}},
          {"I/O wait, 47 runs",
           "iowait_mean",
           true,
           false,
           false,
           2,
           levels + "The logarithm of the percentage: it spans a factor of two hundred.",
           {{"cpu:njobs", true, "3.3, figure 2d: more executors, more jobs, more wait"},
            {"cpu", true, "figure 2d"},
            {"njobs", true, "figure 2d"}}}};
}

struct Input {
  std::vector<stats::Variable> variables;
  std::vector<double> response;
};

Input input_of(const Question& question, const std::string& data) {
  const auto columns = question.means ? runs_of_means(data) : single_runs(data);
  Input out{{}, columns.at(question.response)};
  for (const auto& name : kFactors)
    out.variables.push_back(question.numbers ? stats::numeric(name, columns.at(name))
                                             : stats::factor(name, columns.at(name)));
  if (question.logarithm)
    for (auto& value : out.response) value = std::log(value);
  return out;
}

std::string shown(std::optional<double> value) {
  return value ? fmt::format("{:.4g}", *value) : "-";
}

Table table_of(const stats::AnovaTable& table) {
  Table out{"type II", {"term", "sum of squares", "df", "F", "P > F", "share"}};
  for (const auto& row : table.rows)
    out.rows.push_back({row.term, shown(row.sum_of_squares), std::to_string(row.df), shown(row.f),
                        shown(row.p), percent(row.share)});
  out.rows.push_back({"residual", shown(table.residual_ss), std::to_string(table.residual_df), "", "",
                      percent(table.residual_ss / table.total_ss)});
  return out;
}

// Table 3 of the paper, P > |t| of cpu:batch:njobs from table 13.
const std::map<std::string, std::pair<std::string, std::string>> kPaper{
    {"cpu", {"20.449", "-1.248"}},
    {"batch", {"467.919", "-4.773"}},
    {"njobs", {"42.765", "-0.253"}},
    {"cpu:njobs", {"15.790", "4.634"}},
    {"cpu:batch:njobs", {"", "P > |t| 0.004"}}};

Table beside_paper(const stats::AnovaTable& table, const stats::LinearModel& model) {
  Table out{"beside the paper's table 3 (288 runs with the network as a fourth factor)",
            {"term", "F", "paper", "t", "P > |t|", "[0.025", "0.975]", "paper's t"}};
  for (const auto& coefficient : model.coefficients) {
    const auto* row = table.find(coefficient.name);
    if (row == nullptr || !coefficient.sure) continue;
    const auto paper = kPaper.find(coefficient.name);
    const bool known = paper != kPaper.end();
    out.rows.push_back({coefficient.name, shown(row->f), known ? paper->second.first : "",
                        shown(coefficient.sure->t), shown(coefficient.sure->p), shown(coefficient.sure->low),
                        shown(coefficient.sure->high), known ? paper->second.second : ""});
  }
  return out;
}

Section section_of(const Question& question, const std::string& data) {
  Section out{question.title};
  const auto input = input_of(question, data);
  const auto table = stats::anova(input.variables, input.response, {2, question.order});
  out.say(question.why);
  out.show(table_of(table));
  if (question.numbers)
    out.show(
        beside_paper(table, stats::fit_linear(input.variables, input.response, {.order = question.order})));
  for (const auto& note : table.notes) out.say("note: " + note);
  Table verdicts{"the paper's findings", {"term", "paper", "P > F here", "found"}};
  std::size_t found = 0;
  for (const auto& finding : question.findings) {
    const auto p = table.find(finding.term)->p;
    const bool agrees = p && (*p < kSignificant) == finding.matters;
    found += agrees;
    verdicts.rows.push_back({finding.term,
                             (finding.matters ? "matters; " : "does not matter; ") + finding.where, shown(p),
                             agrees ? "yes" : "MISSED"});
  }
  out.show(verdicts);
  out.summary = fmt::format("{} of {} findings", found, question.findings.size());
  out.verdict = found == question.findings.size() ? Verdict::held : Verdict::missed;
  return out;
}

void print_tables(const std::string& data) {
  fmt::print("title,response,logarithm,means,numbers,order,type,term,sum_of_squares,df,f,p\n");
  for (const auto& question : questions()) {
    const auto input = input_of(question, data);
    for (const int type : {1, 2, 3})
      for (const auto& row : stats::anova(input.variables, input.response, {type, question.order}).rows)
        fmt::print("\"{}\",{},{},{},{},{},{},{},{},{},{},{}\n", question.title, question.response,
                   question.logarithm, question.means, question.numbers, question.order, type, row.term,
                   row.sum_of_squares, row.df, row.f.value_or(NAN), row.p.value_or(NAN));
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string option = argc > 1 ? argv[1] : "";
  if (argc > 2 || (!option.empty() && option != "--markdown" && option != "--tables")) {
    fmt::print(stderr, "usage: anova_bench [--markdown | --tables]\n");
    return 2;
  }
  const char* named = std::getenv("TANDEM_DATA");
  const std::string data = named && *named ? named : TANDEM_ROOT "/../shared/data";
  if (!std::filesystem::is_directory(data + "/courier")) {
    fmt::print("skipped: the measurements are not here: no folder {}/courier (set TANDEM_DATA)\n", data);
    return kSkipped;
  }
  if (option == "--tables") return print_tables(data), 0;
  std::string summary;
  bool missed = false;
  for (const auto& question : questions()) {
    const auto section = section_of(question, data);
    fmt::print("{}\n", option == "--markdown" ? as_markdown(section) : as_text(section));
    summary += summary_line(section) + "\n";
    missed = missed || section.verdict == Verdict::missed;
  }
  fmt::print("{}", summary);
  return missed ? 1 : 0;
} catch (const UserError& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
