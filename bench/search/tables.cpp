// Real measurements as problems: a point is a row of the table, what nobody measured costs as much as the
// worst.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "bench/search/problems.h"

namespace tandem::bench {
namespace {

using Row = std::map<std::string, std::string>;
using Cell = std::vector<double>;  // the place of each parameter in its list

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> out;
  std::stringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) out.push_back(field);
  if (!out.empty() && !out.back().empty() && out.back().back() == '\r') out.back().pop_back();
  return out;
}

std::vector<Row> read_csv(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const auto names = fields(line);
  std::vector<Row> out;
  while (std::getline(file, line)) {
    const auto values = fields(line);
    Row row;
    for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i) row[names[i]] = values[i];
    out.push_back(row);
  }
  return out;
}

// A table under construction: what was measured at a point, averaged when there are several.
struct Table {
  std::map<Cell, std::pair<double, int>> cells;

  void add(const Cell& cell, double value) {
    auto& [sum, count] = cells[cell];
    sum += value;
    ++count;
  }
  std::function<double(const Values&)> loss(std::vector<std::string> order) const {
    std::map<Cell, double> mean;
    double worst = 0;
    for (const auto& [cell, sum] : cells) worst = std::max(worst, mean[cell] = sum.first / sum.second);
    return [mean, worst, order = std::move(order)](const Values& point) {
      Cell cell;
      for (const auto& name : order) {
        const auto& value = point.at(name);
        const auto* text = std::get_if<std::string>(&value);
        cell.push_back(text ? std::stod(text->substr(text->find('_') + 1)) : *as_number(value));
      }
      const auto found = mean.find(cell);
      return found == mean.end() ? worst : found->second;
    };
  }
};

double place(const std::set<int>& values, int value) {
  return static_cast<double>(std::distance(values.begin(), values.find(value)));
}

// Energy (or time) until the network reaches its target: epochs by batch size × an epoch's joules by GPU,
// batch size and power limit. The GPU is a word, batch size and power limit are places in their sorted lists.
Problem zeus(const std::string& data, const std::string& dataset, const std::string& target, bool energy) {
  std::map<int, std::pair<double, int>> epochs;
  for (const auto& row : read_csv(data + "/zeus/summary_train.csv"))
    if (row.at("dataset") == dataset && row.at("target_metric") == target &&
        row.at("target_epoch") != "nan") {
      auto& [sum, count] = epochs[std::stoi(row.at("batch_size"))];
      sum += std::stod(row.at("target_epoch"));
      ++count;
    }
  const std::string other_optimizer = dataset == "cifar100" ? "adam" : "";  // only one of them was trained
  std::set<int> batches, limits;
  std::vector<std::pair<int, Row>> rows;
  int gpu = 0;
  for (const std::string name : {"a40", "p100", "v100"}) {
    for (const auto& row : read_csv(data + "/zeus/summary_power_" + name + ".csv"))
      if (row.at("dataset") == dataset && row.at("optimizer") != other_optimizer) {
        batches.insert(std::stoi(row.at("batch_size")));
        limits.insert(std::stoi(row.at("power_limit")));
        rows.emplace_back(gpu, row);
      }
    ++gpu;
  }
  Table table;
  for (const auto& [which, row] : rows) {
    const int batch = std::stoi(row.at("batch_size"));
    const auto found = epochs.find(batch);
    if (found == epochs.end()) continue;  // never reached the target
    const double seconds = found->second.first / found->second.second * std::stod(row.at("time_per_epoch"));
    table.add(
        {static_cast<double>(which), place(batches, batch), place(limits, std::stoi(row.at("power_limit")))},
        energy ? seconds * std::stod(row.at("average_power")) : seconds);
  }
  Problem out{fmt::format("zeus {} {}", dataset, energy ? "energy" : "time"), 40, {}, nullptr};
  out.space.parameters = {{"gpu", words({"a40_0", "p100_1", "v100_2"}), {}},
                          {"batch", whole(0, static_cast<double>(batches.size()) - 1), {}},
                          {"limit", whole(0, static_cast<double>(limits.size()) - 1), {}}};
  out.loss = table.loss({"gpu", "batch", "limit"});
  return out;
}

// PipeTune's offline trials: error, or error × energy, by learning rate, epochs, batch size and cores.
Problem pipetune(const std::string& data, const std::string& workload, bool energy) {
  const std::vector<std::string> rates{"0.001", "0.01", "0.1"}, epochs{"4", "13", "50"};
  const std::set<int> batches{32, 64, 96, 128, 192, 256, 384, 512, 768, 1024}, cores{1, 2, 4, 8};
  const auto place_in = [](const std::vector<std::string>& list, const std::string& value) {
    return static_cast<double>(std::find(list.begin(), list.end(), value) - list.begin());
  };
  Table table;
  for (const std::string version : {"1", "2"})
    for (const int count : cores)
      for (const auto& row :
           read_csv(fmt::format("{}/pipetune/offline-TuneV{}Vary_{}_{}.csv", data, version, workload, count)))
        table.add({place_in(rates, row.at("lr")), place_in(epochs, row.at("epochs")),
                   place(batches, std::stoi(row.at("batch"))), place(cores, count)},
                  std::stod(row.at("error")) * (energy ? std::stod(row.at("energy_uj")) : 1));
  Problem out{fmt::format("pipetune {} {}", workload, energy ? "error x energy" : "error"), 40, {}, nullptr};
  out.space.parameters = {{"rate", whole(0, 2), {}},
                          {"epochs", whole(0, 2), {}},
                          {"batch", whole(0, 9), {}},
                          {"cores", whole(0, 3), {}}};
  out.loss = table.loss({"rate", "epochs", "batch", "cores"});
  return out;
}

}  // namespace

std::vector<Problem> tables(const std::string& data, std::vector<std::string>& skipped) {
  std::vector<Problem> out;
  if (std::filesystem::exists(data + "/zeus/summary_train.csv")) {
    out.push_back(zeus(data, "movielens-1m", "0.41", true));
    out.push_back(zeus(data, "cifar100", "0.6", false));
  } else {
    skipped.push_back(fmt::format("zeus: no {}/zeus/summary_train.csv; set TANDEM_DATA", data));
  }
  if (std::filesystem::exists(data + "/pipetune/offline-TuneV1Vary_bfs_1.csv")) {
    out.push_back(pipetune(data, "spkmeans", true));
    out.push_back(pipetune(data, "bfs", false));
  } else {
    skipped.push_back(fmt::format("pipetune: no {}/pipetune/offline-*.csv; set TANDEM_DATA", data));
  }
  return out;
}

}  // namespace tandem::bench
