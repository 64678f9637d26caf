// The published measurements, read line by line. A line that cannot be read becomes a row with its trouble,
// so that it is printed and counted like every other; a file that is not there is nullopt.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tandem::bench {

// A file's text with its comments (lines that begin with '#') blanked out.
std::optional<std::string> read_text(const std::string& path);

// published/tensorflow-2017-images-per-second.csv
struct TensorFlowRow {
  std::size_t line = 0;
  std::string system{}, gpu{}, data{}, model{}, strategy{};
  int batch = 0, gpus = 0;  // batch: of each GPU
  double rate = 0;          // images a second
  std::string trouble{};    // why it cannot be read; empty: it can
  bool synthetic() const { return data == "synthetic"; }
};
std::optional<std::vector<TensorFlowRow>> read_tensorflow(const std::string& folder);

// published/horovod-mlperf.csv
struct ScalingRow {
  std::size_t line = 0;
  std::string source{}, model{}, hardware{}, metric{};
  int gpus = 0;
  double value = 0;
  std::string trouble{};
};
std::optional<std::vector<ScalingRow>> read_scaling(const std::string& folder);

// sia/APPLICATION/{placements,scalability}-CLUSTER.csv
struct SiaRow {
  std::vector<int> nodes{};  // GPUs on each, rising
  int batch = 0;             // of each GPU
  double seconds = 0;        // a step
  int gpus() const;
  bool one_node() const { return nodes.size() == 1; }
  bool two_singles() const { return nodes == std::vector<int>{1, 1}; }
};
struct SiaSet {
  std::string application{}, cluster{};
  std::vector<SiaRow> rows{};
  std::vector<std::string> troubles{};  // "FILE:LINE: why"
};
// By application, then cluster.
std::optional<std::vector<SiaSet>> read_sia(const std::string& folder);

}  // namespace tandem::bench
