// A training spec that leaves values open, once somebody has chosen: the same document with values in the
// places of domains, so that it can be queued, kept or read like any other.
#pragma once

#include <string>
#include <string_view>

#include "spec/job.h"

namespace tandem::spec {

// As JSON, which is YAML. What only choosing needs (constraints, experiment) is left out; the rest is as
// written. `text` has been parsed before: it is good.
std::string with_choices(std::string_view text, const TrainJob& chosen);

}  // namespace tandem::spec
