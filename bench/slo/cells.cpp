#include "bench/slo/cells.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/random.h"

namespace tandem::bench {
namespace {

constexpr int kEpochs = 10;  // Courier's runs: 10 epochs each

std::vector<std::vector<double>> read_numbers(const std::string& path, std::size_t columns) {
  std::ifstream in(path);
  std::vector<std::vector<double>> out;
  std::string line;
  std::getline(in, line);  // the header
  for (std::size_t number = 2; std::getline(in, line); ++number) {
    std::vector<double> row;
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) row.push_back(std::stod(field));
    if (row.size() != columns)
      throw UserError(fmt::format("{}:{}: {} columns instead of {}", path, number, row.size(), columns));
    out.push_back(std::move(row));
  }
  return out;
}

CellKey key_of(const std::vector<double>& row) {
  return {static_cast<int>(row[0]), static_cast<int>(row[1]), static_cast<int>(row[2])};
}

// Where a cell's accuracy was not measured: the mean of those of its batch size.
void fill_accuracies(Cells& cells) {
  for (auto& [key, cell] : cells) {
    if (cell.accuracy > 0) continue;
    cell.accuracy_measured = false;
    double sum = 0, count = 0;
    for (const auto& [other, known] : cells)
      if (other.batch == key.batch && known.accuracy_measured && known.accuracy > 0)
        sum += known.accuracy, count += 1;
    cell.accuracy = sum / count;
  }
}

// `count` normal numbers, moved and stretched so that they have exactly mean 0 and sample deviation 1.
std::vector<double> standard_numbers(int count, Random& random) {
  std::vector<double> out;
  double mean = 0, squares = 0;
  for (int i = 0; i < count; ++i) mean += out.emplace_back(random.normal()) / count;
  for (double& value : out) squares += (value - mean) * (value - mean);
  for (double& value : out) value = (value - mean) / std::sqrt(squares / (count - 1));
  return out;
}

}  // namespace

Cells read_cells(const std::string& data) {
  Cells out;
  for (const auto& row : read_numbers(data + "/courier/fullfactorial-means-48.csv", 6))
    out[key_of(row)] = {static_cast<int>(row[3]), row[4], row[5]};
  for (const auto& row : read_numbers(data + "/courier/lenet5-bigdl-48.csv", 7))
    if (const auto found = out.find(key_of(row)); found != out.end()) found->second.accuracy = row[4];
  fill_accuracies(out);
  return out;
}

advise::Setting setting_of(const CellKey& key) {
  advise::Setting out;
  out.hyper["batch_size"] = std::int64_t{key.batch};
  out.system.cores = key.cpus;
  out.epochs = kEpochs;
  return out;
}

std::vector<advise::PastRun> history_without(const Cells& cells, int cpus, int jobs, std::uint64_t seed) {
  std::vector<advise::PastRun> out;
  for (const auto& [key, cell] : cells) {
    if (key.cpus == cpus && key.jobs == jobs) continue;
    Random random(seed, hash_name(fmt::format("{} {} {}", key.cpus, key.batch, key.jobs)));
    std::vector<double> offsets;
    const auto all_positive = [&] {
      for (const double offset : offsets)
        if (cell.mean + offset * cell.deviation <= 0) return false;
      return !offsets.empty();
    };
    while (!all_positive()) offsets = standard_numbers(cell.runs, random);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      advise::PastRun run;
      run.id = fmt::format("cpus {} batch {} jobs {} run {}", key.cpus, key.batch, key.jobs, i + 1);
      run.program = "lenet5 on BigDL";
      run.machine = "four nodes";
      run.setting = setting_of(key);
      run.load = {{{0}, static_cast<double>(key.jobs), static_cast<double>(key.jobs * key.cpus)}};
      run.seconds = {cell.mean + offsets[i] * cell.deviation};
      if (i == 0 && cell.accuracy_measured) run.metrics = {{kEpochs, {{"accuracy", cell.accuracy}}}};
      out.push_back(std::move(run));
    }
  }
  return out;
}

}  // namespace tandem::bench
