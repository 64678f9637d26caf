// Serving a trained model here for a while, and what that took (`tandem infer`).
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/value.h"
#include "event/energy.h"
#include "event/view.h"

namespace tandem::app {

struct InferenceOptions {
  std::int64_t requests = 1000, batch = 1;
  double seconds = 0;  // above 0: so long, not so many requests
  int cores = 1;
};

struct Inference {
  Metrics metrics;
  // Answering requests alone, and what came before: starting the program, reading model and data. None: no
  // source could tell.
  std::optional<Joules> joules, startup_joules;
  std::string energy_source;  // empty: none
  std::string beside;         // what else of Tandem's ran here meanwhile; empty: nothing
};

// Of one attempt that has ended.
Inference inference_of(const TaskView&);
// `folder` has the model. SystemError with what the program printed when it failed.
Inference measure_inference(const std::filesystem::path& folder, const InferenceOptions&);

nlohmann::json inference_json(const std::string& run, const InferenceOptions&, const Inference&);

}  // namespace tandem::app
