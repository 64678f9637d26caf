// What a world watches of its run's folder: whether its disk has space, and when Tandem was last at work there.
// One thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/units.h"
#include "platform/descriptor.h"

namespace tandem::runtime {

class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path);

  // Of the Tandem before this one: when it was last seen, to about `kBeatEvery`; none: never, or nobody knows.
  std::optional<Seconds> seen_before() const { return seen_before_; }
  // How long an attempt that began then (wall clock) ran before its Tandem was gone, as far as that is known.
  std::optional<Seconds> ran(Seconds began) const;

  // Called often; looks once a second at most. True: programs must not write here now. It becomes true with
  // less than 2 MiB left, and false again with 16 MiB (of a small disk, a 16th and a quarter).
  bool full(Seconds steady_now);
  void is_full(Seconds steady_now);  // somebody found out
  std::string why() const;           // what is said of a task that was ended for it

 private:
  static constexpr Seconds kLookEvery{1}, kBeatEvery{5};
  void beat();

  std::filesystem::path folder_;
  platform::Descriptor alive_;
  std::optional<Seconds> seen_before_;
  Seconds next_look_{}, next_beat_{};
  Bytes low_ = Bytes{2} << 20, enough_ = Bytes{16} << 20;
  bool full_ = false;
};

}  // namespace tandem::runtime
