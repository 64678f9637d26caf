// A snapshot: what a loop knew after an entry of its journal, so that it need fold only what came after. A
// cache, never the truth: one that is damaged, of another journal or of another Tandem is as good as none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/ports.h"
#include "event/snapshot.h"

namespace tandem::control {

struct Snapshot {
  Entry last;                           // the entry it was taken after: the journal must have the same
  View view;                            // after it
  std::vector<std::string> policies{};  // what each keeps beside the view, in their order
};

// Slow where the view is large; of a copy, so on any thread. In pieces: never all of it at once.
void write(const Snapshot&, const ByteSink&);
std::string to_bytes(const Snapshot&);
std::optional<Snapshot> snapshot_from(std::string_view bytes);  // none: it cannot be trusted

}  // namespace tandem::control
