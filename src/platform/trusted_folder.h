// A folder in or beside which other users may write (/tmp, /run/lock, a runtime folder), made safe to use.
//
// It is opened once, never through a link, and its owner and mode are checked; what is in it is reached by
// that descriptor, so nobody can put another folder in its place afterwards. Files are ours alone or refused:
// a link, a pipe, a second name of another file or another user's file is never opened for use. Whatever
// cannot be trusted is a UserError that says why and what to do. Nothing is shared; one object a thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "platform/descriptor.h"

namespace tandem::platform {

class TrustedFolder {
 public:
  // exclusive: ours, and nobody else may write it. sticky: ours or root's; others may write it where the
  // sticky bit keeps our files from them, as in /tmp.
  enum class Sharing { exclusive, sticky };

  // Makes the folder (mode 0700) where there is none, but not its parents. `advice` ends the message of a
  // refusal, like "choose another".
  static TrustedFolder open(const std::filesystem::path&, Sharing, std::string advice);
  // A folder in it that is exclusively ours; made where there is none.
  TrustedFolder inside(const std::string& name) const;

  const std::filesystem::path& path() const { return path_; }
  // A plain file of ours that others cannot write and that has no other name. `flags` as for open(2); one
  // that is made has mode 0600. Empty where it is not there and `flags` do not make it.
  Descriptor open_file(const std::string& name, int flags) const;
  std::vector<std::string> names() const;
  void remove(const std::string& name) const;  // that it is gone already is no trouble

 private:
  TrustedFolder(std::filesystem::path path, std::string advice, Descriptor descriptor, Sharing);
  void check(Sharing) const;
  [[noreturn]] void refuse(const std::filesystem::path& what, const std::string& why) const;

  std::filesystem::path path_;
  std::string advice_;
  Descriptor descriptor_;
};

// $XDG_RUNTIME_DIR, where it is a folder that is ours alone (it may be of the user who called sudo), with its
// links followed.
std::optional<std::filesystem::path> own_runtime_folder();

}  // namespace tandem::platform
