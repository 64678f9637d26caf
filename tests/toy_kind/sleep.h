// A kind of job that only sleeps, one nap after another: what a kind needs, as small as it can be
// (CONTRIBUTING.md, "a kind of job").
//
//   kind: sleep
//   naps: 3
//   each: 0.5s
#pragma once

#include "app/kinds.h"

namespace tandem::toy {

app::Kind sleep_kind();

}  // namespace tandem::toy
