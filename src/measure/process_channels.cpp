#include "measure/process_channels.h"

#include <algorithm>

namespace tandem::measure {

void ProcessChannels::update(Seconds now, const platform::ProcFs& proc,
                             const std::vector<std::int64_t>& pids) {
  platform::ProcessStat sum;
  std::vector<std::int64_t> found, living;
  for (const auto pid : pids) {
    const auto stat = proc.stat(pid);
    if (!stat) continue;
    found.push_back(pid);
    if (stat->state != 'Z') living.push_back(pid);
    sum.user += stat->user + stat->children_user;
    sum.system += stat->system + stat->children_system;
    sum.minor_faults += stat->minor_faults;
    sum.major_faults += stat->major_faults;
    sum.threads += stat->threads;
    sum.resident += stat->resident;
  }
  cpu_added_.reset();
  if (found.empty()) return;
  const double user = growing_["user-time"].update(now, sum.user.value);
  const double system = growing_["system-time"].update(now, sum.system.value);
  cpu_added_ = Seconds{user + system};
  growing_["minor-faults"].update(now, sum.minor_faults);
  growing_["major-faults"].update(now, sum.major_faults);
  if (living.empty()) return;
  levels_["threads"].update(now, static_cast<double>(sum.threads));
  levels_["resident-bytes"].update(now, static_cast<double>(sum.resident));
  update_switches(now, proc, living);
  update_io(now, proc, living);
}

void ProcessChannels::update_switches(Seconds now, const platform::ProcFs& proc,
                                      const std::vector<std::int64_t>& living) {
  std::map<std::int64_t, platform::Switches> threads;
  for (const auto pid : living)
    for (const auto& thread : proc.switches(pid)) threads[thread.thread] = thread;
  if (threads.empty()) return;
  for (const auto& [id, thread] : threads) {
    const auto before = threads_.find(id);
    // Fewer than before: the number belongs to a new thread now.
    const bool same = before != threads_.end() && before->second.voluntary <= thread.voluntary &&
                      before->second.involuntary <= thread.involuntary;
    voluntary_ += thread.voluntary - (same ? before->second.voluntary : 0);
    involuntary_ += thread.involuntary - (same ? before->second.involuntary : 0);
  }
  threads_ = std::move(threads);
  growing_["voluntary-switches"].update(now, voluntary_);
  growing_["involuntary-switches"].update(now, involuntary_);
  growing_["context-switches"].update(now, voluntary_ + involuntary_);
}

void ProcessChannels::update_io(Seconds now, const platform::ProcFs& proc,
                                const std::vector<std::int64_t>& living) {
  platform::ProcessIo sum;
  for (const auto pid : living) {
    const auto io = proc.io(pid);
    // A sum without this one would be too small; the next update covers the stretch.
    if (!io) return;
    sum.read_chars += io->read_chars;
    sum.written_chars += io->written_chars;
    sum.read_calls += io->read_calls;
    sum.write_calls += io->write_calls;
    sum.read_bytes += io->read_bytes;
    sum.written_bytes += io->written_bytes;
  }
  growing_["read-chars"].update(now, sum.read_chars);
  growing_["written-chars"].update(now, sum.written_chars);
  growing_["read-calls"].update(now, sum.read_calls);
  growing_["write-calls"].update(now, sum.write_calls);
  growing_["read-bytes"].update(now, sum.read_bytes);
  growing_["written-bytes"].update(now, sum.written_bytes);
}

void ProcessChannels::take(Metrics& rates) {
  for (auto& [name, channel] : growing_)
    if (const auto rate = channel.take()) rates[name] = *rate;
  for (auto& [name, channel] : levels_)
    if (const auto rate = channel.take()) rates[name] = *rate;
}

}  // namespace tandem::measure
