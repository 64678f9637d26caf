// An experiment's traces as tables that other tools read: CSV with a header, and a schema of their columns.
//
// runs.csv has one row a task (those of one run ran together), epochs.csv one row an epoch of a task. An
// empty cell is a value nobody measured. schema.json names type (int64, double, bool, string: as Parquet and
// pandas call them), unit and level of every column. Pure, but for `export_traces`.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "event/view.h"
#include "store/store.h"

namespace tandem::report {

struct TraceColumn {
  std::string name, type, unit, description;
};
struct TraceTable {
  std::vector<TraceColumn> columns;
  std::vector<std::vector<std::string>> rows;  // as written in the file, before quoting
};

TraceTable runs_table(const View&, JobId);
TraceTable epochs_table(const View&, JobId);
std::string csv_text(const TraceTable&);
nlohmann::json schema_json(const TraceTable&, const std::string& file);

// Makes the folder; UserError when it cannot be written to.
void export_traces(const std::filesystem::path& folder, const store::RunInfo&, const View&);

}  // namespace tandem::report
