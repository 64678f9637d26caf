// Power limits and clocks of this machine's GPUs, set for a while and put back however this process ends.
//
// They belong to the card, not to a process: left alone, a limit outlives who set it. So before the first
// change of a GPU its former values are written to a file and told to `tandem-guardian`, a small process of
// its own that puts them back when its owner is gone, kill -9 included. When both were killed at once, the
// file is left, and the next GpuSettings (a run, `tandem doctor`) puts the values back and says so.
//
// One Tandem at a time holds a GPU's settings: a lock on a file named after the GPU. Its guardian holds it
// too, until all is back, so that nobody takes a limit of a dying run for the former one.
//
// NVML cannot say whether a clock was locked before: "as it was found" is unlocked, for GPUs whose clock was
// locked here. One thread; `Nvml` must outlive it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/descriptor.h"
#include "platform/gpu_former.h"
#include "platform/guardian_link.h"
#include "platform/nvml.h"

namespace tandem::platform {

struct GpuSetting {
  std::optional<double> watts, hertz;  // none: as it was found
  bool operator==(const GpuSetting&) const = default;
};

struct GpuSettingsOptions {
  std::filesystem::path guardian;  // the program tandem-guardian
  std::filesystem::path folder;    // for locks and former values; empty: default_folder()
  std::filesystem::path log;       // where the guardian says what it did; empty: nowhere
};

class GpuSettings {
 public:
  // $TANDEM_RUNTIME_DIR, else /run/lock, else $XDG_RUNTIME_DIR, else /tmp: the first that can be written and,
  // of the third, is ours.
  static std::filesystem::path default_folder();

  // Puts back what a Tandem that was killed together with its guardian left behind. Does not throw.
  GpuSettings(Nvml&, GpuSettingsOptions);
  GpuSettings(const GpuSettings&) = delete;
  GpuSettings& operator=(const GpuSettings&) = delete;
  ~GpuSettings();  // restores all

  // What killed Tandems had left and was put back here, or could not be: by the constructor, rarely by
  // `apply`.
  const std::vector<std::string>& repairs() const { return repairs_; }

  // "" or why not, in a sentence for people; nothing is changed then. Waits up to some seconds for a guardian
  // at work.
  std::string apply(std::size_t gpu, const GpuSetting&);
  // As it was found. "" or why not; then the guardian, and the file, still remember.
  std::string restore(std::size_t gpu);
  // Call about once a second while something is changed: a guardian that died is replaced. "" or why that
  // failed; then everything has been put back.
  std::string check();
  // Whether this process may set the power limit, by setting the one there is once more. "" or why not.
  std::string try_power_limit(std::size_t gpu);
  pid_t guardian() const { return guardian_.pid(); }  // -1: none was needed yet

 private:
  struct Held {
    Descriptor lock;
    FormerSetting former;
    GpuSetting now;
  };

  void repair(std::size_t gpu);
  std::string put_leftover_back(std::size_t gpu);
  std::string take_lock(std::size_t gpu, Descriptor& lock);
  std::string take(std::size_t gpu);                      // into held_
  std::string guard(std::size_t gpu, const GpuSetting&);  // the file and the guardian know what it was
  std::string set(std::size_t gpu, const GpuSetting&);
  std::string name(std::size_t gpu) const;

  Nvml& nvml_;
  GpuSettingsOptions options_;
  GuardianLink guardian_;
  std::map<std::size_t, Held> held_;
  std::vector<std::string> repairs_;
};

}  // namespace tandem::platform
