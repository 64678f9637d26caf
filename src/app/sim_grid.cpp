#include "app/sim_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "graph/import.h"
#include "graph/zoo.h"
#include "sim/workload/run_samples.h"
#include "spec/parse_sim.h"
#include "spec/sim_checks.h"

namespace tandem::app {
namespace {

constexpr std::size_t kMostCells = 10'000;
constexpr std::size_t kLargestModel = 64u << 20;  // bytes of a model file

// ---- cells ----

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) out.push_back(part);
  if (text.empty() || text.back() == at) out.emplace_back();
  return out;
}

SweptKey parse_key(const std::string& written) {
  const auto equals = written.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UserError(fmt::format("--sweep '{}' is not a key with its values, such as workers=1,2,4",
                                printable(written, 80)));
  SweptKey out{written.substr(0, equals), split(written.substr(equals + 1), ',')};
  for (const auto& value : out.values)
    if (value.empty())
      throw UserError(fmt::format("--sweep {}: a value is missing; write them like workers=1,2,4",
                                  printable(written, 80)));
  if (out.key == "name")
    throw UserError("--sweep name: a name changes nothing; sweep a key such as workers or batch");
  return out;
}

graph::Model read_model_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UserError("cannot read the model file " + file + ": is it there, and may you read it?");
  std::string text(kLargestModel + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  if (text.size() > kLargestModel)
    throw UserError(fmt::format("the model file {} is larger than {}: is it the right one?", file,
                                text_bytes(static_cast<Bytes>(kLargestModel))));
  return graph::read_model(text, file);
}

// Models by name or file, each made once.
class GridModels {
 public:
  std::shared_ptr<const graph::Model> of(const spec::Workload& workload) {
    const bool file = workload.model.empty();
    auto& model = known_[{file, file ? workload.model_file : workload.model}];
    if (!model)
      model = std::make_shared<graph::Model>(file ? read_model_file(workload.model_file)
                                                  : graph::make(workload.model));
    return model;
  }

 private:
  std::map<std::pair<bool, std::string>, std::shared_ptr<const graph::Model>> known_;
};

SimCell cell_of(const spec::Workload& workload, const std::vector<SweptKey>& sweep, std::size_t index,
                const Catalogue& catalogue) {
  SimCell cell{workload};
  cell.swept.resize(sweep.size());
  for (std::size_t i = sweep.size(); i-- > 0;) {
    const auto& values = sweep[i].values;
    cell.swept[i] = {sweep[i].key, values[index % values.size()]};
    index /= values.size();
  }
  for (const auto& [key, value] : cell.swept) {
    try {
      spec::set_key(cell.workload, key, value, catalogue);
    } catch (const UserError& error) {
      throw UserError(
          fmt::format("--sweep {}={}: {}", printable(key, 80), printable(value, 80), error.what()));
    }
  }
  return cell;
}

// ---- rows ----

std::string problem_of(const spec::Workload& workload, const spec::Cluster& cluster) {
  std::vector<std::string> lines;
  for (const auto& found : {spec::problems(workload), spec::problems(workload, cluster)})
    for (const auto& problem : found) lines.push_back(spec::path_text(problem.at) + ": " + problem.message);
  return join(lines, "; ");
}

// What the speed-up is measured against.
spec::Workload alone(spec::Workload workload, const std::string& device) {
  const spec::Workload plain;
  workload.strategy = "default";
  workload.workers = workload.servers = 1;
  workload.synchronous = true;
  workload.variables_on_gpu = plain.variables_on_gpu;
  workload.overlap = plain.overlap;
  workload.device = device;
  return workload;
}

// The same workload with so many steps at most.
spec::Workload shortened(spec::Workload workload, std::int64_t steps) {
  if (sim::steps_of(workload).count <= steps) return workload;
  workload.iterations = workload.strong ? steps : steps * workload.workers;
  workload.epochs = 0;
  return workload;
}

Beginning beginning_of(const spec::Cluster& cluster, const SimCell& cell, const GridOptions& options) {
  sim::RunOptions run{.seed = options.seed, .jump = false, .timeline = true};
  auto result = sim::run_workload(cluster, shortened(cell.workload, options.show_steps), *cell.model, run);
  return {result.steps, result.t_exec, std::move(result.timeline)};
}

// One workload on one device, for all rows that are measured against it.
struct Baseline {
  SimCell cell;
  std::optional<double> t_exec{};
  std::string error{};
};

class Grid {
 public:
  Grid(const spec::Cluster& cluster, const std::vector<SimCell>& cells, const GridOptions& options)
      : cluster_(cluster), options_(options) {
    for (const auto& cell : cells) {
      SimRow& row = rows_.emplace_back(SimRow{cell});
      row.error = problem_of(cell.workload, cluster);
      const auto* device = spec::computes_on(cell.workload, cluster);
      if (device) row.device = device->name;
      baseline_of_.push_back(row.error.empty() ? baseline(cell, row.device) : 0);
    }
  }

  std::vector<SimRow> run() {
    in_parallel(rows_.size() + baselines_.size(), options_.threads, [&](std::size_t i) {
      if (i < rows_.size())
        simulate(rows_[i]);
      else
        simulate(baselines_[i - rows_.size()]);
    });
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].error.empty()) compare(rows_[i], baselines_[baseline_of_[i]]);
    return std::move(rows_);
  }

 private:
  std::size_t baseline(const SimCell& cell, const std::string& device) {
    Baseline wanted{{alone(cell.workload, device), {}, cell.model}};
    const auto known = std::find_if(baselines_.begin(), baselines_.end(), [&](const Baseline& one) {
      return one.cell.workload == wanted.cell.workload;
    });
    if (known != baselines_.end()) return static_cast<std::size_t>(known - baselines_.begin());
    baselines_.push_back(std::move(wanted));
    return baselines_.size() - 1;
  }

  void simulate(SimRow& row) {
    if (row.error.empty()) {
      try {
        row.result = sim::run_workload(cluster_, row.cell.workload, *row.cell.model, {.seed = options_.seed});
        if (options_.show_steps > 0) row.beginning = beginning_of(cluster_, row.cell, options_);
      } catch (const UserError& error) {
        row.error = error.what();
      }
    }
    const std::lock_guard guard(telling_);
    ++done_;
    if (options_.progress) options_.progress(done_, rows_.size(), row);
  }

  void simulate(Baseline& one) {
    try {
      one.t_exec =
          sim::run_workload(cluster_, one.cell.workload, *one.cell.model, {.seed = options_.seed}).t_exec;
    } catch (const UserError& error) {
      one.error = error.what();
    }
  }

  static void compare(SimRow& row, const Baseline& one) {
    if (!one.t_exec)
      row.no_speedup = "one device cannot do it: " + one.error;
    else if (row.result.t_exec > 0)
      row.speedup = *one.t_exec / row.result.t_exec;
    else
      row.no_speedup = "it takes no time";
  }

  const spec::Cluster& cluster_;
  const GridOptions& options_;
  std::vector<SimRow> rows_;
  std::vector<std::size_t> baseline_of_;
  std::vector<Baseline> baselines_;
  std::mutex telling_;
  std::size_t done_ = 0;
};

}  // namespace

std::string SimCell::label() const {
  std::string out = workload.name;
  for (const auto& [key, value] : swept) out += " " + key + "=" + value;
  return out;
}

std::vector<SweptKey> parse_sweep(const std::vector<std::string>& written) {
  std::vector<SweptKey> out;
  for (const auto& one : written) {
    out.push_back(parse_key(one));
    for (std::size_t i = 0; i + 1 < out.size(); ++i)
      if (out[i].key == out.back().key)
        throw UserError(fmt::format("--sweep has '{0}' twice; put all its values into one {0}=...",
                                    printable(out[i].key, 80)));
  }
  return out;
}

std::vector<SimCell> cells_of(const spec::SimJob& job, const std::vector<SweptKey>& sweep,
                              const Catalogue& catalogue) {
  std::size_t each = 1;
  for (const auto& key : sweep) {
    each *= key.values.size();
    if (each * job.workloads.size() > kMostCells)
      throw UserError(
          fmt::format("the sweep has more than {} rows; sweep fewer values at a time", kMostCells));
  }
  GridModels models;
  std::vector<SimCell> out;
  for (const auto& workload : job.workloads)
    for (std::size_t i = 0; i < each; ++i) {
      out.push_back(cell_of(workload, sweep, i, catalogue));
      // A workload with two models, or none, is told by its row.
      const auto& now = out.back().workload;
      if (now.model.empty() != now.model_file.empty()) out.back().model = models.of(now);
    }
  return out;
}

std::vector<SimRow> run_grid(const spec::Cluster& cluster, const std::vector<SimCell>& cells,
                             const GridOptions& options) {
  return Grid(cluster, cells, options).run();
}

std::string no_joules(const sim::RunResult& result) {
  std::vector<std::string> unknown;
  for (const auto& device : result.devices)
    if (!device.joules && std::find(unknown.begin(), unknown.end(), device.type) == unknown.end())
      unknown.push_back(device.type);
  return unknown.empty() ? "" : "the power of " + join(unknown) + " is not given in the cluster";
}

std::optional<double> link_joules(const sim::RunResult& result, sim::LinkClass link) {
  return link == sim::LinkClass::network ? result.network_joules : std::nullopt;
}

std::string no_link_joules(const sim::RunResult& result, sim::LinkClass link) {
  if (link_joules(result, link)) return "";
  return link == sim::LinkClass::network ? "network.power is not given in the cluster"
                                         : "no power model of these links";
}

void in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr thrown;
  std::mutex throwing;
  const auto worker = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard guard(throwing);
        if (!thrown) thrown = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> pool;  // joins at the end of the block
    const std::size_t wanted = std::min<std::size_t>(threads, count);
    for (std::size_t i = 1; i < wanted; ++i) pool.emplace_back(worker);
    worker();
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace tandem::app
