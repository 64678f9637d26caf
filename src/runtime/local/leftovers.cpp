#include "runtime/local/leftovers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "platform/cgroup.h"
#include "platform/plain_file.h"
#include "platform/process_tree.h"

namespace tandem::local {
namespace fs = std::filesystem;
namespace {

constexpr int kKeeperTries = 1000;
constexpr int kMostPasses = 10;  // somebody may go on making processes that look like its own
constexpr useconds_t kPause = 2000;
constexpr std::size_t kMostOfARecord = 1 << 16;

fs::path file_of(const fs::path& run_folder, const std::string& name) {
  return run_folder / "processes" / (name + ".json");
}

struct Known {
  std::string scope, mark;
  std::uint64_t tag = 0;
  pid_t pid = -1, keeper = -1;
  std::int64_t started = 0, keeper_started = 0;
  std::vector<fs::path> cgroups;
};

// What cannot be read names nobody.
Known known_from(const fs::path& file) {
  Known out;
  std::optional<std::string> text;
  try {
    text = platform::read_plain(file, kMostOfARecord);
  } catch (const SystemError&) {  // a program has put something else there
  }
  const auto json = parse_json(text.value_or(""));
  if (!json.is_object()) return out;
  try {
    out.scope = json.value("scope", "");
    out.mark = json.value("mark", "");
    out.tag = json.value("tag", std::uint64_t{0});
    out.pid = json.value("pid", -1);
    out.keeper = json.value("keeper", -1);
    out.started = json.value("started", std::int64_t{0});
    out.keeper_started = json.value("keeper_started", std::int64_t{0});
    for (const auto& folder : json.value("cgroups", nlohmann::json::array()))
      out.cgroups.emplace_back(folder.get<std::string>());
  } catch (const nlohmann::json::exception&) {
    return {};
  }
  return out;
}

bool is_that(pid_t pid, std::int64_t started) {
  return pid > 1 && started != 0 && platform::start_time_of(pid) == started;
}

// Its keeper has seen that Tandem is gone, and is at it.
void wait_for_keeper(const Known& known) {
  for (int tries = 0; tries < kKeeperTries && is_that(known.keeper, known.keeper_started); ++tries)
    ::usleep(kPause);
}

// A session's number is not used again while any of it lives. Where a process has the number and is not the one
// that began the session, nobody of it was left.
std::vector<pid_t> of_its_session(const Known& known) {
  if (known.keeper <= 1) return {};
  const auto leader = platform::start_time_of(known.keeper);
  if (leader != 0 && leader != known.keeper_started) return {};
  auto out = platform::session_members(known.keeper);
  std::erase_if(out, [&](pid_t pid) { return platform::start_time_of(pid) < known.keeper_started; });
  return out;
}

std::vector<pid_t> alive_of(const Known& known) {
  if (known.scope != platform::pid_scope()) return {};  // another boot, or other numbers
  std::set<pid_t> out;
  if (is_that(known.pid, known.started)) out.insert(known.pid);
  for (const pid_t pid : of_its_session(known)) out.insert(pid);
  for (const pid_t pid : known.tag == 0 ? std::vector<pid_t>{} : platform::tagged_processes(known.tag))
    if (platform::start_time_of(pid) >= known.keeper_started) out.insert(pid);
  for (const pid_t pid : known.mark.empty() ? std::vector<pid_t>{} : platform::marked_processes(known.mark))
    out.insert(pid);
  return {out.begin(), out.end()};
}

Reaped reap_one(const fs::path& file) {
  const Known known = known_from(file);
  Reaped out;
  std::set<pid_t> ended;
  if (known.scope == platform::pid_scope()) wait_for_keeper(known);
  if (auto group = platform::Cgroup::left_at(known.cgroups)) {
    for (const pid_t pid : group->processes()) ended.insert(pid);
    group->kill_all();
    const auto left = group->processes();
    out.alive.insert(out.alive.end(), left.begin(), left.end());
    ++out.cgroups;
  }
  auto left = alive_of(known);
  for (int pass = 0; !left.empty() && pass < kMostPasses; ++pass, left = alive_of(known)) {
    ended.insert(left.begin(), left.end());
    if (!platform::end_all(left)) break;
  }
  out.alive.insert(out.alive.end(), left.begin(), left.end());
  out.processes = ended.size() - std::min(ended.size(), out.alive.size());
  std::error_code ignored;  // it is read again, and found to be over, another time
  if (out.alive.empty()) fs::remove(file, ignored);
  return out;
}

}  // namespace

void remember_process(const fs::path& run_folder, const std::string& name, const std::string& mark,
                      std::uint64_t tag, const std::vector<fs::path>& cgroups, const platform::Child& child) {
  auto folders = nlohmann::json::array();
  for (const auto& folder : cgroups) folders.push_back(folder.string());
  const nlohmann::json json{{"scope", platform::pid_scope()},
                            {"mark", mark},
                            {"tag", tag},
                            {"pid", child.pid},
                            {"started", child.started},
                            {"keeper", child.keeper},
                            {"keeper_started", child.keeper_started},
                            {"cgroups", folders}};
  const fs::path file = file_of(run_folder, name), beside = file.string() + ".new";
  fs::create_directories(file.parent_path());
  std::ofstream out(beside);
  out << json.dump() << std::flush;
  if (!out) throw_errno("writing " + beside.string());
  fs::rename(beside, file);
}

void forget_process(const fs::path& run_folder, const std::string& name) {
  std::error_code ignored;
  fs::remove(file_of(run_folder, name), ignored);
}

Reaped& operator+=(Reaped& sum, const Reaped& more) {
  sum.processes += more.processes;
  sum.cgroups += more.cgroups;
  sum.alive.insert(sum.alive.end(), more.alive.begin(), more.alive.end());
  return sum;
}

std::string text(const Reaped& reaped) {
  return fmt::format("{} {} and {} {}", reaped.processes, reaped.processes == 1 ? "process" : "processes",
                     reaped.cgroups, reaped.cgroups == 1 ? "cgroup" : "cgroups");
}

bool has_leftovers(const fs::path& run_folder) {
  std::error_code error;
  const fs::directory_iterator files(run_folder / "processes", error);
  return !error && files != fs::directory_iterator();
}

Reaped reap_leftovers(const fs::path& run_folder) {
  Reaped out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run_folder / "processes", error)) {
    if (entry.path().extension() == ".json")
      out += reap_one(entry.path());
    else
      fs::remove(entry.path(), error);  // half written, so nothing began
  }
  return out;
}

}  // namespace tandem::local
