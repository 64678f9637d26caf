#include "runtime/bags/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "data/files.h"

namespace tandem::bags {
namespace {

constexpr std::string_view kEnd = "end\n";  // a result without it was cut off

// The keys seen most in the whole; of equals the first by name.
std::vector<Counts::const_iterator> most_seen(const Counts& whole) {
  std::vector<Counts::const_iterator> out;
  for (auto at = whole.begin(); at != whole.end(); ++at) out.push_back(at);
  const std::size_t keep = std::min(out.size(), kKeysJudged);
  std::partial_sort(
      out.begin(), out.begin() + static_cast<std::ptrdiff_t>(keep), out.end(),
      [](auto a, auto b) { return a->second != b->second ? a->second > b->second : a->first < b->first; });
  out.resize(keep);
  return out;
}

}  // namespace

double loss(const Counts& whole, const Counts& part, int tasks, int run) {
  if (whole.empty()) throw UserError("there is nothing in the whole to compare a part with");
  if (run < 1 || run > tasks)
    throw UserError(fmt::format("{} of {} tasks were run: no loss can be told", run, tasks));
  const double scale = static_cast<double>(tasks) / run;
  const auto judged = most_seen(whole);
  double sum = 0;
  for (const auto& key : judged) {
    const auto seen = part.find(key->first);
    const double told = seen == part.end() ? 0 : scale * static_cast<double>(seen->second);
    const auto truth = static_cast<double>(key->second);
    sum += std::fabs(told - truth) / truth;
  }
  return sum / static_cast<double>(judged.size());
}

void write_counts(const Counts& counts, const std::filesystem::path& file) {
  std::string text;
  for (const auto& [key, count] : counts) {
    text += std::to_string(count);
    text += ' ';
    text += key;
    text += '\n';
  }
  text += kEnd;
  std::ofstream out(file, std::ios::binary);
  out << text << std::flush;
  if (!out) throw SystemError("writing " + file.string());
}

Counts read_counts(const std::filesystem::path& file) {
  const auto bytes = data::read_file(file);
  std::string_view text = data::as_text(bytes);
  if (!text.ends_with(kEnd)) throw SystemError(file.string() + " is cut off: its job did not end well");
  text.remove_suffix(kEnd.size());
  Counts out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    std::uint64_t count = 0;
    const auto [after, error] = std::from_chars(line.data(), line.data() + line.size(), count);
    if (error != std::errc{} || after == line.data() + line.size() || *after != ' ')
      throw SystemError(fmt::format("{}: '{}' is no count and key", file.string(), line.substr(0, 60)));
    out.emplace(std::string(after + 1, line.data() + line.size()), count);
    text.remove_prefix(line.size() + 1);
  }
  return out;
}

}  // namespace tandem::bags
