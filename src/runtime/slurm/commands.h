// Runs Slurm's commands beside the loop: a controller that does not answer (sbatch then waits for many
// seconds) must not keep programs waiting. One thread; `descriptor` is readable when `look` has something to
// do.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "platform/descriptor.h"
#include "platform/process.h"

namespace tandem::slurm {

inline constexpr Seconds kCommandLimit{60};  // for one of them

struct CommandResult {
  int status = 0;          // its exit status; 128 and a signal
  bool timed_out = false;  // it was ended: whether it did what it was to do is not known
  std::string output, errors;
  bool well() const { return status == 0 && !timed_out; }
  std::string why() const;  // what it said when it was not well
};

class Commands {
 public:
  using Done = std::function<void(const CommandResult&)>;
  Commands();
  Commands(const Commands&) = delete;
  ~Commands();  // ends those that still run

  void run(std::vector<std::string> arguments, Seconds limit, Done);
  // The same, and waits for it; others go on meanwhile.
  CommandResult run_and_wait(std::vector<std::string> arguments, Seconds limit);
  int descriptor() const { return epoll_.get(); }
  void look();
  // Until the next one must be ended; a large number when there is none.
  Seconds until_limit() const;

 private:
  struct Running;
  void drain(Running&);
  void finish(std::uint64_t key, bool timed_out);

  platform::Descriptor epoll_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Running> running_;
};

}  // namespace tandem::slurm
