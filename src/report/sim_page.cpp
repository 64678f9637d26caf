#include "report/sim_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "app/sim_json.h"
#include "app/sim_names.h"
#include "base/text.h"
#include "report/html.h"
#include "report/page.h"
#include "report/parts.h"
#include "report/sim_course.h"
#include "report/sim_table.h"

namespace tandem::report {

using namespace app;
namespace {

constexpr std::size_t kMostDrawn = 12;    // rows
constexpr std::size_t kMostDevices = 16;  // of a chart
constexpr int kSlices = 160;              // of a plot over time
constexpr std::array<const char*, 9> kColumns{
    "T_exec (s)", "T_comp (s)", "T_comm (s)", "T_mem (s)", "T_io (s)", "NET", "speed-up", "usage", "energy"};

// ---- the whole ----

template <class Better>
const SimRow* best(const std::vector<SimRow>& rows, Better better) {
  const SimRow* out = nullptr;
  for (const auto& row : rows)
    if (row.error.empty() && (!out || better(row, *out))) out = &row;
  return out;
}

std::string sim_facts(const std::vector<SimRow>& rows) {
  const auto joules = [](const SimRow& row) {
    return row.result.joules.value_or(std::numeric_limits<double>::infinity());
  };
  const auto* fastest =
      best(rows, [](const SimRow& a, const SimRow& b) { return a.result.t_exec < b.result.t_exec; });
  const auto* leanest = best(rows, [&](const SimRow& a, const SimRow& b) { return joules(a) < joules(b); });
  const auto* steepest = best(
      rows, [](const SimRow& a, const SimRow& b) { return a.speedup.value_or(0) > b.speedup.value_or(0); });
  if (!fastest) return nothing("No row could run; the table says why.");
  std::string out = "<div class=\"facts\">\n";
  out += fact("Shortest", number_text(fastest->result.t_exec) + " s", escape(fastest->cell.label()), true);
  if (steepest->speedup)
    out +=
        fact("Largest speed-up", fmt::format("{:.2f}", *steepest->speedup), escape(steepest->cell.label()));
  out +=
      fact("Least energy", leanest->result.joules ? escape(text(Joules{*leanest->result.joules})) : "unknown",
           escape(leanest->result.joules ? leanest->cell.label() : no_joules(leanest->result)));
  return out + "</div>\n";
}

std::vector<Cell> cells_of_row(const SimRow& row) {
  std::vector<Cell> out{word_cell(row.cell.workload.name)};
  for (const auto& [key, value] : row.cell.swept)
    out.push_back(swept_json(value).is_number() ? Cell{escape(value), escape(value)} : word_cell(value));
  if (!row.error.empty()) {
    out.push_back({"cannot run", {}, true});
    out.resize(out.size() + kColumns.size() - 1, no_number());
    return out;
  }
  const auto& result = row.result;
  for (const double seconds : {result.t_exec, result.t_comp, result.t_comm, result.t_mem, result.t_io})
    out.push_back(number_cell(seconds));
  const double net = result.traffic[static_cast<std::size_t>(sim::LinkClass::network)].sent;
  out.push_back({escape(bytes_text(net)), fmt::format("{:.9g}", net)});
  out.push_back(row.speedup ? Cell{fmt::format("{:.2f}", *row.speedup), fmt::format("{:.9g}", *row.speedup)}
                            : no_number());
  out.push_back({fmt::format("{:.1f} %", 100 * result.usage), fmt::format("{:.9g}", result.usage)});
  out.push_back(result.joules
                    ? Cell{escape(text(Joules{*result.joules})), fmt::format("{:.9g}", *result.joules)}
                    : no_number());
  return out;
}

constexpr const char* kMeaning =
    "<p class=\"sub\">T_exec = T_comp + T_comm + T_io of an average worker: it computes; it communicates and "
    "waits for others; it waits for samples. T_mem is the part of T_comp that memory bandwidth adds to the "
    "arithmetic. NET is sent between nodes. Speed-up is against one device of the same type with strategy "
    "default and the same samples; usage is T_comp / T_exec. Energy is that of the workers, the servers, all "
    "processors of their nodes, and the network where its power is given. All of it is simulated, nothing "
    "measured.</p>\n";

std::string rows_section(const std::vector<SimRow>& rows) {
  std::vector<std::string> headings{"workload"};
  for (const auto& [key, value] : rows.front().cell.swept) headings.push_back(key);
  for (const char* one : kColumns) headings.emplace_back(one);
  std::vector<std::vector<Cell>> lines;
  for (const auto& row : rows) lines.push_back(cells_of_row(row));
  std::string notes;
  for (const auto& note : sim_notes(rows)) notes += "<p>" + escape(note) + "</p>\n";
  return section("rows", "What came of it", sim_facts(rows) + table(headings, lines) + notes + kMeaning);
}

// ---- speed-up over workers ----

// By workload and the other swept values.
std::map<std::string, Points> speedups_by_series(const std::vector<SimRow>& rows) {
  std::map<std::string, Points> out;
  for (const auto& row : rows) {
    std::string name = row.cell.workload.name;
    bool over_workers = false;
    for (const auto& [key, value] : row.cell.swept) {
      over_workers = over_workers || key == "workers";
      if (key != "workers") name += " " + key + "=" + value;
    }
    if (over_workers && row.speedup) out[name].emplace_back(row.cell.workload.workers, *row.speedup);
  }
  for (auto& [name, points] : out) std::sort(points.begin(), points.end());
  return out;
}

std::string speedup_section(const std::vector<SimRow>& rows) {
  const auto series = speedups_by_series(rows);
  std::vector<double> workers, speedups;
  for (const auto& [name, points] : series)
    for (const auto& [at, speedup] : points) workers.push_back(at), speedups.push_back(speedup);
  if (workers.size() < 2) return "";
  Axis x = axis_for("workers", workers, false, true);
  x.whole = true;
  Plot plot("speed-up over workers", x, axis_for("speed-up", speedups, false, true));
  const double top = std::min(*std::max_element(workers.begin(), workers.end()),
                              *std::max_element(speedups.begin(), speedups.end()));
  plot.line({{0, 0}, {top, top}}, "thin c7");
  std::string key = "<div class=\"key\">";
  std::int64_t number = 0;
  for (const auto& [name, points] : series) {
    const std::string style = colour(number++);
    plot.line(points, style);
    for (const auto& [at, speedup] : points)
      plot.dot(at, speedup, style, fmt::format("{}\n{:g} workers: {:.3g}", name, at, speedup));
    key += fmt::format("<span><i class=\"{}\"></i>{}</span>\n", style, escape(name, 80));
  }
  key += "<span><i class=\"c7\"></i>as many times as there are workers</span></div>";
  return section("speedup", "Speed-up over workers", key + figures({figure(plot.svg(), "")}));
}

// ---- one row ----

std::string key_of_doings() {
  std::string out = "<div class=\"key\">";
  for (std::size_t i = 0; i < kDoings; ++i)
    out += fmt::format("<span><i class=\"c{}\"></i>{}</span>\n", kDoingColours[i], kDoingNames[i]);
  return out + "</div>";
}

std::string chart(const SimRow& row, const spec::Cluster& cluster) {
  std::size_t left_out = 0;
  const std::string svg = gantt_svg(row, cluster, kMostDevices, &left_out);
  const auto& beginning = *row.beginning;
  std::string caption = fmt::format("The first {}, {:.4g} s of {:.4g} s in all.",
                                    beginning.steps == 1 ? "step" : fmt::format("{} steps", beginning.steps),
                                    beginning.seconds, row.result.t_exec);
  if (left_out > 0) caption += fmt::format(" {} more devices are not drawn.", left_out);
  return key_of_doings() + figure(svg, caption, true);
}

Points in_unit(Points points, double seconds, const ShortUnit& unit) {
  points.emplace_back(seconds, points.back().second);
  for (auto& point : points) point.first *= unit.in_a_second;
  return points;
}

// Of devices: what the plot shows.
Watts mean_power(const sim::RunResult& result) {
  const double joules = result.joules.value_or(0) - result.network_joules.value_or(0);
  return {joules / std::max(result.t_exec, 1e-12)};
}

std::string plots(const SimRow& row, const spec::Cluster& cluster) {
  const auto shares = shares_over_time(row, cluster, kSlices);
  const double seconds = row.beginning->seconds;
  const auto unit = short_unit(seconds);
  const Axis time{fmt::format("time ({})", unit.name), 0, seconds * unit.in_a_second};
  Plot usage("utilisation over time", time, {"workers (%)", 0, 105});
  usage.steps(in_unit(shares.communicating, seconds, unit), "c1");
  usage.steps(in_unit(shares.computing, seconds, unit), "c0");
  std::vector<std::string> out{figure(
      usage.svg(), fmt::format("Utilisation: workers that compute (blue) and that communicate (orange). Over "
                               "the whole run they compute {:.1f} % of the time.",
                               100 * row.result.usage))};
  if (!shares.watts) return figures(out) + nothing("No power: " + no_joules(row.result) + ".");
  std::vector<double> watts;
  for (const auto& [at, value] : *shares.watts) watts.push_back(value);
  Plot power("power over time", time, axis_for("power (W)", watts, false, true));
  power.steps(in_unit(*shares.watts, seconds, unit), "c3");
  out.push_back(figure(
      power.svg(), fmt::format("Power of workers, servers and the processors of their nodes: {} in the mean "
                               "of the whole run.",
                               text(mean_power(row.result)))));
  return figures(out);
}

std::string energy_bars(const SimRow& row, const spec::Cluster& cluster) {
  if (!row.result.joules || *row.result.joules <= 0) return "";
  std::vector<std::tuple<std::string, double, std::string>> bars;  // name, joules, more
  if (row.result.devices.size() <= kMostDevices) {
    for (const auto& device : row.result.devices)
      bars.emplace_back(name_of(cluster, device.device).full(), *device.joules,
                        fmt::format("busy {:.4g} s", device.busy));
  } else {
    for (const auto& group : device_groups(row.result))
      bars.emplace_back(fmt::format("{} × {} ({})", group.count, group.type, group.role), *group.joules,
                        fmt::format("each busy {:.4g} s", group.busy));
  }
  if (row.result.network_joules && row.result.cables > 0)
    bars.emplace_back(fmt::format("network, {} cables", row.result.cables), *row.result.network_joules, "");
  std::string out = "<h3>Energy by device</h3><div class=\"bars\">";
  for (const auto& [name, joules, more] : bars)
    out += fmt::format(
        "<span>{}</span><div class=\"track\"{}><div style=\"width:{:.1f}%\"></div></div><span>{}</span>\n",
        escape(name, 60), tip(more), 100 * joules / *row.result.joules, escape(text(Joules{joules})));
  return out + "</div>\n";
}

std::string links(const SimRow& row) {
  std::vector<std::vector<Cell>> lines;
  for (std::size_t i = 0; i < sim::kLinkClasses; ++i) {
    const auto& traffic = row.result.traffic[i];
    if (traffic.sent <= 0) continue;
    const auto link = static_cast<sim::LinkClass>(i);
    const auto joules = link_joules(row.result, link);
    const double share = row.result.t_exec > 0 ? traffic.busy / row.result.t_exec : 0;
    lines.push_back({word_cell(sim::name(link)),
                     {escape(bytes_text(traffic.sent)), fmt::format("{:.9g}", traffic.sent)},
                     {fmt::format("{:.1f} %", 100 * share), fmt::format("{:.9g}", share)},
                     word_cell(joules ? text(Joules{*joules}) : no_link_joules(row.result, link))});
  }
  if (lines.empty()) return "";
  return "<h3>Links</h3>" + table({"class", "sent", "in use", "energy"}, lines);
}

std::string row_sections(const std::vector<SimRow>& rows, const spec::Cluster& cluster) {
  std::string out;
  std::size_t drawn = 0, all = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SimRow& row = rows[i];
    if (!row.beginning) continue;
    if (++all > kMostDrawn) continue;
    ++drawn;
    out += section(fmt::format("row-{}", i + 1), row.cell.label(),
                   chart(row, cluster) + plots(row, cluster) + energy_bars(row, cluster) + links(row));
  }
  if (all > drawn)
    out += nothing(
        fmt::format("The first {} of {} rows are drawn; --timeline FILE has all of them.", drawn, all));
  return out;
}

// ---- the machines ----

std::string sim_cluster_section(const spec::Cluster& cluster) {
  std::vector<std::vector<Cell>> lines;
  for (const auto& device : cluster.devices)
    lines.push_back(
        {word_cell(device.name),
         number_cell(static_cast<double>(cluster.device_count(device.name))),
         {fmt::format("{:.4g} TFLOP/s", device.peak_flops() / 1e12),
          fmt::format("{:.9g}", device.peak_flops())},
         {fmt::format("{:.4g} %", 100 * device.efficiency), fmt::format("{:.9g}", device.efficiency)},
         word_cell(device.memory > 0 ? text_bytes(device.memory) : "not limited"),
         word_cell(device.memory_bandwidth > 0 ? text_bandwidth(device.memory_bandwidth) : "never the limit"),
         word_cell(device.max_watts > 0 ? fmt::format("{} to {}", text(Watts{device.idle_watts}),
                                                      text(Watts{device.max_watts}))
                                        : "unknown")});
  std::vector<std::string> nodes;
  for (const auto& group : cluster.nodes) nodes.push_back(fmt::format("{} × {}", group.count, group.type));
  std::string network = cluster.node_count() < 2 ? "" : fmt::format("; network: {}", cluster.network.kind);
  if (!network.empty() && cluster.network.bandwidth > 0)
    network += ", " + text_bandwidth(cluster.network.bandwidth);
  return section(
      "cluster", "The cluster",
      "<p>" + escape(join(nodes) + network) + "</p>" +
          table({"device", "there are", "peak", "efficiency", "memory", "bandwidth", "power"}, lines));
}

}  // namespace

std::string sim_page(const spec::SimJob& job, const std::vector<SimRow>& rows) {
  const std::string head = fmt::format(
      "<header><h1>{}</h1>\n<p class=\"sub\">simulated: {} on cluster {}, {}, seed {}</p></header>\n",
      escape(job.name, 200), count_text(static_cast<std::int64_t>(rows.size()), "row", "rows"),
      escape(job.cluster.name, 200), count_text(job.cluster.node_count(), "node", "nodes"), job.seed);
  const std::string body = rows_section(rows) + speedup_section(rows) + row_sections(rows, job.cluster) +
                           sim_cluster_section(job.cluster);
  return whole_page(job.name, head, body, "a simulation");
}

}  // namespace tandem::report
