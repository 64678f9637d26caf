#include "report/experiment_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "tune/experiment_runs.h"

namespace tandem::report {

namespace {

using nlohmann::json;

std::string export_number(double value) {
  return fmt::format("{}", value);
}

std::string type_of(const Value& value) {
  if (std::holds_alternative<bool>(value)) return "bool";
  if (std::holds_alternative<std::int64_t>(value)) return "int64";
  return std::holds_alternative<double>(value) ? "double" : "string";
}

std::string cell_of(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return export_number(*real);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return tandem::text(value);
}

// One type for all values of a factor: whole and real ones together are real, anything else is text.
void widen(std::string& type, const std::string& other) {
  if (type.empty()) type = other;
  if (type == other) return;
  const bool numbers = type != "string" && other != "string" && type != "bool" && other != "bool";
  type = numbers ? "double" : "string";
}

// Columns whose names come from the data: factors and what was measured.
class Named {
 public:
  void see_factors(const Values& at) {
    for (const auto& [name, value] : at) widen(factors_[name], type_of(value));
  }
  void see_measured(const Metrics& measured) {
    for (const auto& [name, value] : measured) measured_.insert(name);
  }

  void add_columns(TraceTable& table) const {
    for (const auto& [name, type] : factors_)
      table.columns.push_back({"factor_" + name, type, unit_of_factor(name), "the point: its " + name});
    std::set<std::string> taken;
    for (const auto& column : table.columns) taken.insert(column.name);
    for (const auto& name : measured_) {
      const auto meaning = tune::meaning_of(name);
      table.columns.push_back({taken.contains(name) ? "measured_" + name : name, "double", meaning.unit,
                               std::string(tune::name(meaning.level)) + " level"});
    }
  }

  void add_cells(const Values& at, const Metrics& measured, std::vector<std::string>& row) const {
    for (const auto& [name, type] : factors_) {
      const auto found = at.find(name);
      row.push_back(found == at.end() ? "" : cell_of(found->second));
    }
    for (const auto& name : measured_) {
      const auto found = measured.find(name);
      row.push_back(found == measured.end() ? "" : export_number(found->second));
    }
  }

 private:
  static std::string unit_of_factor(const std::string& name) { return name == "memory" ? "B" : "1"; }

  std::map<std::string, std::string> factors_;
  std::set<std::string> measured_;
};

std::vector<TraceColumn> columns_of_a_task() {
  return {{"task", "int64", "1", "of the run, from 0"},
          {"run", "int64", "1", "of the experiment, from 0, in the order they were run"},
          {"point", "int64", "1", "of the design; the same for all its replications"},
          {"replication", "int64", "1", "of the point, from 0"},
          {"job", "int64", "1", "of those that ran at once, from 0"}};
}

std::vector<std::string> cells_of_a_task(const tune::MeasuredTask& task) {
  return {std::to_string(task.task), std::to_string(task.run), std::to_string(task.point),
          std::to_string(task.replication), std::to_string(task.job)};
}

std::string quoted_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  if (!out) throw UserError("cannot write " + file.string() + ": may you write to its folder?");
  out << text << std::flush;
  if (!out) throw_errno("writing " + file.string());
}

Metrics metrics_and_rates(const EpochRecord& epoch) {
  Metrics out = epoch.profile.rates;
  for (const auto& [name, value] : epoch.metrics) out[name] = value;
  return out;
}

}  // namespace

TraceTable runs_table(const View& view, JobId job) {
  const auto tasks = tune::measured_tasks(view, job);
  Named named;
  for (const auto& task : tasks) {
    named.see_factors(task.at);
    named.see_measured(task.measured);
  }
  TraceTable table{columns_of_a_task(), {}};
  for (const TraceColumn& column :
       {TraceColumn{"varied", "string", "", "one-at-a-time: the factor that was not as usual"},
        TraceColumn{"state", "string", "", "finished, failed, stopped, running or waiting"},
        TraceColumn{"reason", "string", "", "why it failed"},
        TraceColumn{"attempts", "int64", "1", "starts of its program"},
        TraceColumn{"epochs", "int64", "1", "reported"},
        TraceColumn{"epochs_wanted", "int64", "1", "asked for"}})
    table.columns.push_back(column);
  named.add_columns(table);
  for (const auto& task : tasks) {
    auto& row = table.rows.emplace_back(cells_of_a_task(task));
    for (const auto& cell : {task.varied, task.state, task.reason, std::to_string(task.attempts),
                             std::to_string(task.epochs), std::to_string(task.epochs_wanted)})
      row.push_back(cell);
    named.add_cells(task.at, task.measured, row);
  }
  return table;
}

TraceTable epochs_table(const View& view, JobId job) {
  const auto tasks = tune::measured_tasks(view, job);
  Named named;
  for (const auto& task : tasks) {
    named.see_factors(task.at);
    for (const auto& epoch : view.tasks[static_cast<std::size_t>(task.task)].epochs)
      named.see_measured(metrics_and_rates(epoch));
  }
  TraceTable table{columns_of_a_task(), {}};
  for (const TraceColumn& column :
       {TraceColumn{"epoch", "int64", "1", "from 1"},
        TraceColumn{"attempt", "int64", "1", "that reported it"},
        TraceColumn{"ended_at", "double", "s", "since 1970"},
        TraceColumn{"seconds", "double", "s", "of the epoch, without start-up"},
        TraceColumn{"startup", "double", "s", "before it, until the program was ready"},
        TraceColumn{"joules", "double", "J", "of the epoch with start-up"}})
    table.columns.push_back(column);
  named.add_columns(table);
  for (const auto& task : tasks)
    for (const auto& epoch : view.tasks[static_cast<std::size_t>(task.task)].epochs) {
      auto& row = table.rows.emplace_back(cells_of_a_task(task));
      for (const auto& cell :
           {std::to_string(epoch.epoch), std::to_string(epoch.attempt), export_number(epoch.at.value),
            export_number(epoch.working().value), export_number(epoch.startup.value),
            epoch.energy ? export_number(epoch.energy->joules.value) : std::string()})
        row.push_back(cell);
      named.add_cells(task.at, metrics_and_rates(epoch), row);
    }
  return table;
}

std::string csv_text(const TraceTable& table) {
  std::string out;
  const auto line = [&](const auto& cells, auto text_of) {
    for (std::size_t i = 0; i < cells.size(); ++i) out += (i > 0 ? "," : "") + quoted_cell(text_of(cells[i]));
    out += "\n";
  };
  line(table.columns, [](const TraceColumn& column) { return column.name; });
  for (const auto& row : table.rows) line(row, [](const std::string& cell) { return cell; });
  return out;
}

json schema_json(const TraceTable& table, const std::string& file) {
  json columns = json::array();
  for (const auto& column : table.columns)
    columns.push_back({{"name", column.name},
                       {"type", column.type},
                       {"unit", column.unit},
                       {"description", column.description},
                       {"nullable", true}});
  return {{"file", file}, {"rows", table.rows.size()}, {"columns", columns}};
}

void export_traces(const std::filesystem::path& folder, const store::RunInfo& run, const View& view) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw UserError("cannot make the folder " + folder.string() + ": " + error.message());
  if (view.jobs.empty()) throw UserError("run " + run.id + " has not begun: there is nothing to export yet");
  json schema{{"run", run.id},       {"name", run.name}, {"format", "csv"},
              {"encoding", "utf-8"}, {"missing", ""},    {"tables", json::object()}};
  for (const auto& [name, table] :
       {std::pair{"runs", runs_table(view, 0)}, {"epochs", epochs_table(view, 0)}}) {
    const std::string file = std::string(name) + ".csv";
    write(folder / file, csv_text(table));
    schema["tables"][name] = schema_json(table, file);
  }
  write(folder / "schema.json", schema.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace tandem::report
