#include "report/experiment_join_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/experiment_results.h"
#include "base/text.h"
#include "report/experiment_table.h"
#include "report/html.h"
#include "report/page.h"
#include "report/svg.h"
#include "report/text_table.h"

namespace tandem::report {

using namespace app;

using nlohmann::json;
namespace {

namespace study = characterize;

std::string workload_name(const Workload& one) {
  return one.method + "/" + one.dataset;
}

std::string within_text(const std::optional<double>& within) {
  return within ? number_text(*within) : "-";
}

// One sentence: what makes the difference.
std::string finding(const study::Variability& one) {
  if (!one.method.within || !one.dataset.within) return "not comparable";
  const double data = *one.method.within, method = *one.dataset.within;
  if (data == method) return "as much by the data as by the method";
  return data > method ? "varies more with the data" : "varies more with the method";
}

// Factors down, workloads across (figures 5.6 and 5.7): the impact on a response.
std::vector<std::vector<std::string>> impact_rows(const Joined& joined, const std::string& response) {
  std::vector<std::string> factors;
  for (const auto& one : joined.workloads)
    for (const auto& impact : one.found.impacts)
      if (impact.response == response && std::ranges::find(factors, impact.factor) == factors.end())
        factors.push_back(impact.factor);
  std::vector<std::vector<std::string>> rows;
  for (const auto& factor : factors) {
    rows.push_back({factor});
    for (const auto& one : joined.workloads) {
      const auto& all = one.found.impacts;
      const auto found = std::ranges::find_if(all, [&](const study::Impact& impact) {
        return impact.factor == factor && impact.response == response;
      });
      rows.back().push_back(found == all.end() || !found->grade
                                ? "-"
                                : fmt::format("{} {}{}", name(*found->grade), share_text(*found->variation),
                                              found->p && *found->p < 0.05 ? " *" : ""));
    }
  }
  return rows;
}

std::vector<std::string> impact_headings(const Joined& joined) {
  std::vector<std::string> out{"factor"};
  for (const auto& one : joined.workloads) out.push_back(workload_name(one));
  return out;
}

std::string boxes_figure(const study::Spread& spread, const study::Variability& of, const std::string& unit,
                         const std::string& same, const std::string& over) {
  std::vector<std::string> names;
  std::vector<double> values;
  for (const auto& [group, box] : spread.groups) {
    names.push_back(group);
    values.insert(values.end(), {box.lowest, box.highest});
  }
  Plot plot(fmt::format("{} within the same {}", of.response, same), word_axis(same, names),
            axis_for(unit.empty() ? of.response : fmt::format("{} ({})", of.response, unit), values,
                     of.orders_of_magnitude));
  std::size_t i = 0;
  for (const auto& [group, box] : spread.groups) {
    const auto x = static_cast<double>(i++);
    plot.box(x, 0.25, {box.whisker_low, box.low, box.median, box.high, box.whisker_high}, "c0",
             fmt::format("{}: {} over {}, median {}", group,
                         count_text(static_cast<std::int64_t>(box.count), "workload", "workloads"), over,
                         number_text(box.median)));
    for (const double value : box.outside) plot.dot(x, value, "c3", number_text(value), 2.5);
  }
  return figure(plot.svg(), fmt::format("within the same {}, over {}", same, over));
}

}  // namespace

std::string joined_table(const Joined& joined) {
  std::string out = fmt::format("{} experiments joined\n", joined.workloads.size());
  std::vector<std::vector<std::string>> rows{{"  RUN", "METHOD", "DATASET", "MEASURED"}};
  for (const auto& one : joined.workloads)
    rows.push_back({"  " + one.run, one.method, one.dataset, std::to_string(one.found.whole_runs)});
  out += columns(rows);
  out +=
      "\nVariability (standard deviation of workloads' medians; in orders of magnitude where all are above "
      "0)\n";
  rows = {{"  response", "within a method", "within a dataset", "so it"}};
  for (const auto& one : joined.variability)
    rows.push_back({"  " + one.response + (one.orders_of_magnitude ? "" : " (as measured)"),
                    within_text(one.method.within), within_text(one.dataset.within), finding(one)});
  out += joined.variability.empty() ? "  nothing was measured of two workloads\n" : columns(rows);
  for (const auto& one : joined.variability) {
    rows = impact_rows(joined, one.response);
    if (rows.empty()) continue;
    rows.insert(rows.begin(), impact_headings(joined));
    for (auto& row : rows) row.front().insert(0, "  ");
    out += fmt::format("\nImpact on {} (* p < 0.05)\n{}", one.response, columns(rows));
  }
  for (const auto& note : joined.notes) out += "  note: " + note + "\n";
  return out;
}

std::string joined_page(const Joined& joined) {
  std::vector<std::vector<Cell>> rows;
  for (const auto& one : joined.workloads)
    rows.push_back({word_cell(one.run), word_cell(one.method), word_cell(one.dataset),
                    number_cell(static_cast<double>(one.found.whole_runs))});
  std::string body =
      section("workloads", "Workloads", table({"run", "method", "dataset", "runs measured"}, rows));
  std::string spreads, impacts;
  for (const auto& one : joined.variability) {
    const auto unit = unit_of(joined, one.response);
    spreads += fmt::format("<h3>{}</h3>\n<p>Within a method {}, within a dataset {}: {}.</p>\n",
                           escape(one.response), within_text(one.method.within),
                           within_text(one.dataset.within), finding(one));
    spreads += figures({boxes_figure(one.method, one, unit, "method", "datasets"),
                        boxes_figure(one.dataset, one, unit, "dataset", "methods")});
    std::vector<std::vector<Cell>> cells;
    for (const auto& row : impact_rows(joined, one.response)) {
      cells.emplace_back();
      for (const auto& word : row) cells.back().push_back(word_cell(word));
    }
    if (!cells.empty())
      impacts += fmt::format("<h3>{}</h3>\n", escape(one.response)) + table(impact_headings(joined), cells);
  }
  body +=
      section("variability", "Method or data",
              (spreads.empty() ? nothing("Nothing was measured of two workloads.") : spreads) +
                  "<p class=\"note\">Standard deviations of the workloads' medians within groups, pooled; in "
                  "orders of magnitude where all are above 0.</p>\n");
  body += section("impact", "Impact by workload", impacts.empty() ? nothing("Nothing was graded.") : impacts);
  for (const auto& note : joined.notes) body += "<p class=\"note\">" + escape(note) + "</p>\n";
  std::vector<std::string> runs;
  for (const auto& one : joined.workloads) runs.push_back(one.run);
  return whole_page("Experiments joined",
                    fmt::format("<header><h1>{} experiments joined</h1></header>\n", joined.workloads.size()),
                    body, "the journals of " + join(runs));
}

}  // namespace tandem::report
