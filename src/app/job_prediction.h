// What values should a job have that leaves some open, and will it meet its deadline? Said by what past runs
// in this store tell, and kept with the server's run, where `tandem advise --history` compares it with what
// came of it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "app/advice.h"
#include "store/store.h"

namespace tandem::app {

struct JobPrediction {
  std::string words;
  nlohmann::json json;  // null: nothing is known of the program
};

// A spec that can be queued: itself, or where it leaves values open and has a place.deadline, with those that
// advice chooses in their places.
struct Settled {
  std::string spec;
  std::string words{};             // what was chosen
  std::optional<Advised> unmet{};  // nothing is likely enough to meet the deadline: what was found
};
// UserError: values are open, and there is no deadline to choose them by.
Settled settle_choices(store::Store&, const std::string& spec, const std::string& file);

// nullopt for jobs without place.deadline, and for searches. The deadline counts from submission, and the
// wait for a place is not foreseen: the words say so.
std::optional<JobPrediction> predict_job(store::Store&, const std::string& server_run,
                                         const std::string& spec, const std::string& file, int job);

}  // namespace tandem::app
