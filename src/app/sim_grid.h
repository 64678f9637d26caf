// Workloads of a simulation, one by one or as a grid: what `tandem sim SPEC [--sweep ...]` computes.
//
// A cell is one workload with one choice of the swept values; a row is what came of it. Cells run on several
// threads, each simulation on one; rows are in the order of the cells and the same however many threads there
// are. A cell that cannot run (too many workers, too little memory) is a row that says why.
//
// Speed-up is against one device of the same type with strategy `default` doing the same samples. It is
// simulated, not estimated; there is none where one device cannot do it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/catalogue.h"
#include "graph/operations.h"
#include "sim/workload/run_workload.h"
#include "spec/cluster.h"

namespace tandem::app {

// "workers=1,2,4"
struct SweptKey {
  std::string key;
  std::vector<std::string> values;
};
// UserError: not of this form, a key twice, nothing in it.
std::vector<SweptKey> parse_sweep(const std::vector<std::string>& written);

struct SimCell {
  spec::Workload workload;
  std::vector<std::pair<std::string, std::string>> swept{};  // key and value as written
  std::shared_ptr<const graph::Model> model{};

  std::string label() const;  // "alexnet workers=4 batch=64"
};
// Workload by workload, the last key changes fastest. UserError for a key or a value that no workload can
// have, for a model file that cannot be read, and for too many cells.
std::vector<SimCell> cells_of(const spec::SimJob&, const std::vector<SweptKey>&, const Catalogue&);

// The first steps of a cell, span by span, for pictures.
struct Beginning {
  std::int64_t steps = 0;
  double seconds = 0;
  std::vector<sim::Span> spans{};
};

struct SimRow {
  SimCell cell;
  std::string error{};   // not empty: why it could not run; nothing below holds
  std::string device{};  // the type that computes
  sim::RunResult result{};
  std::optional<double> speedup{};
  std::string no_speedup{};  // why there is none
  std::optional<Beginning> beginning{};
};

struct GridOptions {
  std::uint64_t seed = 1;
  unsigned threads = 1;
  std::int64_t show_steps = 0;  // so many steps of each row are kept as spans
  // Told after each cell, by one thread at a time.
  std::function<void(std::size_t done, std::size_t all, const SimRow&)> progress{};
};

std::vector<SimRow> run_grid(const spec::Cluster&, const std::vector<SimCell>&, const GridOptions&);

// Why the energy of a row is not known; empty: it is.
std::string no_joules(const sim::RunResult&);
// The same of a class of links.
std::optional<double> link_joules(const sim::RunResult&, sim::LinkClass);
std::string no_link_joules(const sim::RunResult&, sim::LinkClass);

// Calls work(0) to work(count - 1), several at once; rethrows the first that was thrown.
void in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

}  // namespace tandem::app
