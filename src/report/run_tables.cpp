#include "report/run_tables.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "report/text_table.h"

namespace tandem::report {
using nlohmann::json;
namespace {

const json kNothing;

const json& at(const json& row, const char* key) {
  const auto found = row.is_object() ? row.find(key) : row.end();
  return row.is_object() && found != row.end() ? *found : kNothing;
}

std::string when_text(const json& row) {
  const auto& created = at(row, "created");
  if (!created.is_number()) return "-";
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(static_cast<std::time_t>(created.get<double>())));
}

std::string score_text(const json& row) {
  const auto& score = at(row, "score");
  if (!score.is_object()) return "-";
  return fmt::format("{} {:.4g}", word(at(score, "metric")), at(score, "value").get<double>());
}

std::string time_text(const json& row) {
  const auto& seconds = at(row, "seconds");
  return seconds.is_number() ? text(Seconds{seconds.get<double>()}) : "-";
}

// With the meter's name: an estimate is never shown as measured.
std::string joules_text(const json& row) {
  const auto& joules = at(row, "joules");
  if (!joules.is_number()) return "-";
  const std::string source = word(at(row, "energy_source"));
  return fmt::format("{}{} ({})", at(row, "energy_complete") == false ? ">= " : "",
                     text(Joules{joules.get<double>()}), source.substr(0, source.find(' ')));
}

std::string progress_text(const json& row) {
  const auto& progress = at(row, "progress");
  if (!progress.is_object() || !at(progress, "done").is_number()) return "-";
  const auto& of = at(progress, "of");
  return fmt::format("{}{} {}", at(progress, "done").get<std::int64_t>(),
                     of.is_number() ? "/" + std::to_string(of.get<std::int64_t>()) : "",
                     word(at(progress, "unit")));
}

std::string tags_text(const json& row) {
  const auto& tags = at(row, "tags");
  return tags.is_array() && !tags.empty() ? join(tags.get<std::vector<std::string>>(), " ") : "";
}

std::string value_text(const json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.4g}", value.get<double>());
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

using Cell = std::function<std::string(const json& run)>;

void add_row(std::vector<std::vector<std::string>>& rows, const json& runs, const std::string& label,
             const Cell& cell) {
  std::vector<std::string> row{label};
  bool any = false;
  for (const auto& run : runs) {
    row.push_back(cell(run));
    any |= row.back() != "-" && !row.back().empty();
  }
  if (any) rows.push_back(std::move(row));
}

// A row for each key of an object that runs have: {"hyper": {"batch_size": 32}}.
void add_rows_of(std::vector<std::vector<std::string>>& rows, const json& runs, const char* of,
                 const std::string& indent) {
  std::set<std::string> keys;
  for (const auto& run : runs)
    for (const auto& [key, value] : at(run, of).items()) keys.insert(key);
  for (const auto& key : keys)
    add_row(rows, runs, indent + key, [&](const json& run) { return value_text(at(at(run, of), key.c_str())); });
}

// The best score, where all have the same metric; null otherwise.
json best_score(const json& runs) {
  json best;
  for (const auto& run : runs) {
    const auto& score = at(run, "score");
    if (!score.is_object()) return nullptr;
    if (best.is_null()) best = score;
    if (score["metric"] != best["metric"] || score["higher_is_better"] != best["higher_is_better"]) return nullptr;
    const double now = score["value"].get<double>(), before = best["value"].get<double>();
    if (best["higher_is_better"].get<bool>() ? now > before : now < before) best = score;
  }
  return best;
}

}  // namespace

std::string runs_table(const json& runs) {
  std::vector<std::vector<std::string>> rows{
      {"RUN", "KIND", "NAME", "STATE", "SCORE", "DONE", "TIME", "ENERGY", "STARTED", "TAGS"}};
  for (const auto& run : runs)
    rows.push_back({word(at(run, "id")), word(at(run, "kind")), printable_line(word(at(run, "name")), 40),
                    word(at(run, "state")), score_text(run), progress_text(run), time_text(run),
                    joules_text(run), when_text(run), tags_text(run)});
  std::string out = columns(rows);
  for (const auto& run : runs) {
    if (const auto& note = at(run, "note"); note.is_string() && !note.get<std::string>().empty())
      out += fmt::format("{}: {}\n", word(at(run, "id")), printable_line(note.get<std::string>(), 400));
    if (const auto& problem = at(run, "problem"); problem.is_string())
      out += fmt::format("{}: cannot be read: {}\n", word(at(run, "id")),
                         printable_line(problem.get<std::string>(), 400));
  }
  return out;
}

std::string comparison_table(const json& comparison) {
  const auto& runs = comparison["runs"];
  const json best = best_score(runs);
  std::vector<std::vector<std::string>> rows;
  add_row(rows, runs, "", [](const json& run) { return word(at(run, "run")); });
  for (const char* key : {"name", "kind", "state", "algorithm", "mode"})
    add_row(rows, runs, key, [&](const json& run) { return value_text(at(run, key)); });
  add_row(rows, runs, "tags", tags_text);
  add_row(rows, runs, "score", [&](const json& run) {
    const bool is_best = best.is_object() && runs.size() > 1 && at(run, "score") == best;
    return score_text(run) + (is_best ? " *" : "");
  });
  add_rows_of(rows, runs, "metrics", "  ");
  add_row(rows, runs, "time", time_text);
  add_row(rows, runs, "energy", joules_text);
  add_row(rows, runs, "done", progress_text);
  for (const char* key : {"trials", "seed"})
    add_row(rows, runs, key, [&](const json& run) { return value_text(at(run, key)); });
  add_rows_of(rows, runs, "hyper", "  ");
  add_rows_of(rows, runs, "system", "  ");
  std::string out = columns(rows);
  for (const auto& run : runs)
    if (const auto& note = at(run, "note"); note.is_string() && !note.get<std::string>().empty())
      out += fmt::format("{}: {}\n", word(at(run, "run")), printable_line(note.get<std::string>(), 400));
  return out;
}

}  // namespace tandem::report
