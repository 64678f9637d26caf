// Four small computations with well-known shapes: Jacobi (memory), k-means and matrix product (arithmetic),
// BFS (random access).
//
// Probes for a machine; and the running time of all but the product is what PipeTune's type III networks
// learn. Settings go in, the seconds of work and a checksum come out; the checksum depends on the settings
// but never on the threads. Input data is made from a fixed seed outside the measured time. Thread-safe: each
// call has its own data and threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::data {

struct KernelResult {
  double seconds = 0;  // wall time of the work, starting its threads included, making its input not
  double checksum = 0;
};

struct JacobiSettings {
  std::int64_t size = 256;  // the grid is size x size
  std::int64_t iterations = 50;
  std::int64_t threads = 1;
};
KernelResult run_jacobi(const JacobiSettings&);

struct KmeansSettings {
  std::int64_t points = 20000;
  std::int64_t dimensions = 8;
  std::int64_t clusters = 8;
  std::int64_t iterations = 10;
  std::int64_t threads = 1;
};
KernelResult run_kmeans(const KmeansSettings&);

struct BfsSettings {
  std::int64_t vertices = 50000;
  std::int64_t degree = 8;   // edges out of each vertex
  std::int64_t sources = 1;  // searches, one after another
  std::int64_t threads = 1;
};
KernelResult run_bfs(const BfsSettings&);

struct MatrixSettings {
  std::int64_t size = 256;  // both factors are size x size
  std::int64_t products = 4;
  std::int64_t threads = 1;
};
KernelResult run_matrix(const MatrixSettings&);

// The same as a table: feeds tandem-kernel's options and the timing datasets.
struct KernelSetting {
  std::string name, description;
  std::int64_t fallback = 1;
  std::int64_t low = 1, high = 1;              // allowed
  std::int64_t table_low = 1, table_high = 1;  // drawn from for the timing datasets: milliseconds of work
};

struct Kernel {
  std::string name, description;
  std::vector<KernelSetting> settings;  // "threads" is the last
  KernelResult (*run)(const std::vector<std::int64_t>& settings);
};

const std::vector<Kernel>& kernels();
const Kernel* find_kernel(const std::string& name);  // nullptr: no such kernel

// Runs with one number a setting. UserError names the setting that is out of range, or says that the whole
// would need more memory than a probe may take.
KernelResult run_kernel(const Kernel&, const std::vector<std::int64_t>& settings);

}  // namespace tandem::data
