#include "platform/gpu_settings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "platform/kernel_text.h"
#include "platform/process.h"
#include "platform/trusted_folder.h"

namespace tandem::platform {
namespace fs = std::filesystem;
namespace {

// A guardian at work needs milliseconds; where it has to try again, some seconds.
constexpr auto kWaitForGuardian = std::chrono::seconds(12);
constexpr auto kPause = std::chrono::milliseconds(5);

// Who holds a lock, as the lock's file says it: pid and start time, which name a process for good.
struct Holder {
  pid_t pid = 0;
  bool alive = false;
};

Holder read_holder(int file) {
  std::array<char, 64> text{};
  if (::pread(file, text.data(), text.size() - 1, 0) <= 0) return {};
  std::string_view rest(text.data());
  const auto pid = parse_number<pid_t>(next_word(rest));
  const auto started = parse_number<std::int64_t>(next_word(rest));
  if (!pid || !started) return {};
  return {*pid, start_time_of(*pid) == *started};
}

bool write_holder(int file) {
  const std::string text = fmt::format("{} {}\n", ::getpid(), start_time_of(::getpid()));
  return ::ftruncate(file, 0) == 0 && ::pwrite(file, text.data(), text.size(), 0) > 0;
}

// A setting of ours that was undone: what could not be is said as well.
std::string also(const std::string& why, const std::string& more) {
  return more.empty() ? why : why + "; and it could not be undone: " + more;
}

// The lock is in a folder of all users: one that is not ours is not used. Throws UserError, SystemError.
Descriptor open_lock(const fs::path& folder, const std::string& uuid) {
  constexpr const char* kAdvice =
      "another user's Tandem may hold the GPU's settings; if none does, remove it, or set TANDEM_RUNTIME_DIR "
      "to "
      "a folder of your own";
  Descriptor lock = TrustedFolder::open(folder, TrustedFolder::Sharing::sticky, kAdvice)
                        .open_file(lock_file(folder, uuid).filename(), O_RDWR | O_CREAT);
  if (!lock) throw_errno("opening " + lock_file(folder, uuid).string());
  return lock;
}

GpuSettingsOptions with_folder(GpuSettingsOptions options) {
  if (options.folder.empty()) options.folder = GpuSettings::default_folder();
  return options;
}

}  // namespace

fs::path GpuSettings::default_folder() {
  if (const char* own = std::getenv("TANDEM_RUNTIME_DIR"); own && *own) {
    // The user's own word: where it is a link, what it leads to is meant.
    std::error_code error;
    const auto real = fs::weakly_canonical(own, error);
    return error ? fs::path(own) : real;
  }
  if (::access("/run/lock", W_OK | X_OK) == 0) return "/run/lock";
  return own_runtime_folder().value_or("/tmp");
}

GpuSettings::GpuSettings(Nvml& nvml, GpuSettingsOptions options)
    : nvml_(nvml),
      options_(with_folder(std::move(options))),
      guardian_(options_.guardian, options_.folder, options_.log) {
  for (std::size_t gpu = 0; gpu < nvml_.gpus().size(); ++gpu) repair(gpu);
}

GpuSettings::~GpuSettings() {
  while (!held_.empty()) {
    const auto gpu = held_.begin()->first;
    if (!restore(gpu).empty()) held_.erase(gpu);  // the guardian, which outlives the next line, tries on
  }
}

std::string GpuSettings::name(std::size_t gpu) const {
  return fmt::format("GPU {} ({})", gpu, nvml_.gpus().at(gpu).name);
}

// A lock that is held has an owner, or a guardian, who will put things back.
void GpuSettings::repair(std::size_t gpu) {
  const std::string& uuid = nvml_.gpus()[gpu].uuid;
  if (!is_plain_uuid(uuid) || !left_behind(options_.folder, uuid)) return;
  Descriptor lock;
  try {
    lock = open_lock(options_.folder, uuid);
  } catch (const std::runtime_error& error) {
    repairs_.push_back(name(gpu) + ": " + error.what());
    return;
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return;
  if (const auto why = put_leftover_back(gpu); !why.empty()) repairs_.push_back(why);
}

// With the lock held. "" or why it is still not as it was found.
std::string GpuSettings::put_leftover_back(std::size_t gpu) {
  const std::string& uuid = nvml_.gpus()[gpu].uuid;
  try {
    const auto former = read_former(options_.folder, uuid);
    if (!former) {
      remove_former(options_.folder, uuid);  // of one that was not whole: nothing had been changed yet
      return "";
    }
    const bool changed = former->unlock || nvml_.power_limit(gpu) != former->watts;
    if (const auto why = put_back(nvml_, *former); !why.empty())
      return fmt::format("{}: a Tandem that was killed (pid {}) changed it, and {} cannot be given back: {}",
                         name(gpu), former->owner, text(*former), why);
    remove_former(options_.folder, uuid);
    if (changed)
      repairs_.push_back(fmt::format("{} has {} again: a Tandem that was killed (pid {}) left it changed",
                                     name(gpu), text(*former), former->owner));
    return "";
  } catch (const SystemError& error) {
    return name(gpu) + ": " + error.what();
  }
}

std::string GpuSettings::take_lock(std::size_t gpu, Descriptor& lock) {
  const std::string& uuid = nvml_.gpus().at(gpu).uuid;
  if (!is_plain_uuid(uuid)) return name(gpu) + ": it does not say its UUID, so it cannot be held for one run";
  try {
    lock = open_lock(options_.folder, uuid);
  } catch (const std::runtime_error& error) {
    return fmt::format("{}: its lock cannot be opened: {}", name(gpu), error.what());
  }
  const auto until = std::chrono::steady_clock::now() + kWaitForGuardian;
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    const Holder holder = read_holder(lock.get());
    if (holder.alive)
      return fmt::format("{}: another Tandem (pid {}) holds its settings; wait for it, or stop it", name(gpu),
                         holder.pid);
    if (std::chrono::steady_clock::now() >= until)
      return fmt::format("{}: the guardian of a Tandem that is gone (pid {}) cannot put its settings back",
                         name(gpu), holder.pid);
    std::this_thread::sleep_for(kPause);
  }
  return "";
}

std::string GpuSettings::take(std::size_t gpu) {
  Held held;
  if (const auto why = take_lock(gpu, held.lock); !why.empty()) return why;
  if (!write_holder(held.lock.get()))
    return fmt::format("{}: writing its lock in {}: {}", name(gpu), options_.folder.string(),
                       std::strerror(errno));
  if (const auto why = put_leftover_back(gpu); !why.empty()) return why;
  held.former.uuid = nvml_.gpus()[gpu].uuid;
  held.former.owner = ::getpid();
  held_.emplace(gpu, std::move(held));
  return "";
}

std::string GpuSettings::check() {
  if (held_.empty() || guardian_.alive()) return "";
  std::string why = guardian_.start();
  for (auto it = held_.begin(); it != held_.end() && why.empty(); ++it)
    why = guardian_.remember(it->second.former, it->second.lock.get());
  if (why.empty()) return "";
  // Nobody would put it back: better that nothing is changed.
  while (!held_.empty()) {
    const auto gpu = held_.begin()->first;
    why = also(why, restore(gpu));
    held_.erase(gpu);
  }
  return "GPU settings are left as they were found, since nobody would put them back if Tandem were "
         "killed: " +
         why;
}

// The guardian first, then the file: whatever is killed in between, what is left to do is done by one of
// them.
std::string GpuSettings::guard(std::size_t gpu, const GpuSetting& wanted) {
  auto& held = held_.at(gpu);
  FormerSetting former = held.former;
  if (wanted.watts && !former.watts) {
    former.watts = nvml_.power_limit(gpu);
    if (!former.watts) return name(gpu) + ": it does not say its power limit, so it could not be put back";
  }
  former.unlock |= wanted.hertz.has_value();
  if (former == held.former) return "";
  if (const auto why = guardian_.remember(former, held.lock.get()); !why.empty())
    return fmt::format("{}: nothing was changed, because nobody would put it back: {}", name(gpu), why);
  try {
    write_former(options_.folder, former);
  } catch (const SystemError& error) {
    return also(name(gpu) + ": " + error.what(), guardian_.remember(held.former, held.lock.get()));
  }
  held.former = std::move(former);
  return "";
}

// To what was wanted, from what is set now; each part only where it differs.
std::string GpuSettings::set(std::size_t gpu, const GpuSetting& wanted) {
  auto& [lock, former, now] = held_.at(gpu);
  if (wanted.watts != now.watts) {
    const double watts = wanted.watts.value_or(former.watts.value_or(0));
    if (const auto why = nvml_.set_power_limit(gpu, watts); !why.empty()) return why;
    now.watts = wanted.watts;
    const auto is = nvml_.power_limit(gpu);
    if (is && std::abs(*is - watts) > 1)
      return fmt::format("{}: asked for a power limit of {:g} W, it took {:g} W", name(gpu), watts, *is);
  }
  if (wanted.hertz != now.hertz) {
    const auto why = wanted.hertz ? nvml_.lock_clock(gpu, *wanted.hertz) : nvml_.unlock_clock(gpu);
    if (!why.empty()) return why;
    now.hertz = wanted.hertz;
  }
  return "";
}

std::string GpuSettings::apply(std::size_t gpu, const GpuSetting& wanted) {
  if (!wanted.watts && !wanted.hertz) return restore(gpu);
  const bool first = !held_.contains(gpu);
  if (first)
    if (const auto why = take(gpu); !why.empty()) return why;
  const GpuSetting before = held_.at(gpu).now;
  std::string why = check();
  if (!why.empty()) return why;
  why = guard(gpu, wanted);
  if (why.empty()) why = set(gpu, wanted);
  if (why.empty()) return "";
  return also(why, first ? restore(gpu) : set(gpu, before));
}

std::string GpuSettings::restore(std::size_t gpu) {
  const auto found = held_.find(gpu);
  if (found == held_.end()) return "";
  const auto& held = found->second;
  if (held.now != GpuSetting{})
    if (const auto why = put_back(nvml_, held.former); !why.empty()) return why;
  try {
    remove_former(options_.folder, held.former.uuid);
  } catch (const SystemError& error) {
    return name(gpu) + ": " + error.what();
  }
  if (guardian_.alive()) guardian_.forget(held.former.uuid);
  held_.erase(found);
  return "";
}

std::string GpuSettings::try_power_limit(std::size_t gpu) {
  if (held_.contains(gpu)) return "";
  Descriptor lock;
  if (const auto why = take_lock(gpu, lock); !why.empty()) return why;
  if (const auto why = put_leftover_back(gpu); !why.empty()) return why;
  const auto limit = nvml_.power_limit(gpu);
  if (!limit) return name(gpu) + ": it has no power limit";
  return nvml_.set_power_limit(gpu, *limit);
}

}  // namespace tandem::platform
