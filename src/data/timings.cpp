#include "data/timings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <thread>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "data/files.h"

namespace tandem::data {
namespace {

std::string header_of(const Kernel& kernel) {
  std::string header = fmt::format("# tandem kernel timings 1: {}\n", kernel.name);
  for (const auto& setting : kernel.settings) header += setting.name + ",";
  return header + "seconds\n";
}

// Logarithmic, so that small and large settings are equally well covered.
std::int64_t draw_setting(const KernelSetting& setting, Random& random) {
  auto high = setting.table_high;
  if (setting.name == "threads") {
    const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
    high = std::clamp<std::int64_t>(cores, 1, high);
  }
  const double drawn = std::exp(random.uniform(std::log(setting.table_low), std::log(high + 1)));
  return std::clamp(static_cast<std::int64_t>(drawn), setting.table_low, high);
}

[[noreturn]] void fail_at(const std::string& where, std::size_t line, const std::string& reason) {
  throw UserError(fmt::format("{}:{}: {}; delete the file, or make it again with `tandem data get`", where,
                              line, reason));
}

template <class Number>
bool read_whole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

TimingRow parse_row(const Kernel& kernel, std::string_view row, const std::string& where, std::size_t line) {
  TimingRow parsed;
  for (const auto& setting : kernel.settings) {
    const auto comma = row.find(',');
    if (comma == std::string_view::npos) fail_at(where, line, "too few fields");
    std::int64_t number = 0;
    if (!read_whole(row.substr(0, comma), number) || number < setting.low || number > setting.high) {
      fail_at(where, line,
              fmt::format("{} is '{}', no number from {} to {}", setting.name,
                          printable(row.substr(0, comma), 40), setting.low, setting.high));
    }
    parsed.settings.push_back(number);
    row.remove_prefix(comma + 1);
  }
  if (!read_whole(row, parsed.seconds) || !std::isfinite(parsed.seconds) || parsed.seconds <= 0) {
    fail_at(where, line, fmt::format("seconds is '{}', no positive number", printable(row, 40)));
  }
  return parsed;
}

Column scale_of(std::string name, const std::vector<TimingRow>& rows, std::size_t train, auto raw) {
  Column column{std::move(name), 0, 1};
  for (std::size_t i = 0; i < train; ++i) column.mean += std::log(raw(rows[i])) / static_cast<double>(train);
  double squares = 0;
  for (std::size_t i = 0; i < train; ++i) squares += std::pow(std::log(raw(rows[i])) - column.mean, 2);
  const double deviation = std::sqrt(squares / static_cast<double>(train));
  if (deviation > 1e-9) column.deviation = deviation;  // a constant column (threads on one core) stays 0
  return column;
}

float scaled(const Column& column, double raw) {
  return static_cast<float>((std::log(raw) - column.mean) / column.deviation);
}

std::vector<TimingRow> read_timings(const Kernel& kernel, const std::filesystem::path& file,
                                    const TimingOptions& options) {
  const Buffer bytes = read_file(file);
  return parse_timings_csv(kernel, as_text(bytes), options.train + options.test, file.string());
}

bool is_sound(const Kernel& kernel, const std::filesystem::path& file, const TimingOptions& options) {
  try {
    read_timings(kernel, file, options);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

FileLock lock_for(const std::filesystem::path& file) {
  return FileLock(file.string() + ".lock");
}

void make_file(const Kernel& kernel, const std::filesystem::path& file, const TimingOptions& options,
               const Progress& progress) {
  write_atomically(file, timings_csv(kernel, measure_timings(kernel, options, progress)));
}

}  // namespace

std::vector<TimingRow> measure_timings(const Kernel& kernel, const TimingOptions& options,
                                       const Progress& progress) {
  Random random(options.seed, hash_name(kernel.name));
  std::vector<TimingRow> rows(options.train + options.test);
  const auto start = std::chrono::steady_clock::now();
  const auto behind = [&](double fraction_done) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    return spent.count() > options.budget_s * fraction_done;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const auto& setting : kernel.settings) rows[i].settings.push_back(draw_setting(setting, random));
    const double done = static_cast<double>(i + 1) / static_cast<double>(rows.size());
    rows[i].seconds = run_kernel(kernel, rows[i].settings).seconds;
    for (int repeat = 1; repeat < options.repeats && !behind(done); ++repeat) {
      rows[i].seconds = std::min(rows[i].seconds, run_kernel(kernel, rows[i].settings).seconds);
    }
    if (progress) progress(done);
  }
  return rows;
}

std::string timings_csv(const Kernel& kernel, const std::vector<TimingRow>& rows) {
  std::string csv = header_of(kernel);
  for (const auto& row : rows) {
    for (const auto setting : row.settings) csv += fmt::format("{},", setting);
    csv += fmt::format("{}\n", row.seconds);  // the shortest text that reads back the same
  }
  return csv;
}

std::vector<TimingRow> parse_timings_csv(const Kernel& kernel, std::string_view csv, std::size_t rows,
                                         const std::string& where) {
  const std::string header = header_of(kernel);
  if (!csv.starts_with(header)) fail_at(where, 1, fmt::format("not a table of {} timings", kernel.name));
  csv.remove_prefix(header.size());
  std::vector<TimingRow> parsed;
  for (std::size_t line = 3; !csv.empty(); ++line) {
    const auto end = csv.find('\n');
    if (end == std::string_view::npos) fail_at(where, line, "the last line is cut off");
    if (parsed.size() == rows) fail_at(where, line, fmt::format("more than {} rows", rows));
    parsed.push_back(parse_row(kernel, csv.substr(0, end), where, line));
    csv.remove_prefix(end + 1);
  }
  if (parsed.size() != rows) {
    fail_at(where, parsed.size() + 2, fmt::format("{} rows where {} belong", parsed.size(), rows));
  }
  return parsed;
}

Dataset timings_dataset(const Kernel& kernel, const std::vector<TimingRow>& rows, std::size_t train) {
  Dataset dataset;
  dataset.name = kernel.name;
  dataset.kind = Kind::table;
  dataset.shape = {static_cast<std::int64_t>(kernel.settings.size())};
  for (std::size_t s = 0; s < kernel.settings.size(); ++s) {
    const auto raw = [s](const TimingRow& row) { return static_cast<double>(row.settings[s]); };
    dataset.columns.push_back(scale_of(kernel.settings[s].name, rows, train, raw));
  }
  dataset.target = scale_of("seconds", rows, train, [](const TimingRow& row) { return row.seconds; });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Part& part = i < train ? dataset.train : dataset.test;
    for (std::size_t s = 0; s < kernel.settings.size(); ++s) {
      part.values.push_back(scaled(dataset.columns[s], static_cast<double>(rows[i].settings[s])));
    }
    part.targets.push_back(scaled(dataset.target, rows[i].seconds));
    ++part.count;
  }
  return dataset;
}

std::filesystem::path timings_file(const Kernel& kernel, const std::filesystem::path& cache) {
  return cache / "kernels" / (kernel.name + ".csv");
}

Dataset load_timings(const Kernel& kernel, const std::filesystem::path& cache, const TimingOptions& options) {
  const auto file = timings_file(kernel, cache);
  if (!std::filesystem::exists(file)) {
    const FileLock lock = lock_for(file);
    if (!std::filesystem::exists(file)) make_file(kernel, file, options, {});
  }
  Dataset dataset = timings_dataset(kernel, read_timings(kernel, file, options), options.train);
  dataset.source = file.string() + ", measured on this machine";
  return dataset;
}

bool prepare_timings(const Kernel& kernel, const std::filesystem::path& cache, const Progress& progress,
                     const TimingOptions& options) {
  const auto file = timings_file(kernel, cache);
  const FileLock lock = lock_for(file);
  if (std::filesystem::exists(file) && is_sound(kernel, file, options)) return false;
  make_file(kernel, file, options, progress);
  return true;
}

}  // namespace tandem::data
