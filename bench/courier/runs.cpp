#include "bench/courier/runs.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "base/error.h"

namespace tandem::bench {

std::optional<CourierRuns> read_courier(const std::string& data) {
  const std::string path = data + "/courier/lenet5-bigdl-48.csv";
  std::ifstream in(path);
  if (!in) return std::nullopt;
  CourierRuns out;
  std::string line;
  std::getline(in, line);  // the header
  for (std::size_t number = 2; std::getline(in, line); ++number) {
    std::istringstream cells(line);
    double cores = 0, batch = 0, jobs = 0, seconds = 0, accuracy = 0;
    char comma = 0;
    if (!(cells >> cores >> comma >> batch >> comma >> jobs >> comma >> seconds >> comma >> accuracy))
      throw UserError(fmt::format("{}:{}: cannot be read: {}", path, number, line));
    out.cores.push_back(cores), out.batch.push_back(batch), out.jobs.push_back(jobs);
    out.seconds.push_back(seconds), out.accuracy.push_back(accuracy);
  }
  return out;
}

std::vector<double> rows_of(const CourierRuns& runs, const std::vector<std::string>& columns) {
  std::vector<double> out;
  for (std::size_t i = 0; i < runs.count(); ++i)
    for (const auto& name : columns) {
      if (name == "batch") out.push_back(runs.batch[i]);
      if (name == "cores") out.push_back(runs.cores[i]);
      if (name == "jobs") out.push_back(runs.jobs[i]);
      if (name == "processes") out.push_back(runs.cores[i] * runs.jobs[i]);
    }
  return out;
}

}  // namespace tandem::bench
