#include "platform/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "platform/descriptor.h"

namespace tandem::platform {
namespace fs = std::filesystem;
namespace {

// cgroup files want one write call, and report errors from it.
void write_file(const fs::path& file, const std::string& content) {
  Descriptor out(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!out) throw_errno("opening " + file.string());
  if (::write(out.get(), content.data(), content.size()) < 0)
    throw_errno("writing '" + content + "' to " + file.string());
}

std::string read_file(const fs::path& file) {
  std::ifstream in(file);
  std::stringstream content;
  content << in.rdbuf();
  return content.str();
}

// "key value" lines: memory.events, memory.oom_control.
std::int64_t keyed(const fs::path& file, const std::string& key) {
  std::istringstream in(read_file(file));
  std::string name;
  std::int64_t value = 0;
  while (in >> name >> value)
    if (name == key) return value;
  return 0;
}

// This process's own group in the tree of a v1 controller, or in the v2 tree (controller "").
std::optional<std::string> own_group(const fs::path& proc, const std::string& controller) {
  std::istringstream in(read_file(proc / "self/cgroup"));
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controller.empty() ? controllers == ",,"
                           : controllers.find("," + controller + ",") != std::string::npos)
      return line.substr(second + 1);
  }
  return std::nullopt;
}

// Empty when a group with a working limit can be made below `parent`, else why not.
std::string try_below(const fs::path& parent, const char* limit_file) {
  const fs::path probe = parent / fmt::format("tandem-probe-{}", ::getpid());
  std::error_code error;
  fs::create_directory(probe, error);
  if (error) return "no group can be made in " + parent.string() + " (" + error.message() + ")";
  std::string why;
  if (::access((probe / limit_file).c_str(), W_OK) != 0)
    why = std::string(limit_file) + " cannot be written below " + parent.string();
  ::rmdir(probe.c_str());
  return why;
}

void detect_v1(CgroupSupport& support, const fs::path& proc, const fs::path& sys) {
  struct Controller {
    const char *name, *limit_file;
    fs::path& parent;
    std::string& why;
  };
  for (auto& [name, limit_file, parent, why] :
       {Controller{"memory", "memory.limit_in_bytes", support.memory_parent, support.why_memory},
        Controller{"cpu", "cpu.cfs_quota_us", support.cpu_parent, support.why_cpu},
        Controller{"pids", "pids.max", support.pids_parent, support.why_pids}}) {
    const auto group = own_group(proc, name);
    if (!group) {
      why = std::string("no ") + name + " controller";
      continue;
    }
    fs::path folder = sys / name / fs::path(*group).relative_path();
    if (!fs::exists(folder)) folder = sys / name;  // in a container the path is the host's
    why = try_below(folder, limit_file);
    if (!why.empty()) continue;
    parent = folder;
    why = "cgroup v1, " + folder.string();
  }
  if (support.any()) support.version = 1;
  for (const auto& [tree, file] :
       {std::pair("unified", "cgroup.kill"), std::pair("freezer", "freezer.state")}) {
    const auto group = own_group(proc, std::string_view(tree) == "freezer" ? tree : "");
    if (!group || !fs::exists(sys / tree)) continue;
    fs::path folder = sys / tree / fs::path(*group).relative_path();
    if (!fs::exists(folder)) folder = sys / tree;
    support.why_kill = try_below(folder, file);
    if (!support.why_kill.empty()) continue;
    support.kill_parent = folder;
    support.why_kill = fmt::format("{}, {}", file, folder.string());
    break;
  }
  if (support.why_kill.empty()) support.why_kill = "no cgroup to end programs by";
}

void detect_v2(CgroupSupport& support, const fs::path& proc, const fs::path& sys) {
  const auto group = own_group(proc, "");
  fs::path folder = sys / fs::path(group.value_or("/")).relative_path();
  if (!fs::exists(folder)) folder = sys;
  const std::string offered = " " + read_file(folder / "cgroup.controllers") + " ";
  struct Controller {
    const char *name, *limit_file;
    fs::path& parent;
    std::string& why;
  };
  for (auto& [name, limit_file, parent, why] :
       {Controller{"memory", "memory.max", support.memory_parent, support.why_memory},
        Controller{"cpu", "cpu.max", support.cpu_parent, support.why_cpu},
        Controller{"pids", "pids.max", support.pids_parent, support.why_pids}}) {
    if (std::istringstream words(offered);
        std::none_of(std::istream_iterator<std::string>(words), {},
                     [&](const std::string& word) { return word == name; })) {
      why = std::string("the ") + name + " controller is not delegated to " + folder.string();
      continue;
    }
    try {
      write_file(folder / "cgroup.subtree_control", std::string("+") + name);
    } catch (const SystemError& e) {
      // A group with processes of its own cannot hand controllers on, unless it is the root.
      why = std::string(e.what()) + "; start Tandem with `systemd-run --user --scope -p Delegate=yes`";
      continue;
    }
    why = try_below(folder, limit_file);
    if (!why.empty()) continue;
    parent = folder;
    why = "cgroup v2, " + folder.string();
  }
  support.why_kill = try_below(folder, "cgroup.procs");
  if (support.why_kill.empty()) {
    support.kill_parent = folder;
    support.why_kill = "cgroup v2, " + folder.string();
  }
  if (support.any()) support.version = 2;
}

// No group of somebody else's is ever ended: neither name nor place may come from a file alone.
bool is_group_of_ours(const fs::path& folder) {
  return folder.is_absolute() && folder == folder.lexically_normal() &&
         folder.filename().string().starts_with("tandem-") && fs::exists(folder / "cgroup.procs");
}

}  // namespace

CgroupSupport CgroupSupport::detect(const fs::path& proc, const fs::path& sys) {
  CgroupSupport support;
  if (fs::exists(sys / "cgroup.controllers"))
    detect_v2(support, proc, sys);
  else if (fs::exists(sys))
    detect_v1(support, proc, sys);
  else
    support.why_memory = support.why_cpu = support.why_pids = support.why_kill = "no " + sys.string();
  return support;
}

std::vector<fs::path> CgroupSupport::folders_of(const std::string& name) const {
  std::vector<fs::path> out;
  for (const auto& parent : {memory_parent, cpu_parent, pids_parent, kill_parent})
    if (const auto folder = parent / ("tandem-" + name);
        !parent.empty() && std::find(out.begin(), out.end(), folder) == out.end())
      out.push_back(folder);
  return out;
}

Cgroup::Cgroup(const CgroupSupport& support, const std::string& name)
    : version_(support.version), folders_(support.folders_of(name)) {
  for (const auto& folder : folders_) {
    std::error_code error;
    fs::create_directory(folder, error);
    if (error) throw SystemError("making the cgroup " + folder.string() + ": " + error.message());
  }
  const auto own = [&](const fs::path& parent) {
    return parent.empty() ? fs::path() : parent / ("tandem-" + name);
  };
  memory_ = own(support.memory_parent);
  cpu_ = own(support.cpu_parent);
  pids_ = own(support.pids_parent);
  kill_ = own(support.kill_parent);
}

std::optional<Cgroup> Cgroup::left_at(const std::vector<fs::path>& folders) {
  Cgroup found;
  std::copy_if(folders.begin(), folders.end(), std::back_inserter(found.folders_), is_group_of_ours);
  if (found.folders_.empty()) return std::nullopt;
  for (const auto& folder : found.folders_) {
    if (fs::exists(folder / "cgroup.kill") || fs::exists(folder / "freezer.state")) found.kill_ = folder;
    if (fs::exists(folder / "pids.max")) found.pids_ = folder;
  }
  return found;
}

Cgroup::~Cgroup() {
  if (folders_.empty()) return;
  kill_all();
  // A process that has just died may hold its group for a moment longer.
  for (const auto& folder : folders_)
    for (int tries = 0; ::rmdir(folder.c_str()) != 0 && errno == EBUSY && tries < 200; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Cgroup::add(pid_t pid) {
  for (const auto& folder : folders_) write_file(folder / "cgroup.procs", std::to_string(pid));
}

void Cgroup::set_memory(Bytes limit) {
  if (memory_.empty()) return;
  if (version_ == 2)
    write_file(memory_ / "memory.max", limit > 0 ? std::to_string(limit) : "max");
  else
    write_file(memory_ / "memory.limit_in_bytes", limit > 0 ? std::to_string(limit) : "-1");
}

void Cgroup::set_cpu(double cores, Seconds period) {
  if (cpu_.empty()) return;
  const auto microseconds = std::lround(period.value * 1e6);
  const auto quota =
      cores > 0 ? std::max(1000L, std::lround(cores * static_cast<double>(microseconds))) : -1L;
  if (version_ == 2) {
    write_file(cpu_ / "cpu.max", quota > 0 ? fmt::format("{} {}", quota, microseconds) : "max");
  } else {
    write_file(cpu_ / "cpu.cfs_period_us", std::to_string(microseconds));
    write_file(cpu_ / "cpu.cfs_quota_us", std::to_string(quota));
  }
}

void Cgroup::set_cpu_weight(double times) {
  if (cpu_.empty()) return;
  const bool second = version_ == 2;
  write_file(cpu_ / (second ? "cpu.weight" : "cpu.shares"),
             std::to_string(std::lround(times * (second ? 100 : 1024))));
}

void Cgroup::set_processes(int limit) {
  if (!pids_.empty()) write_file(pids_ / "pids.max", std::to_string(limit));
}

std::vector<pid_t> Cgroup::processes() const {
  std::set<pid_t> all;
  for (const auto& folder : folders_) {
    std::istringstream in(read_file(folder / "cgroup.procs"));
    all.insert(std::istream_iterator<pid_t>(in), {});
  }
  return {all.begin(), all.end()};
}

// What is frozen starts no other while it is ended one by one; v1 must be let go to die.
void Cgroup::freeze(bool frozen) {
  try {
    if (fs::exists(kill_ / "cgroup.freeze"))
      write_file(kill_ / "cgroup.freeze", frozen ? "1" : "0");
    else if (fs::exists(kill_ / "freezer.state"))
      write_file(kill_ / "freezer.state", frozen ? "FROZEN" : "THAWED");
  } catch (const SystemError&) {  // it may be gone; the signals below go out anyhow
  }
}

void Cgroup::kill_all() {
  if (processes().empty()) return;
  try {
    set_processes(0);
  } catch (const SystemError&) {  // its group may be gone; the signals below go out anyhow
  }
  for (int tries = 0; tries < 500; ++tries) {
    const auto left = processes();
    if (left.empty()) return;
    bool at_once = false;
    try {
      if (fs::exists(kill_ / "cgroup.kill")) write_file(kill_ / "cgroup.kill", "1"), at_once = true;
    } catch (const SystemError&) {
    }
    if (!at_once) freeze(true);
    for (pid_t pid : left) ::kill(pid, SIGKILL);
    if (!at_once) freeze(false);
    std::this_thread::sleep_for(std::chrono::milliseconds(tries < 10 ? 1 : 10));
  }
}

std::int64_t Cgroup::oom_kills() const {
  if (memory_.empty()) return 0;
  return keyed(memory_ / (version_ == 2 ? "memory.events" : "memory.oom_control"), "oom_kill");
}

}  // namespace tandem::platform
