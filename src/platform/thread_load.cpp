#include "platform/thread_load.h"

#include "platform/kernel_text.h"

namespace tandem::platform {
namespace {

namespace fs = std::filesystem;

constexpr double kNanoseconds = 1e-9;

// Folders of a folder whose names are numbers; none where it is gone, or not ours to see.
template <class Each>
void each_number(const fs::path& folder, const Each& each) {
  std::error_code gone;
  for (fs::directory_iterator entry(folder, gone), end; !gone && entry != end; entry.increment(gone))
    if (const auto id = parse_number<int>(entry->path().filename().string())) each(*id, entry->path());
}

std::optional<ThreadTime> read_thread(int process, const fs::path& folder) {
  const auto text = read_kernel_text((folder / "schedstat").string());
  if (!text) return std::nullopt;  // it has ended, or is not ours to see
  std::string_view rest(*text);
  const auto ran = parse_number<double>(next_word(rest)), stood = parse_number<double>(next_word(rest));
  if (!ran || !stood) return std::nullopt;
  return ThreadTime{process, {*ran * kNanoseconds}, {*stood * kNanoseconds}};
}

}  // namespace

std::optional<ThreadTimes> thread_times(const fs::path& proc) {
  ThreadTimes out;
  each_number(proc, [&](int process, const fs::path& folder) {
    each_number(folder / "task", [&](int thread, const fs::path& own) {
      if (const auto time = read_thread(process, own)) out[thread] = *time;
    });
  });
  return out.empty() ? std::nullopt : std::optional(std::move(out));
}

CoresWanted cores_wanted(const ThreadTimes& before, const ThreadTimes& after, Seconds window, int but_for) {
  CoresWanted out;
  if (!(window.value > 0)) return out;
  for (const auto& [thread, now] : after) {
    if (now.process == but_for) continue;
    const auto found = before.find(thread);
    // An id may have gone to another thread since: that one's times are less, and all of the window.
    const bool same = found != before.end() && found->second.process == now.process &&
                      found->second.ran <= now.ran && found->second.stood <= now.stood;
    const ThreadTime then = same ? found->second : ThreadTime{};
    out.used += (now.ran - then.ran) / window;
    out.in_line += (now.stood - then.stood) / window;
  }
  return out;
}

}  // namespace tandem::platform
