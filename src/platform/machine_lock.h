// One machine, one owner: two Tandems that both hand out all cores would hand each core out twice.
//
// The lock is per user and machine, in $TANDEM_RUNTIME_DIR, else $XDG_RUNTIME_DIR/tandem, else
// /tmp/tandem-UID, else, where somebody else has taken that name, ~/.local/state/tandem/on-HOST. It is let go when the process ends, however it ends. Where these lie, others may write
// too: folders and files that are not ours are refused with a UserError (platform/trusted_folder.h), and
// nothing but tickets of the queue is ever removed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "platform/descriptor.h"
#include "platform/trusted_folder.h"

namespace tandem::platform {

class MachineLock {
 public:
  static std::filesystem::path default_file(const std::filesystem::path& shared = "/tmp");
  // nullopt: held by another process, named in `owner`. `label` says to others who holds it; `advice` what to
  // do where the file or its folder cannot be trusted.
  static std::optional<MachineLock> take(const std::filesystem::path& file, const std::string& label,
                                         std::string* owner = nullptr, const char* advice = kAdvice);

  static constexpr const char* kAdvice = "remove it, or set TANDEM_RUNTIME_DIR to a folder of your own";

 private:
  explicit MachineLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Descriptor descriptor_;
};

// A place in the queue for the machine: first come, first served. Whoever gives up or dies leaves the queue.
class MachineQueue {
 public:
  explicit MachineQueue(std::filesystem::path lock_file);
  MachineQueue(const MachineQueue&) = delete;
  ~MachineQueue();

  // The lock, once it is this one's turn and the machine is free; whoever is in the way is named in `owner`.
  std::optional<MachineLock> take(const std::string& label, std::string* owner = nullptr);

 private:
  void draw_ticket();
  bool somebody_is_before() const;

  std::filesystem::path lock_file_;
  TrustedFolder folder_;
  std::string ticket_;  // a file in the folder, locked while its owner lives
  Descriptor held_;
};

}  // namespace tandem::platform
