#include "report/advice_text.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/text_table.h"

namespace tandem::report {

using namespace app;
namespace {

// "12.3 s (10.1 to 14.9)"
std::string with_interval(const advise::Forecast& forecast, double level, const auto& show) {
  const auto interval = forecast.interval(level);
  return fmt::format("{} ({} to {})", show(forecast.value()), show(interval.low),
                     std::isfinite(interval.high) ? show(interval.high) : "?");
}

std::string seconds_text(double seconds) {
  return text(Seconds{seconds});
}

std::string joules_text(double joules) {
  return text(Joules{joules});
}

std::string metric_text(double value) {
  return fmt::format("{:.4g}", value);
}

// Only what differs between candidates is worth a column.
std::vector<std::string> varied_names(const std::vector<advise::Setting>& candidates) {
  std::vector<std::string> out;
  for (const auto& [name, value] : candidates.front().hyper)
    if (std::any_of(candidates.begin(), candidates.end(), [&, n = name, v = value](const auto& candidate) {
          const auto at = candidate.hyper.find(n);
          return at == candidate.hyper.end() || at->second != v;
        }))
      out.push_back(name);
  return out;
}

std::vector<std::string> advice_row(const std::string& label, const advise::Assessment& one,
                                    const Advised& advised, const std::vector<std::string>& names) {
  const double level = advised.question.interval;
  std::vector<std::string> row{label};
  for (const auto& name : names) {
    const auto at = one.setting.hyper.find(name);
    row.push_back(at == one.setting.hyper.end() ? "-" : text(at->second));
  }
  row.push_back(std::to_string(one.setting.system.cores));
  row.push_back(std::to_string(one.setting.epochs));
  row.push_back(with_interval(one.seconds, level, seconds_text));
  row.push_back(one.metric ? with_interval(*one.metric, level, metric_text) : "-");
  row.push_back(one.joules ? with_interval(*one.joules, level, joules_text) : "-");
  row.push_back(fmt::format("{:.1f} %", 100 * one.p_meet));
  return row;
}

std::string advice_table(const Advised& advised) {
  const auto names = varied_names(advised.question.candidates);
  std::vector<std::string> head{""};
  head.insert(head.end(), names.begin(), names.end());
  const auto level = fmt::format("({:.0f} % interval)", 100 * advised.question.interval);
  for (const auto& column :
       {std::string("cores"), std::string("epochs"), "time " + level,
        advised.learnt.models.metric() + " " + level, "energy " + level, std::string("meets SLO")})
    head.push_back(column);
  std::vector<std::vector<std::string>> rows{head};
  const auto& advice = advised.advice;
  rows.push_back(advice_row(advice.met ? "advice" : "nearest", advice.choice, advised, names));
  for (const auto& one : advice.runner_ups) rows.push_back(advice_row("then", one, advised, names));
  return columns(rows);
}

// "  because    …", broken where the terminal ends, its further lines below the first.
std::string labelled_line(const std::string& label, const std::string& value, int width) {
  constexpr int kIndent = 13, kLeast = 20;
  std::string out;
  for (const auto& part : wrapped(value, static_cast<std::size_t>(std::max(kLeast, width - kIndent))))
    out += fmt::format("  {:<10} {}\n", out.empty() ? label : "", part);
  return out;
}

}  // namespace

std::string advice_text(const Advised& advised, int width) {
  const auto& advice = advised.advice;
  const auto& models = advised.learnt.models;
  std::string out = fmt::format(
      "{}: {} within {} at {:.0f} %{}\n\n", models.program(),
      advice.met ? "can be done" : "nothing is likely enough to end", text(advised.question.slo),
      100 * advised.question.probability,
      advised.running.count() == 0 ? "" : fmt::format(", beside {:.3g} other job{}", advised.running.count(),
                                               advised.running.count() == 1 ? "" : "s"));
  out += advice_table(advised) + "\n";
  for (const auto& reason : advice.reasons) out += labelled_line("because", reason, width);
  for (const auto& note : notes_of(advised)) out += labelled_line("note", note, width);
  return out;
}

}  // namespace tandem::report
