#include "bench/sim_validation/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "sim/trace/trace_csv.h"

namespace tandem::bench {
namespace {

namespace fs = std::filesystem;
using sim::CsvTable;

constexpr int kMostGpus = 100'000, kMostBatch = 10'000'000;
constexpr double kLeast = 1e-9, kMost = 1e12;

std::string trouble_of(const CsvTable& table) {
  if (!table.trouble()) return {};
  return table.trouble()->reason +
         (table.trouble()->detail.empty() ? "" : " (" + table.trouble()->detail + ")");
}

// What must be at least one.
int count_of(CsvTable& table, std::size_t column, int most) {
  return static_cast<int>(table.number(column, 1, most));
}

std::string label_of(const CsvTable& table, std::size_t column) {
  return printable(table.text(column), 60);
}

// "112": a node with one GPU, another one, and one with two. Empty: not a placement.
std::vector<int> placement_of(std::string_view digits) {
  std::vector<int> out;
  for (const char c : digits) {
    if (c < '0' || c > '9') return {};
    if (c != '0') out.push_back(c - '0');
  }
  std::sort(out.begin(), out.end());
  return out;
}

// As evenly as can be.
std::vector<int> spread_out(int gpus, int nodes) {
  std::vector<int> out(static_cast<std::size_t>(nodes), gpus / nodes);
  for (int i = 0; i < gpus % nodes; ++i) ++out[out.size() - 1 - static_cast<std::size_t>(i)];
  return out;
}

constexpr std::array<std::string_view, 3> kPlacement{"local_bsz", "step_time", "placement"};
constexpr std::array<std::string_view, 4> kScalability{"local_bsz", "step_time", "num_nodes", "num_replicas"};

std::vector<int> nodes_of(CsvTable& table, bool placements) {
  if (placements) return placement_of(table.text(2));
  const int nodes = count_of(table, 2, kMostGpus), gpus = count_of(table, 3, kMostGpus);
  return nodes >= 1 && gpus >= nodes ? spread_out(gpus, nodes) : std::vector<int>{};
}

void read_sia_file(const fs::path& path, bool placements, SiaSet& out) {
  const auto text = read_text(path.string());
  if (!text) return out.troubles.push_back(path.filename().string() + ": it cannot be read");
  const std::span<const std::string_view> columns =
      placements ? std::span<const std::string_view>(kPlacement) : kScalability;
  auto table = CsvTable::with_header(*text, path.string(), columns);
  while (table.next()) {
    SiaRow row;
    row.batch = count_of(table, 0, kMostBatch);
    row.seconds = table.number(1, kLeast, kMost);
    row.nodes = nodes_of(table, placements);
    std::string why = trouble_of(table);
    if (why.empty() && row.nodes.empty()) why = "it names no nodes with GPUs";
    if (why.empty())
      out.rows.push_back(std::move(row));
    else
      out.troubles.push_back(fmt::format("{}:{}: {}", path.filename().string(), table.line(), why));
  }
}

}  // namespace

std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string out;
  for (std::string line; std::getline(file, line);) out += (line.starts_with('#') ? "" : line) + '\n';
  return out;
}

std::optional<std::vector<TensorFlowRow>> read_tensorflow(const std::string& folder) {
  static constexpr std::array<std::string_view, 8> kColumns{
      "system", "gpu", "data", "batch_per_gpu", "model", "strategy", "gpus", "images_per_second"};
  const std::string path = folder + "/published/tensorflow-2017-images-per-second.csv";
  const auto text = read_text(path);
  if (!text) return std::nullopt;
  auto table = CsvTable::with_header(*text, path, kColumns);
  std::vector<TensorFlowRow> out;
  while (table.next()) {
    TensorFlowRow row{table.line(),       label_of(table, 0), label_of(table, 1),
                      label_of(table, 2), label_of(table, 4), label_of(table, 5)};
    row.batch = count_of(table, 3, kMostBatch);
    row.gpus = count_of(table, 6, kMostGpus);
    row.rate = table.number(7, kLeast, kMost);
    row.trouble = trouble_of(table);
    out.push_back(std::move(row));
  }
  return out;
}

std::optional<std::vector<ScalingRow>> read_scaling(const std::string& folder) {
  static constexpr std::array<std::string_view, 6> kColumns{"source", "model",  "hardware",
                                                            "gpus",   "metric", "value"};
  const std::string path = folder + "/published/horovod-mlperf.csv";
  const auto text = read_text(path);
  if (!text) return std::nullopt;
  auto table = CsvTable::with_header(*text, path, kColumns);
  std::vector<ScalingRow> out;
  while (table.next()) {
    ScalingRow row{table.line(), label_of(table, 0), label_of(table, 1), label_of(table, 2),
                   label_of(table, 4)};
    row.gpus = count_of(table, 3, kMostGpus);
    row.value = table.number(5, kLeast, kMost);
    row.trouble = trouble_of(table);
    out.push_back(std::move(row));
  }
  return out;
}

int SiaRow::gpus() const {
  return std::accumulate(nodes.begin(), nodes.end(), 0);
}

std::optional<std::vector<SiaSet>> read_sia(const std::string& folder) {
  const fs::path root = fs::path(folder) / "sia";
  if (!fs::is_directory(root)) return std::nullopt;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.is_regular_file() && entry.path().extension() == ".csv") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::map<std::pair<std::string, std::string>, SiaSet> sets;
  for (const fs::path& path : files) {
    const std::string stem = path.stem().string();
    const auto dash = stem.find('-');
    const std::string kind = stem.substr(0, dash);
    if (dash == std::string::npos || (kind != "placements" && kind != "scalability"))
      continue;  // validation-*.csv
    const std::string application = path.parent_path().filename().string(), cluster = stem.substr(dash + 1);
    SiaSet& set = sets[{application, cluster}];
    set.application = application;
    set.cluster = cluster;
    try {
      read_sia_file(path, kind == "placements", set);
    } catch (const UserError& error) {
      set.troubles.push_back(error.what());
    }
  }
  std::vector<SiaSet> out;
  for (auto& [key, set] : sets) out.push_back(std::move(set));
  return out;
}

}  // namespace tandem::bench
