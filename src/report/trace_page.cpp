#include "report/trace_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "report/html.h"
#include "report/page.h"
#include "report/parts.h"
#include "report/svg.h"

namespace tandem::report {

using namespace app;
namespace {

constexpr std::size_t kMoments = 400;  // of a curve over time
constexpr double kLeastWait = 1;       // s: a logarithmic axis has no 0

struct TracePage {
  const sim::Trace& trace;
  const sim::ReplayInput& input;
  const std::vector<PolicyRow>& rows;

  double from() const { return input.jobs.front().submitted; }
  double longest() const {
    double out = 0;
    for (const auto& row : rows) out = std::max(out, row.replayed.makespan);
    return out;
  }
};

std::string trace_legend(const TracePage& page) {
  std::string out = "<div class=\"key\">";
  for (std::size_t i = 0; i < page.rows.size(); ++i)
    out += fmt::format("<span><i class=\"{}\"></i>{}</span>", colour(static_cast<std::int64_t>(i)),
                       escape(page.rows[i].policy.name));
  return out + "</div>";
}

Cell time_cell(double seconds) {
  return {escape(text(Seconds{seconds})), fmt::format("{:.6g}", seconds)};
}

std::string policies_section(const TracePage& page) {
  std::vector<std::vector<Cell>> rows;
  for (const auto& row : page.rows) {
    const auto waits = sim::waits_of(page.input, row.replayed);
    const auto& r = row.replayed;
    const auto used = [](double part, double all) {
      return all > 0 ? Cell{fmt::format("{:.1f} %", 100 * part / all), fmt::format("{:.6g}", part / all)}
                     : no_number();
    };
    rows.push_back(
        {word_cell(row.policy.name), number_cell(static_cast<double>(waits.jobs)), time_cell(r.makespan),
         time_cell(waits.mean), time_cell(waits.median), time_cell(waits.p95), time_cell(waits.p99),
         time_cell(waits.mean_response), number_cell(waits.mean_slowdown),
         used(r.core_seconds, r.core_seconds_there), used(r.gpu_seconds, r.gpu_seconds_there),
         r.joules ? Cell{escape(text(Joules{*r.joules})), fmt::format("{:.6g}", *r.joules)} : no_number()});
  }
  std::string body = table({"policy", "done", "makespan", "mean wait", "median", "p95", "p99",
                            "mean response", "slowdown", "cores used", "GPUs used", "energy"},
                           rows);
  for (const auto& row : page.rows)
    body += fmt::format("<p class=\"sub\"><b>{}</b>: {}</p>", escape(row.policy.name),
                        escape(row.policy.description));
  if (const auto never = page.rows.front().replayed.never.size())
    body += fmt::format("<p>{} of the jobs can never run on this cluster and are not in these numbers.</p>",
                        never);
  return section("policies", "Policies", body);
}

// How many of the jobs waited at most so long.
std::string waits_figure(const TracePage& page) {
  std::vector<Points> curves;
  double most = 10;
  for (const auto& row : page.rows) {
    std::vector<double> waited;
    for (std::size_t i = 0; i < page.input.jobs.size(); ++i)
      if (std::isfinite(row.replayed.jobs[i].ended))
        waited.push_back(std::max(kLeastWait, row.replayed.jobs[i].started - page.input.jobs[i].submitted));
    std::sort(waited.begin(), waited.end());
    Points points;
    for (std::size_t k = 0; k <= kMoments && !waited.empty(); ++k) {
      const std::size_t at = std::min(waited.size() - 1, k * waited.size() / kMoments);
      points.emplace_back(waited[at],
                          100.0 * static_cast<double>(at + 1) / static_cast<double>(waited.size()));
    }
    if (!waited.empty()) most = std::max(most, waited.back());
    curves.push_back(points);
  }
  Plot plot("jobs by how long they waited",
            {"waited at most (s; 1 s and less are 1)", kLeastWait, most, true}, {"jobs (%)", 0, 100});
  for (std::size_t i = 0; i < curves.size(); ++i) plot.steps(curves[i], colour(static_cast<std::int64_t>(i)));
  return figure(
      plot.svg(),
      "How many of the jobs waited at most so long. The curve that is higher on the left is better.");
}

// A number at kMoments moments: the sum of what all jobs weigh between two of their moments.
template <class From, class Until, class Weight>
Points over_time(const TracePage& page, double unit, From from, Until until, Weight weight) {
  std::vector<double> change(kMoments + 1, 0.0);
  const double length = page.longest() / static_cast<double>(kMoments);
  if (!(length > 0)) return {};
  const auto moment = [&](double at) {
    const double place = std::ceil((at - page.from()) / length);
    return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(kMoments)));
  };
  for (std::size_t i = 0; i < page.input.jobs.size(); ++i) {
    const double a = from(i), b = until(i);
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    change[moment(a)] += weight(i);
    change[moment(b)] -= weight(i);
  }
  Points out;
  double sum = 0;
  for (std::size_t k = 0; k < kMoments; ++k) {
    sum += change[k];
    out.emplace_back(static_cast<double>(k) * length / unit, std::max(0.0, sum));
  }
  return out;
}

std::string time_figure(const TracePage& page, const std::string& title, const std::string& caption,
                        bool waiting, bool gpus) {
  const TimeUnit unit = time_unit(Seconds{page.longest()});
  std::vector<Points> curves;
  double most = 1;
  for (const auto& row : page.rows) {
    const auto& fates = row.replayed.jobs;
    const auto weight = [&](std::size_t i) {
      const auto& shape = page.input.shapes[page.input.jobs[i].shape];
      const double part = gpus ? shape.part.gpus + shape.part.gpu_share / 1000.0
                               : static_cast<double>(shape.part.milli_cores) / 1000;
      return waiting ? 1.0 : part * static_cast<double>(shape.parts);
    };
    curves.push_back(over_time(
        page, unit.seconds,
        [&](std::size_t i) { return waiting ? page.input.jobs[i].submitted : fates[i].started; },
        [&](std::size_t i) { return waiting ? fates[i].started : fates[i].ended; }, weight));
    for (const auto& [at, value] : curves.back()) most = std::max(most, value);
  }
  Plot plot(title, {"time (" + unit.name + ")", 0, page.longest() / unit.seconds}, {title, 0, most * 1.05});
  for (std::size_t i = 0; i < curves.size(); ++i) plot.steps(curves[i], colour(static_cast<std::int64_t>(i)));
  return figure(plot.svg(), caption);
}

std::string time_section(const TracePage& page) {
  double cores = 0, gpus = 0;
  for (const auto& pool : page.input.pools) {
    cores += static_cast<double>(pool.node.milli_cores) / 1000 * static_cast<double>(pool.count);
    gpus += pool.node.gpus * static_cast<double>(pool.count);
  }
  std::vector<std::string> out = {waits_figure(page),
                                  time_figure(page, "jobs that wait", "Jobs in the queue.", true, false)};
  if (gpus > 0)
    out.push_back(time_figure(page, "GPUs at work", fmt::format("Of {:g} GPUs.", gpus), false, true));
  if (page.rows.front().replayed.core_seconds > 0)
    out.push_back(time_figure(page, "cores at work", fmt::format("Of {:g} cores.", cores), false, false));
  return section("time", "Waiting and use", trace_legend(page) + figures(out));
}

std::string trace_cluster_section(const TracePage& page) {
  std::vector<std::vector<Cell>> rows;
  for (const auto& pool : page.input.pools)
    rows.push_back({word_cell(pool.name), number_cell(static_cast<double>(pool.count)),
                    number_cell(static_cast<double>(pool.node.milli_cores) / 1000),
                    number_cell(pool.node.gpus), word_cell(pool.gpu_type)});
  return section("cluster", "Cluster",
                 table({"nodes", "count", "cores each", "GPUs each", "type of GPU"}, rows));
}

}  // namespace

std::string trace_page(const sim::Trace& trace, const std::string& cluster, const sim::ReplayInput& input,
                       const std::vector<PolicyRow>& rows) {
  const TracePage page{trace, input, rows};
  const std::string file = std::filesystem::path(trace.file).filename().string();
  const std::string head =
      fmt::format("<header><h1>{}</h1>\n<p class=\"sub\">{} jobs ({}) replayed on {}</p></header>\n",
                  escape(file, 200), input.jobs.size(), escape(trace.format), escape(cluster, 200));
  return whole_page(file, head, policies_section(page) + time_section(page) + trace_cluster_section(page),
                    "a simulation");
}

}  // namespace tandem::report
