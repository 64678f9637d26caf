#include "app/machine_probes.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <set>

#include "app/gpu_probes.h"
#include "app/installation.h"
#include "app/leftovers.h"
#include "app/runs.h"
#include "base/counted.h"
#include "measure/probe.h"
#include "platform/cgroup.h"
#include "platform/cpufreq.h"
#include "platform/descriptor.h"
#include "platform/sandbox.h"

namespace tandem::app {
namespace {

using platform::Probe;

// First line a program prints, and whether it exited with 0; nullopt when it cannot be started. No shell
// involved.
std::optional<std::pair<bool, std::string>> ask_program(std::vector<std::string> arguments) {
  int ends[2];
  if (::pipe(ends) != 0) return std::nullopt;
  platform::Descriptor read(ends[0]), write(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return std::nullopt;
  if (pid == 0) {
    ::dup2(write.get(), STDOUT_FILENO);
    ::close(STDERR_FILENO);
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  write.reset();
  std::string output;
  std::array<char, 1024> chunk;
  for (ssize_t got; (got = ::read(read.get(), chunk.data(), chunk.size())) > 0 && output.size() < 65536;)
    output.append(chunk.data(), static_cast<std::size_t>(got));
  read.reset();
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return std::nullopt;
  return std::pair(WIFEXITED(status) && WEXITSTATUS(status) == 0, output.substr(0, output.find('\n')));
}

std::vector<Probe> cores(const platform::Topology& topology) {
  std::set<int> physical, caches, nodes, packages;
  for (const auto& cpu : topology.cpus) {
    physical.insert(cpu.core);
    caches.insert(cpu.cache);
    nodes.insert(cpu.numa);
    packages.insert(cpu.package);
  }
  return {
      {"cores", "affinity", true,
       fmt::format("{} this process may use: {}, {}, {}, {}{}", counted(topology.cpus.size(), "CPU"),
                   counted(physical.size(), "core"), counted(caches.size(), "shared cache"),
                   counted(nodes.size(), "NUMA node"), counted(packages.size(), "package"),
                   topology.model.empty() ? "" : " (" + topology.model + ")")}};
}

std::vector<Probe> limits(const platform::Topology& topology) {
  const auto cgroups = platform::CgroupSupport::detect();
  std::vector<int> cpus;
  for (const auto& cpu : topology.cpus) cpus.push_back(cpu.id);
  std::string clock_why;
  const bool clocks = platform::CpuFrequency().usable(cpus, &clock_why);
  return {{"memory", "cgroup", cgroups.memory(), cgroups.why_memory},
          {"memory", "rlimit", !cgroups.memory(),
           cgroups.memory() ? "not needed"
                            : "RLIMIT_DATA of each process: the limit is not shared by a program's children"},
          {"ending", "cgroup", !cgroups.kill_parent.empty(), cgroups.why_kill},
          {"processes", "cgroup", cgroups.pids(), cgroups.why_pids},
          {"speed", "cpufreq", clocks, clock_why},
          {"speed", "quota", !clocks && cgroups.cpu(), clocks ? "not needed" : cgroups.why_cpu}};
}

std::vector<Probe> programs(const store::Store& store) {
  std::vector<Probe> out;
  const auto trainer = trainer_program().string();
  if (const auto blas = ask_program({trainer, "blas"}))
    out.push_back({"trainer", "libtorch", blas->first, trainer + ", " + blas->second});
  else
    out.push_back({"trainer", "libtorch", false,
                   trainer + " cannot be started; " +
                       (std::filesystem::exists(own_folder() / "../tandem-bundle.json")
                            ? "this bundle was made without it (`make bundle TRAINER=1`)"
                            : "`make build` makes it")});
  const auto slurm = ask_program({"sinfo", "--version"});
  out.push_back({"Slurm", "sinfo", slurm && slurm->first,
                 !slurm                  ? "no sinfo in PATH"
                 : slurm->second.empty() ? "sinfo is here, but finds no cluster"
                                         : slurm->second});
  out.push_back(
      {"store", "sqlite", true, store.folder().string() + (store.warning() ? "; " + *store.warning() : "")});
  return out;
}

std::vector<Probe> leftovers(const std::vector<RunLeftovers>& left) {
  std::vector<Probe> out;
  for (const auto& one : left) out.push_back({"leftovers", "ended", one.reaped.alive.empty(), text(one)});
  if (out.empty())
    out.push_back({"leftovers", "none", true, "no run here has left processes or cgroups behind"});
  return out;
}

}  // namespace

std::vector<Probe> examine_machine(const platform::Topology& topology, store::Store& store, nlohmann::json& gpus) {
  std::vector<Probe> all = cores(topology);
  auto add = [&](std::vector<Probe> more) { all.insert(all.end(), more.begin(), more.end()); };
  add(limits(topology));
  add(measure::probe(sensor_options({})));
  add(examine_gpus(gpus));
  add(platform::Sandbox::probe());
  add(programs(store));
  add(leftovers(reap_leftovers(store)));
  return all;
}

}  // namespace tandem::app
