#include "bench/anova/measurements.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace tandem::bench {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) out.push_back(field);
  if (!out.empty() && out.back().ends_with('\r'))
    out.back().pop_back();  // some of the files are from Windows
  return out;
}

double number_of(const std::string& field, const std::string& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size())
    throw UserError(fmt::format("{}: '{}' is not a number", where, field));
  return value;
}

}  // namespace

Columns read_columns(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) throw SystemError("reading " + path);
  const auto names = fields_of(line);
  Columns out;
  for (int number = 2; std::getline(in, line); ++number) {
    const auto fields = fields_of(line);
    const auto where = fmt::format("{}:{}", path, number);
    if (fields.size() != names.size())
      throw UserError(fmt::format("{}: {} fields under a header of {}", where, fields.size(), names.size()));
    for (std::size_t i = 0; i < fields.size(); ++i) out[names[i]].push_back(number_of(fields[i], where));
  }
  return out;
}

Columns single_runs(const std::string& data) {
  return read_columns(data + "/courier/lenet5-bigdl-48.csv");
}

Columns runs_of_means(const std::string& data) {
  const auto cells = read_columns(data + "/courier/fullfactorial-means-48.csv");
  Columns out;
  for (std::size_t i = 0; i < cells.at("n").size(); ++i) {
    const double n = cells.at("n")[i];
    if (n != 6) throw UserError(fmt::format("cell {} of the means is of {} runs, not of six", i + 1, n));
    const double off = cells.at("time_sd")[i] * std::sqrt((n - 1) / n);
    for (int run = 0; run < 6; ++run) {
      for (const char* name : {"cpu", "batch", "njobs"}) out[name].push_back(cells.at(name)[i]);
      out["time"].push_back(cells.at("time_mean")[i] + (run % 2 == 0 ? off : -off));
    }
  }
  return out;
}

}  // namespace tandem::bench
