#include "bench/zeus/traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "base/error.h"

namespace tandem::bench {
namespace {

using Kind = std::tuple<std::string, std::string, std::string>;  // dataset, network, optimizer
using Row = std::map<std::string, std::string>;

// As Zeus' authors ran them (run_alibaba.py of their artifact): the target, after how many epochs a run has
// failed, and the default batch size, or the largest that the GPU has memory for.
struct Usual {
  double target;
  std::int64_t most_epochs, batch;
};
const std::map<std::string, Usual> kUsual = {
    {"cifar100", {0.6, 100, 1024}}, {"imagenet", {0.65, 100, 256}},      {"squad", {84, 6, 32}},
    {"librispeech", {40, 16, 256}}, {"movielens-1m", {0.41, 100, 1024}}, {"sentiment140", {0.84, 10, 128}},
};

std::vector<Row> read_rows(const std::string& path) {
  std::ifstream in(path);
  std::vector<Row> out;
  std::vector<std::string> names;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    std::vector<std::string> fields;
    std::istringstream text(line);
    for (std::string field; std::getline(text, field, ',');) fields.push_back(field);
    if (!line.empty() && line.back() == ',') fields.emplace_back();
    if (number == 1) {
      names = fields;
      continue;
    }
    if (fields.size() != names.size())
      throw UserError(
          fmt::format("{}:{}: {} columns instead of {}", path, number, fields.size(), names.size()));
    auto& row = out.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = fields[i];
  }
  return out;
}

Kind kind_of(const Row& row) {
  return {row.at("dataset"), row.at("network"), row.at("optimizer")};
}

double epochs_of(const Row& row) {
  const auto& text = row.at("target_epoch");
  return text.empty() || text == "nan" ? INFINITY : std::stod(text);
}

using Runs = std::map<std::int64_t, std::vector<double>>;
using Targets = std::map<double, Runs>;

// For datasets whose target nobody published: the one that takes longest among those that at least half of
// the batch sizes reach in every run; twice the longest such run is a failure; the default is the middle one
// of the batch sizes that reach it.
Usual choose(const Targets& targets) {
  Usual out{0, 0, 0};
  double longest = -1;
  for (const auto& [target, runs] : targets) {
    std::vector<std::int64_t> good;
    double sum = 0, count = 0, most = 0;
    for (const auto& [batch, epochs] : runs) {
      const double worst = *std::max_element(epochs.begin(), epochs.end());
      if (!std::isfinite(worst)) continue;
      good.push_back(batch), most = std::max(most, worst);
      for (const double e : epochs) sum += e, count += 1;
    }
    if (2 * good.size() < runs.size() || good.empty() || sum / count <= longest) continue;
    longest = sum / count;
    out = {target, static_cast<std::int64_t>(2 * most), good[good.size() / 2]};
  }
  return out;
}

void add_power(Workload& w, const Row& row) {
  const auto batch = std::stoll(row.at("batch_size"));
  const double limit = std::stod(row.at("power_limit")), seconds = std::stod(row.at("time_per_epoch"));
  w.epochs[{batch, limit}] = {seconds, seconds * std::stod(row.at("average_power"))};
}

// Batch sizes that were measured under every limit; the default, or the largest below it.
void settle(Workload& w, const Usual& usual, const Runs& runs) {
  std::set<double> limits;
  for (const auto& [cell, epoch] : w.epochs) limits.insert(cell.second);
  w.job.limits.assign(limits.begin(), limits.end());
  w.target = usual.target;
  w.job.most_epochs = usual.most_epochs;
  for (const auto& [batch, epochs] : runs) {
    const bool all = std::all_of(limits.begin(), limits.end(), [&](double limit) {
      return w.epochs.contains({batch, limit});
    });
    if (!all) continue;
    w.runs[batch] = epochs;
    w.job.batches.push_back(batch);
    if (batch <= usual.batch || w.job.default_batch == 0) w.job.default_batch = batch;
  }
}

}  // namespace

double Workload::cost(const Epoch& epoch) const {
  return job.energy_weight * epoch.joules + (1 - job.energy_weight) * job.limits.back() * epoch.seconds;
}

std::vector<Workload> read_workloads(const std::string& data, double energy_weight) {
  const std::filesystem::path folder = data + "/zeus";
  std::vector<Workload> out;
  if (!std::filesystem::exists(folder / "summary_train.csv")) return out;
  std::map<Kind, Targets> trained;
  for (const auto& row : read_rows(folder / "summary_train.csv"))
    trained[kind_of(row)][std::stod(row.at("target_metric"))][std::stoll(row.at("batch_size"))].push_back(
        epochs_of(row));
  std::set<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().stem().string().starts_with("summary_power_")) files.insert(file.path());
  for (const auto& file : files) {
    std::map<Kind, Workload> of_gpu;
    for (const auto& row : read_rows(file)) add_power(of_gpu[kind_of(row)], row);
    for (auto& [kind, w] : of_gpu) {
      const auto found = trained.find(kind);
      if (found == trained.end()) continue;
      const auto usual = kUsual.find(std::get<0>(kind));
      w.target_of_authors = usual != kUsual.end() && found->second.contains(usual->second.target);
      w.job.energy_weight = energy_weight;
      w.name = std::get<0>(kind) + " " + std::get<1>(kind);
      w.gpu = file.stem().string().substr(std::string("summary_power_").size());
      const auto chosen = w.target_of_authors ? usual->second : choose(found->second);
      if (chosen.most_epochs > 0) settle(w, chosen, found->second.at(chosen.target));
      if (!w.job.batches.empty()) out.push_back(std::move(w));
    }
  }
  return out;
}

tune::EpochSlice Attempt::run(double limit, double epochs) {
  const double ran =
      std::min({epochs, needed_ - done_, static_cast<double>(workload_.job.most_epochs) - done_});
  const auto& epoch = workload_.epochs.at({batch_, limit});
  done_ += ran;
  spent_.seconds += ran * epoch.seconds;
  spent_.joules += ran * epoch.joules;
  return {batch_, limit, ran, ran * epoch.seconds, ran * epoch.joules};
}

Workload changed(Workload w) {
  for (auto& [cell, epoch] : w.epochs) epoch = {1.25 * epoch.seconds, 1.25 * epoch.joules};
  for (auto& [batch, runs] : w.runs) {
    const double ratio = static_cast<double>(w.job.default_batch) / static_cast<double>(batch);
    for (double& needed : runs) needed = std::ceil(needed * std::pow(ratio, 0.25));
  }
  return w;
}

Workload::Epoch expected(const Workload& w, std::int64_t batch, double limit) {
  const auto most = static_cast<double>(w.job.most_epochs);
  double epochs = 0, good = 0;
  for (const double needed : w.runs.at(batch)) epochs += std::min(needed, most), good += needed <= most;
  const auto& epoch = w.epochs.at({batch, limit});
  if (good == 0) return {INFINITY, INFINITY};
  return {epochs / good * epoch.seconds, epochs / good * epoch.joules};
}

}  // namespace tandem::bench
