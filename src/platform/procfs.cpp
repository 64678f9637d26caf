#include "platform/procfs.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "platform/kernel_text.h"

namespace tandem::platform {
namespace {

Seconds ticks(double count) {
  static const double per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  return {count / per_second};
}

std::vector<std::int64_t> numbered_entries(const std::string& folder) {
  std::vector<std::int64_t> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(folder.c_str()), closedir);
  if (!dir) return found;
  while (const dirent* entry = readdir(dir.get()))
    if (const auto id = parse_number<std::int64_t>(entry->d_name)) found.push_back(*id);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

ProcFs::ProcFs(std::filesystem::path root) : root_(root.string()) {}

std::optional<std::string> ProcFs::read(const std::string& file) const {
  return read_kernel_text(root_ + "/" + file);
}

std::vector<std::int64_t> ProcFs::pids() const {
  return numbered_entries(root_);
}

std::optional<ProcessStat> ProcFs::stat(std::int64_t pid) const {
  const auto text = read(std::to_string(pid) + "/stat");
  if (!text) return std::nullopt;
  // A program's name may hold blanks and brackets; it ends at the last bracket.
  const auto name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest(*text);
  rest.remove_prefix(name_end + 1);
  const auto state = next_word(rest);
  std::array<std::int64_t, 21> field;  // from the fourth, the parent, on
  for (auto& value : field) {
    const auto parsed = parse_number<std::int64_t>(next_word(rest));
    if (!parsed) return std::nullopt;
    value = *parsed;
  }
  const auto at = [&](int number) {
    return field[static_cast<std::size_t>(number - 4)];
  };  // as proc(5) counts
  const auto time = [&](int number) { return ticks(static_cast<double>(at(number))); };
  ProcessStat stat;
  stat.parent = at(4);
  stat.group = at(5);
  stat.session = at(6);
  stat.state = state.empty() ? '?' : state[0];
  stat.minor_faults = static_cast<double>(at(10) + at(11));
  stat.major_faults = static_cast<double>(at(12) + at(13));
  stat.user = time(14);
  stat.system = time(15);
  stat.children_user = time(16);
  stat.children_system = time(17);
  stat.threads = at(20);
  stat.started = at(22);
  static const Bytes page = sysconf(_SC_PAGESIZE);
  stat.resident = at(24) * page;
  return stat;
}

std::optional<ProcessIo> ProcFs::io(std::int64_t pid) const {
  const auto text = read(std::to_string(pid) + "/io");
  if (!text) return std::nullopt;
  ProcessIo io;
  const std::pair<const char*, double*> fields[] = {
      {"rchar:", &io.read_chars},  {"wchar:", &io.written_chars},   {"syscr:", &io.read_calls},
      {"syscw:", &io.write_calls}, {"read_bytes:", &io.read_bytes}, {"write_bytes:", &io.written_bytes}};
  for (const auto& [label, value] : fields) {
    const auto found = labelled_number(*text, label);
    if (!found) return std::nullopt;
    *value = *found;
  }
  return io;
}

std::vector<Switches> ProcFs::switches(std::int64_t pid) const {
  std::vector<Switches> all;
  const std::string folder = std::to_string(pid) + "/task";
  for (const auto thread : numbered_entries(root_ + "/" + folder)) {
    const auto text = read(folder + "/" + std::to_string(thread) + "/status");
    if (!text) continue;
    const auto voluntary = labelled_number(*text, "voluntary_ctxt_switches:");
    const auto involuntary = labelled_number(*text, "nonvoluntary_ctxt_switches:");
    if (voluntary && involuntary) all.push_back({thread, *voluntary, *involuntary});
  }
  return all;
}

std::optional<Seconds> ProcFs::busy() const {
  const auto text = read("stat");
  if (!text) return std::nullopt;
  std::string_view rest(*text);
  if (next_word(rest) != "cpu") return std::nullopt;
  double busy = 0;
  // user nice system idle iowait irq softirq; guests are part of user already.
  for (const bool counts : {true, true, true, false, false, true, true}) {
    const auto value = parse_number<double>(next_word(rest));
    if (!value) return std::nullopt;
    if (counts) busy += *value;
  }
  return ticks(busy);
}

std::optional<Seconds> ProcFs::pressure(const std::string& of) const {
  const auto text = read("pressure/" + of);
  if (!text || !text->starts_with("some")) return std::nullopt;
  const auto at = text->find("total=");
  if (at == std::string::npos) return std::nullopt;
  std::string_view rest(*text);
  rest.remove_prefix(at + 6);
  const auto microseconds = parse_number<double>(next_word(rest));
  if (!microseconds) return std::nullopt;
  return Seconds{*microseconds * 1e-6};
}

std::optional<std::int64_t> ProcFs::number(const std::string& file) const {
  const auto text = read(file);
  if (!text) return std::nullopt;
  std::string_view rest(*text);
  return parse_number<std::int64_t>(next_word(rest));
}

}  // namespace tandem::platform
