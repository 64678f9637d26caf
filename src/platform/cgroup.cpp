#include "platform/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
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
  if (support.any()) support.version = 2;
}

}  // namespace

CgroupSupport CgroupSupport::detect(const fs::path& proc, const fs::path& sys) {
  CgroupSupport support;
  if (fs::exists(sys / "cgroup.controllers"))
    detect_v2(support, proc, sys);
  else if (fs::exists(sys))
    detect_v1(support, proc, sys);
  else
    support.why_memory = support.why_cpu = support.why_pids = "no " + sys.string();
  return support;
}

Cgroup::Cgroup(const CgroupSupport& support, const std::string& name) : version_(support.version) {
  auto make = [&](const fs::path& parent) {
    fs::path folder = parent / ("tandem-" + name);
    std::error_code error;
    fs::create_directory(folder, error);
    if (error) throw SystemError("making the cgroup " + folder.string() + ": " + error.message());
    return folder;
  };
  if (support.memory()) memory_ = make(support.memory_parent);
  if (support.cpu()) cpu_ = make(support.cpu_parent);
  if (support.pids()) pids_ = make(support.pids_parent);
}

std::optional<Cgroup> Cgroup::find(const CgroupSupport& support, const std::string& name) {
  Cgroup found;
  found.version_ = support.version;
  auto look = [&](const fs::path& parent, fs::path& own) {
    if (const auto folder = parent / ("tandem-" + name); !parent.empty() && fs::exists(folder)) own = folder;
  };
  look(support.memory_parent, found.memory_);
  look(support.cpu_parent, found.cpu_);
  look(support.pids_parent, found.pids_);
  if (found.folders().empty()) return std::nullopt;
  return found;
}

Cgroup::~Cgroup() {
  if (folders().empty()) return;
  kill_all();
  // A process that has just died may hold its group for a moment longer.
  for (const auto& folder : folders())
    for (int tries = 0; ::rmdir(folder.c_str()) != 0 && errno == EBUSY && tries < 200; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::vector<fs::path> Cgroup::folders() const {
  std::vector<fs::path> out;
  for (const auto& folder : {memory_, cpu_, pids_})
    if (!folder.empty() && std::find(out.begin(), out.end(), folder) == out.end()) out.push_back(folder);
  return out;
}

void Cgroup::add(pid_t pid) {
  for (const auto& folder : folders()) write_file(folder / "cgroup.procs", std::to_string(pid));
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
  std::istringstream in(read_file(folders().front() / "cgroup.procs"));
  return {std::istream_iterator<pid_t>(in), {}};
}

void Cgroup::kill_all() {
  if (processes().empty()) return;
  set_processes(0);
  for (int tries = 0; tries < 500; ++tries) {
    const auto left = processes();
    if (left.empty()) return;
    for (pid_t pid : left) ::kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(tries < 10 ? 1 : 10));
  }
}

std::int64_t Cgroup::oom_kills() const {
  if (memory_.empty()) return 0;
  return keyed(memory_ / (version_ == 2 ? "memory.events" : "memory.oom_control"), "oom_kill");
}

}  // namespace tandem::platform
