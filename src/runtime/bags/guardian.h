// Tidies up after its owner, however the owner ends: also when it is killed.
//
// A process of its own, in a session of its own, waits until the owner closes its end of a pipe, on purpose
// or by dying, and then does what it was made for. So there is one way to tidy up, and every exit takes it.
// Make one before starting threads: what it does runs in a fork of this process.
#pragma once

#include <sys/types.h>

#include <functional>

#include "platform/descriptor.h"

namespace tandem::bags {

class Guardian {
 public:
  explicit Guardian(const std::function<void()>& tidy_up);  // SystemError
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  ~Guardian();  // has tidied up when it returns

 private:
  platform::Descriptor alive_;  // closed: the owner is gone
  pid_t pid_ = -1;
};

}  // namespace tandem::bags
