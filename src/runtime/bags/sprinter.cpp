#include "runtime/bags/sprinter.h"

namespace tandem::bags {

void Sprinter::begin(Seconds now, std::optional<Seconds> timeout) {
  sprinting_ = last_slice_ = false;
  next_.reset();
  if (timeout) next_ = now + *timeout;
}

bool Sprinter::sprints(Seconds now) {
  if (next_ && now >= *next_) step(now);
  return sprinting_;
}

void Sprinter::step(Seconds now) {
  if (now >= paid_until_ && !last_slice_) {  // else what the job before left of its slice comes first
    const Seconds lasts = budget_.spend(now, kSlice);
    paid_until_ = now + lasts;
    last_slice_ = lasts < kSlice;
  }
  sprinting_ = now < paid_until_;
  next_ = sprinting_ ? std::optional(paid_until_) : std::nullopt;
}

}  // namespace tandem::bags
