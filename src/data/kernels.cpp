#include "data/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cassert>
#include <chrono>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace tandem::data {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 28;  // of 4 or 8 bytes
constexpr std::uint64_t kSeed = 1;

using Clock = std::chrono::steady_clock;
using Barrier = std::barrier<>;

// Runs work(thread, barrier) on `threads` threads, this one among them, and returns the wall seconds it took.
template <class Work>
double timed_team(std::int64_t threads, Work work) {
  enum Gate { closed, open, cancelled };
  const auto start = Clock::now();
  Barrier barrier(threads);
  std::atomic<Gate> gate = closed;  // nobody enters the barrier before all threads exist: it would never open
  const auto swing = [&gate](Gate to) {
    gate = to;
    gate.notify_all();
  };
  {
    std::vector<std::jthread> others;
    try {
      for (std::int64_t thread = 1; thread < threads; ++thread) {
        others.emplace_back([&work, &barrier, &gate, thread] {
          gate.wait(closed);
          if (gate == open) work(thread, barrier);
        });
      }
    } catch (const std::system_error& error) {
      swing(cancelled);
      throw SystemError(fmt::format("starting {} threads", threads), error.code().value());
    }
    swing(open);
    work(0, barrier);
  }
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Range {
  std::int64_t begin, end;
};

Range share(std::int64_t count, std::int64_t thread, std::int64_t threads) {
  return {count * thread / threads, count * (thread + 1) / threads};
}

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// Sums per block of points are added in block order, so that the threads' number cannot change the result.
constexpr std::int64_t kBlock = 512;

struct KmeansState {
  KmeansSettings settings;
  std::int64_t blocks;
  std::vector<float> points, centres;
  std::vector<double> block_sums;          // block x cluster x dimension
  std::vector<std::int64_t> block_counts;  // block x cluster
};

std::int64_t nearest_centre(const KmeansState& state, const float* point) {
  const auto dimensions = state.settings.dimensions;
  std::int64_t best = 0;
  float best_distance = std::numeric_limits<float>::max();
  for (std::int64_t cluster = 0; cluster < state.settings.clusters; ++cluster) {
    const float* centre = &state.centres[index(cluster * dimensions)];
    float distance = 0;
    for (std::int64_t d = 0; d < dimensions; ++d) {
      const float difference = point[d] - centre[d];
      distance += difference * difference;
    }
    if (distance < best_distance) {
      best_distance = distance;
      best = cluster;
    }
  }
  return best;
}

void assign_block(KmeansState& state, std::int64_t block) {
  const auto [points, dimensions, clusters, iterations, threads] = state.settings;
  double* sums = &state.block_sums[index(block * clusters * dimensions)];
  std::int64_t* counts = &state.block_counts[index(block * clusters)];
  std::fill_n(sums, clusters * dimensions, 0.);
  std::fill_n(counts, clusters, 0);
  for (std::int64_t i = block * kBlock; i < std::min(points, (block + 1) * kBlock); ++i) {
    const float* point = &state.points[index(i * dimensions)];
    const std::int64_t cluster = nearest_centre(state, point);
    ++counts[cluster];
    for (std::int64_t d = 0; d < dimensions; ++d) sums[cluster * dimensions + d] += point[d];
  }
}

void move_centres(KmeansState& state) {
  const auto clusters = state.settings.clusters;
  const auto dimensions = state.settings.dimensions;
  for (std::int64_t cluster = 0; cluster < clusters; ++cluster) {
    std::int64_t count = 0;
    for (std::int64_t b = 0; b < state.blocks; ++b)
      count += state.block_counts[index(b * clusters + cluster)];
    if (count == 0) continue;  // an empty cluster keeps its centre
    for (std::int64_t d = 0; d < dimensions; ++d) {
      double sum = 0;
      for (std::int64_t b = 0; b < state.blocks; ++b) {
        sum += state.block_sums[index((b * clusters + cluster) * dimensions + d)];
      }
      state.centres[index(cluster * dimensions + d)] = static_cast<float>(sum / static_cast<double>(count));
    }
  }
}

// One breadth-first search at a time; the threads share the frontier and claim vertices by compare-and-swap.
struct BfsState {
  std::vector<std::uint32_t> targets;             // vertex x degree
  std::vector<std::atomic<std::int32_t>> depths;  // -1: not reached
  std::vector<std::uint32_t> frontier;
  std::vector<std::vector<std::uint32_t>> found;  // by thread
};

void expand(BfsState& state, std::int64_t degree, Range part, std::int32_t depth,
            std::vector<std::uint32_t>& found) {
  for (std::int64_t i = part.begin; i < part.end; ++i) {
    const std::uint32_t* edge = &state.targets[index(state.frontier[index(i)] * degree)];
    for (std::int64_t e = 0; e < degree; ++e) {
      auto& claimed = state.depths[edge[e]];
      std::int32_t unseen = -1;
      if (claimed.load(std::memory_order_relaxed) == -1 &&
          claimed.compare_exchange_strong(unseen, depth, std::memory_order_relaxed)) {
        found.push_back(edge[e]);
      }
    }
  }
}

void search_from(BfsState& state, std::uint32_t source, const BfsSettings& settings, std::int64_t thread,
                 Barrier& barrier) {
  const auto mine = share(settings.vertices, thread, settings.threads);
  for (auto v = mine.begin; v < mine.end; ++v) state.depths[index(v)].store(-1, std::memory_order_relaxed);
  barrier.arrive_and_wait();
  if (thread == 0) {
    state.depths[source] = 0;
    state.frontier = {source};
  }
  barrier.arrive_and_wait();
  for (std::int32_t depth = 1; !state.frontier.empty(); ++depth) {
    auto& found = state.found[index(thread)];
    found.clear();
    const auto size = static_cast<std::int64_t>(state.frontier.size());
    expand(state, settings.degree, share(size, thread, settings.threads), depth, found);
    barrier.arrive_and_wait();
    if (thread == 0) {
      state.frontier.clear();
      for (const auto& part : state.found)
        state.frontier.insert(state.frontier.end(), part.begin(), part.end());
    }
    barrier.arrive_and_wait();
  }
}

void require_memory(const char* kernel, std::int64_t elements) {
  if (elements > kMostElements) {
    throw UserError(
        fmt::format("{}: these settings need {} numbers in memory, at most {} are allowed; "
                    "choose smaller ones",
                    kernel, elements, kMostElements));
  }
}

KernelResult run_jacobi_numbers(const std::vector<std::int64_t>& s) {
  return run_jacobi({s[0], s[1], s[2]});
}
KernelResult run_kmeans_numbers(const std::vector<std::int64_t>& s) {
  return run_kmeans({s[0], s[1], s[2], s[3], s[4]});
}
KernelResult run_bfs_numbers(const std::vector<std::int64_t>& s) {
  return run_bfs({s[0], s[1], s[2], s[3]});
}
KernelResult run_matrix_numbers(const std::vector<std::int64_t>& s) {
  return run_matrix({s[0], s[1], s[2]});
}

const KernelSetting kThreads{"threads", "threads that share the work", 1, 1, 1024, 1, 8};

}  // namespace

KernelResult run_jacobi(const JacobiSettings& settings) {
  const auto [size, iterations, threads] = settings;
  require_memory("jacobi", 2 * size * size);
  std::vector<double> grid(index(size * size), 0.);
  std::fill_n(grid.begin(), size, 1.);  // a hot edge
  std::vector<double> next = grid;

  KernelResult result;
  result.seconds = timed_team(threads, [&](std::int64_t thread, Barrier& barrier) {
    const auto inner = share(std::max<std::int64_t>(settings.size - 2, 0), thread, settings.threads);
    const double* from = grid.data();
    double* to = next.data();
    for (std::int64_t i = 0; i < settings.iterations; ++i) {
      for (auto y = inner.begin + 1; y < inner.end + 1; ++y) {
        const double* row = from + y * settings.size;
        double* out = to + y * settings.size;
        for (std::int64_t x = 1; x < settings.size - 1; ++x) {
          out[x] = 0.25 * (row[x - 1] + row[x + 1] + row[x - settings.size] + row[x + settings.size]);
        }
      }
      barrier.arrive_and_wait();
      from = std::exchange(to, const_cast<double*>(from));
    }
  });
  for (double cell : iterations % 2 == 0 ? grid : next) result.checksum += cell;
  return result;
}

KernelResult run_kmeans(const KmeansSettings& settings) {
  const auto [points, dimensions, clusters, iterations, threads] = settings;
  const std::int64_t blocks = (points + kBlock - 1) / kBlock;
  require_memory("kmeans", points * dimensions);
  require_memory("kmeans", blocks * clusters * dimensions);
  if (clusters > points) {
    throw UserError(fmt::format("kmeans: {} clusters of {} points; choose at most as many clusters as points",
                                clusters, points));
  }
  KmeansState state{settings, blocks, {}, {}, {}, {}};
  Random random(kSeed, hash_name("kmeans"));
  state.points.resize(index(points * dimensions));
  for (auto& value : state.points) value = static_cast<float>(random.uniform());
  state.centres.assign(state.points.begin(), state.points.begin() + clusters * dimensions);
  state.block_sums.resize(index(blocks * clusters * dimensions));
  state.block_counts.resize(index(blocks * clusters));

  KernelResult result;
  result.seconds = timed_team(threads, [&](std::int64_t thread, Barrier& barrier) {
    const auto mine = share(state.blocks, thread, settings.threads);
    for (std::int64_t i = 0; i < settings.iterations; ++i) {
      for (auto block = mine.begin; block < mine.end; ++block) assign_block(state, block);
      barrier.arrive_and_wait();
      if (thread == 0) move_centres(state);
      barrier.arrive_and_wait();
    }
  });
  for (float centre : state.centres) result.checksum += centre;
  return result;
}

KernelResult run_bfs(const BfsSettings& settings) {
  const auto [vertices, degree, sources, threads] = settings;
  require_memory("bfs", vertices * degree);
  Random random(kSeed, hash_name("bfs"));
  BfsState state{std::vector<std::uint32_t>(index(vertices * degree)),
                 std::vector<std::atomic<std::int32_t>>(index(vertices)),
                 {},
                 std::vector<std::vector<std::uint32_t>>(index(threads))};
  for (auto& target : state.targets) {
    target = static_cast<std::uint32_t>(random.below(static_cast<std::uint64_t>(vertices)));
  }

  KernelResult result;
  result.seconds = timed_team(threads, [&](std::int64_t thread, Barrier& barrier) {
    for (std::int64_t i = 0; i < settings.sources; ++i) {
      search_from(state, static_cast<std::uint32_t>(i % settings.vertices), settings, thread, barrier);
      barrier.arrive_and_wait();  // nobody clears the depths while another still reads the frontier
    }
  });
  for (const auto& depth : state.depths) result.checksum += depth.load();  // -1 for what was not reached
  return result;
}

// Row by row, the innermost loop along rows of both: an order that compilers vectorise.
KernelResult run_matrix(const MatrixSettings& settings) {
  const auto [size, products, threads] = settings;
  require_memory("matrix", 3 * size * size);
  Random random(kSeed, hash_name("matrix"));
  std::vector<float> a(index(size * size)), b(a.size()), out(a.size());
  for (auto* factor : {&a, &b})
    for (auto& value : *factor) value = static_cast<float>(random.uniform());

  KernelResult result;
  result.seconds = timed_team(threads, [&](std::int64_t thread, Barrier& barrier) {
    const std::int64_t n = settings.size;
    const auto rows = share(n, thread, settings.threads);
    for (std::int64_t p = 0; p < settings.products; ++p) {
      for (auto y = rows.begin; y < rows.end; ++y) {
        float* to = &out[index(y * n)];
        std::fill_n(to, n, 0.F);
        for (std::int64_t k = 0; k < n; ++k) {
          const float factor = a[index(y * n + k)];
          const float* row = &b[index(k * n)];
          for (std::int64_t x = 0; x < n; ++x) to[x] += factor * row[x];
        }
      }
      barrier.arrive_and_wait();
    }
  });
  for (float cell : out) result.checksum += cell;
  return result;
}

const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> table = {
      {"jacobi",
       "five-point stencil over a square grid",
       {{"size", "cells along a side", 256, 3, 8192, 64, 640},
        {"iterations", "sweeps over the grid", 50, 1, 1'000'000, 4, 40},
        kThreads},
       run_jacobi_numbers},
      {"kmeans",
       "Lloyd's k-means over uniform points",
       {{"points", "points to group", 20000, 1, 100'000'000, 1000, 20000},
        {"dimensions", "numbers a point", 8, 1, 1024, 2, 16},
        {"clusters", "groups", 8, 1, 1024, 2, 16},
        {"iterations", "rounds", 10, 1, 1'000'000, 2, 8},
        kThreads},
       run_kmeans_numbers},
      {"bfs",
       "breadth-first search over a random graph",
       {{"vertices", "vertices of the graph", 50000, 1, 100'000'000, 1000, 40000},
        {"degree", "edges out of each vertex", 8, 1, 1024, 2, 16},
        {"sources", "searches, one after another", 1, 1, 1'000'000, 1, 8},
        kThreads},
       run_bfs_numbers},
      {"matrix",
       "product of two square matrices",
       {{"size", "rows of a matrix", 256, 1, 8192, 32, 256},
        {"products", "how often", 4, 1, 1'000'000, 1, 8},
        kThreads},
       run_matrix_numbers},
  };
  return table;
}

const Kernel* find_kernel(const std::string& name) {
  for (const auto& kernel : kernels()) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

KernelResult run_kernel(const Kernel& kernel, const std::vector<std::int64_t>& settings) {
  assert(settings.size() == kernel.settings.size());
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const auto& rule = kernel.settings[i];
    if (settings[i] < rule.low || settings[i] > rule.high) {
      throw UserError(fmt::format("{}: --{} is {}, allowed are {} to {}", kernel.name, rule.name, settings[i],
                                  rule.low, rule.high));
    }
  }
  return kernel.run(settings);
}

}  // namespace tandem::data
