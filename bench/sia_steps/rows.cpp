#include "bench/sia_steps/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/error.h"
#include "stats/numeric/median.h"

namespace tandem::bench {
namespace {

using Cells = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) out.push_back(cell);
  return out;
}

// Each digit of a placement is the GPUs of one node; elsewhere replicas are spread evenly.
std::vector<int> gpus_by_node(const Cells& cells) {
  std::vector<int> out;
  if (const auto placement = cells.find("placement"); placement != cells.end()) {
    for (const char digit : placement->second) out.push_back(digit - '0');
  } else {
    const int nodes = std::stoi(cells.at("num_nodes")), replicas = std::stoi(cells.at("num_replicas"));
    for (int node = 0; node < nodes; ++node) out.push_back(replicas / nodes + (node < replicas % nodes));
  }
  std::sort(out.begin(), out.end());
  return out;
}

void add_row(StepSet& set, const Cells& cells) {
  const std::vector<int> gpus = gpus_by_node(cells);
  double replicas = 0;
  for (const int each : gpus) replicas += each;
  for (const double value : {std::stod(cells.at("local_bsz")), replicas, static_cast<double>(gpus.size()),
                             static_cast<double>(gpus.back()), static_cast<double>(gpus.front())})
    set.rows.push_back(value);
  set.seconds.push_back(std::stod(cells.at("step_time")));
  set.gpus_by_node.push_back(fmt::format("{}", fmt::join(gpus, "+")));
  set.alike.push_back(set.gpus_by_node.back() + " " + cells.at("local_bsz"));
}

StepSet read_file(const std::filesystem::path& path, StepSet set) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  const auto header = split(line);
  for (std::size_t number = 2; std::getline(in, line); ++number) try {
      const auto cells = split(line);
      Cells by_name;
      for (std::size_t i = 0; i < header.size(); ++i) by_name[header[i]] = cells.at(i);
      add_row(set, by_name);
    } catch (const std::logic_error&) {  // of std::stod and of at()
      throw UserError(fmt::format("{}:{}: cannot be read: {}", path.string(), number, line));
    }
  return set;
}

}  // namespace

std::span<const double> StepSet::row(std::size_t i) const {
  return std::span(rows).subspan(i * kStepColumns.size(), kStepColumns.size());
}

StepSet StepSet::only(const std::vector<bool>& chosen) const {
  StepSet out{application, cluster, file};
  for (std::size_t i = 0; i < count(); ++i) {
    if (!chosen[i]) continue;
    out.rows.insert(out.rows.end(), row(i).begin(), row(i).end());
    out.seconds.push_back(seconds[i]), out.alike.push_back(alike[i]);
    out.gpus_by_node.push_back(gpus_by_node[i]);
  }
  return out;
}

std::optional<std::vector<StepSet>> read_steps(const std::string& data) {
  const std::filesystem::path folder = std::filesystem::path(data) / "sia";
  if (!std::filesystem::is_directory(folder)) return std::nullopt;
  std::vector<StepSet> out;
  for (const auto& application : std::filesystem::directory_iterator(folder))
    for (const auto& file : std::filesystem::directory_iterator(application)) {
      const std::string stem = file.path().stem().string(), kind = stem.substr(0, stem.find('-'));
      if (kind != "placements" && kind != "scalability") continue;
      out.push_back(read_file(file.path(),
                              {application.path().filename().string(), stem.substr(kind.size() + 1), kind}));
    }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return std::tie(a.file, a.application, a.cluster) < std::tie(b.file, b.application, b.cluster);
  });
  return out;
}

std::optional<double> noise_floor(const StepSet& set) {
  std::map<std::string, std::vector<double>> groups;
  for (std::size_t i = 0; i < set.count(); ++i) groups[set.alike[i]].push_back(set.seconds[i]);
  double sum = 0;
  std::size_t count = 0;
  for (const auto& [name, seconds] : groups) {
    const auto n = static_cast<double>(seconds.size());
    if (n < 2) continue;
    double mean = 0;
    for (const double each : seconds) mean += each / n;
    // n values lie closer to their own mean than to the true one.
    for (const double each : seconds) sum += std::abs(each / mean - 1) * std::sqrt(n / (n - 1)), ++count;
  }
  return count ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
}

std::optional<double> noise_in_kinks(const StepSet& set) {
  std::map<std::string, std::map<double, double>> logs;  // by placement and batch
  for (std::size_t i = 0; i < set.count(); ++i)
    logs[set.gpus_by_node[i]].emplace(set.row(i)[0], std::log(set.seconds[i]));
  std::map<std::array<double, 3>, std::vector<double>> kinks;  // by the three batches
  for (const auto& [placement, by_batch] : logs) {
    const std::vector<std::pair<double, double>> at(by_batch.begin(), by_batch.end());
    for (std::size_t i = 2; i < at.size(); ++i)
      kinks[{at[i - 2].first, at[i - 1].first, at[i].first}].push_back(at[i - 2].second -
                                                                       2 * at[i - 1].second + at[i].second);
  }
  constexpr double kOfLaplace = 2.61;  // E|a - 2b + c| of three of its draws, in E|a|
  double sum = 0, count = 0;
  for (const auto& [batches, each] : kinks) {
    const auto n = static_cast<double>(each.size());
    if (n < 3) continue;
    const double common = stats::median(each);
    for (const double kink : each)
      sum += std::abs(kink - common) * std::sqrt(n / (n - 1)) / kOfLaplace, ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

}  // namespace tandem::bench
