// One training, from the last checkpoint to the last epoch, reported once each.
//
// The order that makes nothing lost or counted twice: an epoch is trained, its checkpoint is durable, then it
// is reported. Epochs that an earlier attempt trained but did not get to report are reported from the metrics
// in the checkpoint. Epochs that were counted but whose checkpoint is lost are trained again and not reported
// again. Knows neither sockets nor libtorch; one thread.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "protocol/message.h"
#include "trainer/checkpoint.h"
#include "trainer/learner.h"

namespace tandem::trainer {

struct Task {
  Setup setup;
  std::string dataset;
  std::int64_t epochs = 1;
  std::int64_t reported = 0;  // counted already
  std::int64_t keep_checkpoints = 2;
  bool cloned = false;  // the checkpoint may be of other hyperparameters: go on from its weights
  int threads = 1;
  std::filesystem::path folder;
  double load_seconds = 0;  // what the dataset took to load, before the first epoch of this attempt
};

// How the session speaks to the outside.
struct Outside {
  // Reports an epoch; what to do next. May throw to end the session: the checkpoint is on disk.
  std::function<protocol::Answer(std::int64_t epoch, const Metrics&)> report;
  std::function<void(std::int64_t epoch)> checkpointed;
  std::function<void(const std::string&)> warn;
  std::function<double()> seconds;  // a steady clock
};

// What may not change between attempts, as text that a person can compare.
std::string fingerprint(const Task&, const data::Dataset&);

// `found` is the newest checkpoint of the folder. Returns the metrics of the last epoch that was trained.
// Throws UserError when `found` belongs to another training, or learning went wrong; SystemError when the
// disk did.
Metrics run_session(const Task&, const data::Dataset&, Learner&, const std::optional<Checkpoint>& found,
                    const Outside&);

}  // namespace tandem::trainer
