#include "runtime/slurm/submit.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "runtime/slurm/gpus.h"

namespace tandem::slurm {
namespace {

bool plain(std::string_view text, std::string_view signs) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           signs.find(c) != std::string_view::npos;
  });
}

void check_name(const char* field, const std::string& value) {
  constexpr std::string_view kSigns = "._-+@:=,";
  if (value.size() > 256 || value.starts_with('-') || !plain(value, kSigns))
    throw UserError(
        fmt::format("slurm.{}: '{}' is no name: letters, digits and {} only, not beginning with '-'", field,
                    printable(value, 80), kSigns));
}

// Slurm's limits count minutes; a job must not lose time by rounding.
std::int64_t minutes(Seconds span) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(span.value / 60)));
}

// Slurm counts whole MiB; rounded up, a program gets what it was promised.
std::int64_t mebibytes(Bytes bytes) {
  return std::max<std::int64_t>(1, (bytes + kMiB - 1) / kMiB);
}

// Slurm replaces %j and the like in file names.
std::string file_pattern(const std::filesystem::path& file) {
  std::string out;
  for (char c : file.string()) out += c == '%' ? "%%" : std::string(1, c);
  return out;
}

std::string clock_option(const Site& site, double speed) {
  if (!site.full_clock)
    throw UserError(
        fmt::format("a speed of {:.0f} % cannot be asked of Slurm without knowing the nodes' full clock; "
                    "leave system.speed out, or set slurm.full_clock",
                    speed * 100));
  return fmt::format("--cpu-freq={}", std::llround(speed * static_cast<double>(*site.full_clock)));
}

template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out >= 0;
}

}  // namespace

std::string text(const Mark& mark) {
  return fmt::format("tandem:{}:{}:{}:{}", mark.run, mark.task, mark.attempt, mark.submission);
}

std::optional<Mark> parse_mark(std::string_view comment) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= comment.size();) {
    const auto end = std::min(comment.find(':', at), comment.size());
    parts.push_back(comment.substr(at, end - at));
    at = end + 1;
  }
  Mark mark;
  if (parts.size() != 5 || parts[0] != "tandem" || parts[1].empty() || !read_number(parts[2], mark.task) ||
      !read_number(parts[3], mark.attempt) || !read_number(parts[4], mark.submission))
    return std::nullopt;
  mark.run = parts[1];
  return mark;
}

void validate(const Site& site) {
  check_name("partition", site.partition);
  check_name("account", site.account);
  check_name("qos", site.qos);
  check_name("constraint", site.constraint);
  check_name("reservation", site.reservation);
  check_name("gres", site.gres);
  if (site.time && !(site.time->value > 0 && site.time->value < 1e9))
    throw UserError("slurm.time: a span above 0 is wanted, like 4h");
  if (site.full_clock && (*site.full_clock < 1000 || *site.full_clock > 100'000'000))
    throw UserError("slurm.full_clock: a clock between 1 MHz and 100 GHz is wanted");
}

void validate_run(std::string_view run) {
  if (run.empty() || run.size() > 128 || run.starts_with('-') || run.starts_with('.') || !plain(run, "._-"))
    throw UserError(fmt::format("'{}' cannot be the id of a run on Slurm: letters, digits and ._- only",
                                printable(run, 80)));
}

std::vector<std::string> sbatch(const Site& site, const Submission& s) {
  std::vector<std::string> out{
      "sbatch",
      "--parsable",
      "--no-requeue",
      fmt::format("--nodes={}", s.nodes),
      fmt::format("--ntasks={}", s.nodes),
      fmt::format("--cpus-per-task={}", s.granted.cores),
      fmt::format("--comment={}", text(s.mark)),
      fmt::format("--job-name=tandem-{}-{}", s.mark.run, s.mark.task),
      fmt::format("--output={}", file_pattern(s.output)),
      "--open-mode=append",
      fmt::format("--chdir={}", s.working_folder.string()),
  };
  if (s.granted.memory > 0) out.push_back(fmt::format("--mem={}M", mebibytes(s.granted.memory)));
  if (!s.node.empty()) out.push_back("--nodelist=" + s.node);
  if (site.time) out.push_back(fmt::format("--time={}", minutes(*site.time)));
  auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) out.push_back(fmt::format("--{}={}", option, value));
  };
  add("partition", site.partition);
  add("account", site.account);
  add("qos", site.qos);
  add("constraint", site.constraint);
  add("reservation", site.reservation);
  const int gpus = gpus_of(s.granted);
  add("gres", gpus > 0 ? fmt::format("gpu:{}", gpus) : site.gres);
  if (s.nodes > 1) out.push_back("--ntasks-per-node=1");
  out.push_back(s.script.string());
  // The batch script runs on one node; and Slurm sets clocks for steps, not for the script.
  if (s.nodes > 1 || s.granted.speed < 1) {
    out.insert(out.end(), {"srun", fmt::format("--ntasks={}", s.nodes),
                           fmt::format("--cpus-per-task={}", s.granted.cores)});
    if (s.nodes > 1)  // what becomes of the others when one ends is ours to say
      out.insert(out.end(), {fmt::format("--nodes={}", s.nodes), "--ntasks-per-node=1", "--wait=0",
                             "--kill-on-bad-exit=0", "--mpi=none"});
    if (s.granted.speed < 1) out.push_back(clock_option(site, s.granted.speed));
  }
  out.insert(out.end(), s.command.begin(), s.command.end());
  return out;
}

std::vector<std::string> srun(const Site& site, const Submission& s) {
  const int gpus = gpus_of(s.granted);
  std::vector<std::string> out{
      "srun",
      "--exact",
      "--nodes=1",
      "--ntasks=1",
      fmt::format("--cpus-per-task={}", s.granted.cores),
      fmt::format("--mem={}M", mebibytes(s.granted.memory)),
      gpus > 0 ? fmt::format("--gres=gpu:{}", gpus) : "--gres=none",
      fmt::format("--job-name=tandem-{}-{}", s.mark.run, s.mark.task),
      fmt::format("--output={}", file_pattern(s.output)),
      "--open-mode=append",
      fmt::format("--chdir={}", s.working_folder.string()),
  };
  if (s.granted.speed < 1) out.push_back(clock_option(site, s.granted.speed));
  out.insert(out.end(), s.command.begin(), s.command.end());
  return out;
}

std::vector<std::string> scancel(const std::vector<SlurmJobId>& jobs) {
  std::vector<std::string> out{"scancel", "--quiet"};
  for (auto job : jobs) out.push_back(std::to_string(job));
  return out;
}

std::vector<std::string> squeue() {
  return {"squeue", "--me", "--noheader", "--states=all", kQueueFormat};
}

std::vector<std::string> sinfo() {
  return {"sinfo", "--json"};
}

std::vector<std::string> sstat(SlurmJobId job) {
  return {"sstat",
          "--noheader",
          "--parsable2",
          "--allsteps",
          "--format=ConsumedEnergyRaw",
          "--jobs=" + std::to_string(job)};
}

std::vector<SlurmJobId> orphans(const std::vector<QueuedJob>& jobs, const std::string& run,
                                const std::vector<Mark>& known) {
  std::vector<SlurmJobId> out;
  for (const auto& job : jobs) {
    if (job.phase != JobPhase::pending && job.phase != JobPhase::running) continue;
    const auto mark = parse_mark(job.comment);
    if (mark && mark->run == run && std::find(known.begin(), known.end(), *mark) == known.end())
      out.push_back(job.id);
  }
  return out;
}

}  // namespace tandem::slurm
