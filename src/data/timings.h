// Tables of kernel running times, made by running the kernels on this machine and kept as CSV in the cache.
//
// A row holds the settings and the seconds they took (the least of a few runs). The file is written
// atomically and read strictly: anything that is not exactly such a table is refused with its line. As a
// dataset, settings and seconds become logarithms scaled to mean 0 and deviation 1 over the training rows.
// Two processes that need the same table wait for each other. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "data/kernels.h"

namespace tandem::data {

struct TimingRow {
  std::vector<std::int64_t> settings;  // as in Kernel::settings
  double seconds = 0;
};

struct TimingOptions {
  std::size_t train = 1650, test = 400;  // rows, as in PipeTune's table 3
  int repeats = 3;                       // at most; the least time counts: noise only ever adds
  double budget_s = 40;                  // repeats are left out while measuring is behind this pace
  std::uint64_t seed = 1;
};

std::vector<TimingRow> measure_timings(const Kernel&, const TimingOptions&, const Progress& progress = {});

std::string timings_csv(const Kernel&, const std::vector<TimingRow>&);
// UserError names `where`, the line and what is wrong with it, a row count other than `rows` included.
std::vector<TimingRow> parse_timings_csv(const Kernel&, std::string_view csv, std::size_t rows,
                                         const std::string& where);

// The first `train` rows train, the others test; their settings were drawn independently.
Dataset timings_dataset(const Kernel&, const std::vector<TimingRow>&, std::size_t train);

std::filesystem::path timings_file(const Kernel&, const std::filesystem::path& cache);

// Reads the table, making it first when it is absent.
Dataset load_timings(const Kernel&, const std::filesystem::path& cache, const TimingOptions& options = {});

// Makes the table when it is absent or broken; false when a sound one was there.
bool prepare_timings(const Kernel&, const std::filesystem::path& cache, const Progress& progress,
                     const TimingOptions& options = {});

}  // namespace tandem::data
