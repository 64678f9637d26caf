#include "trainer/session.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "trainer/export.h"

namespace tandem::trainer {
namespace {

// What an epoch cost, in the words of docs/specs.md.
void add_costs(Metrics& metrics, double train, double test, const Task& task, const data::Dataset& dataset,
               std::optional<double> waited) {
  const auto learned = static_cast<double>(dataset.train.count);
  metrics["seconds_train"] = train;
  metrics["seconds_test"] = test;
  metrics["seconds_load"] = task.load_seconds;
  if (waited) metrics["seconds_wait"] = *waited;
  metrics["seconds_per_thousand"] = 1000 * train / learned;
  metrics["samples_per_second"] = learned / std::max(train, 1e-9);
  metrics["inference_per_second"] = static_cast<double>(dataset.test.count) / std::max(test, 1e-9);
}

Metrics one_epoch(Learner& learner, std::int64_t epoch, const Task& task, const data::Dataset& dataset,
                  const Outside& outside) {
  const double begin = outside.seconds();
  const double train_loss = learner.train(epoch);
  const double trained = outside.seconds();
  Metrics metrics = learner.test();
  const double tested = outside.seconds();
  metrics["train_loss"] = train_loss;
  add_costs(metrics, trained - begin, tested - trained, task, dataset, learner.waited());
  for (const auto& [name, value] : metrics)
    if (!std::isfinite(value))
      throw UserError(fmt::format("{} is {} after epoch {}: the training diverged; try a lower learning_rate",
                                  name, value, epoch));
  return metrics;
}

void check_same(const Checkpoint& found, const std::string& expected, const std::filesystem::path& folder) {
  if (found.fingerprint == expected) return;
  throw UserError(
      fmt::format("{} holds checkpoints of another training ({}), this one is {}; choose another folder, or "
                  "remove that one",
                  folder.string(), found.fingerprint, expected));
}

// Follows an answer; false: the session is to end.
bool obey(const protocol::Answer& answer, std::int64_t epoch, Learner& learner, const Outside& outside) {
  // A checkpoint is taken each epoch anyway, so there is nothing to do but to say so.
  if (answer.checkpoint) outside.checkpointed(epoch);
  if (answer.system) learner.set_threads(answer.system->cores);
  return !answer.stop;
}

}  // namespace

std::string fingerprint(const Task& task, const data::Dataset& dataset) {
  std::uint64_t words = 0;
  for (const std::string& word : dataset.words) words = hash_name(word + std::to_string(words));
  return fmt::format("{} on {} ({} samples of {}, {} classes{}), seed {}, {}", task.setup.model, task.dataset,
                     dataset.train.count, fmt::join(dataset.shape, "x"), dataset.classes,
                     dataset.words.empty() ? "" : fmt::format(", words {:x}", words), task.setup.seed,
                     to_json(task.setup.hyper).dump());
}

Metrics run_session(const Task& task, const data::Dataset& dataset, Learner& learner,
                    const std::optional<Checkpoint>& found, const Outside& outside) {
  Checkpoint now;
  now.fingerprint = fingerprint(task, dataset);
  if (found) {
    if (!task.cloned) check_same(*found, now.fingerprint, task.folder);
    learner.restore(found->state);
    now.history = found->history;
  }
  learner.set_threads(task.threads);
  if (task.reported > now.epoch())
    outside.warn(
        fmt::format("{} epochs are counted already but the newest whole checkpoint is of epoch {}: training "
                    "epochs {} to {} again, "
                    "without reporting them again",
                    task.reported, now.epoch(), now.epoch() + 1, std::min(task.reported, task.epochs)));

  std::int64_t exported = 0;  // the epoch of the model that lies in the folder
  const auto export_now = [&] {
    if (exported != now.epoch()) export_model(task, dataset, learner, now.history.back());
    exported = now.epoch();
  };
  bool go_on = true;
  // Those that an earlier attempt trained; its last answer may have been lost with it, so each is answered
  // anew.
  for (std::int64_t epoch = task.reported + 1; go_on && epoch <= std::min(now.epoch(), task.epochs);
       ++epoch) {
    if (epoch == task.epochs) export_now();
    go_on = obey(outside.report(epoch, now.history[epoch - 1]), epoch, learner, outside);
  }
  while (go_on && now.epoch() < task.epochs) {
    const std::int64_t epoch = now.epoch() + 1;
    now.history.push_back(one_epoch(learner, epoch, task, dataset, outside));
    now.state = learner.state();
    save_checkpoint(task.folder, now, task.keep_checkpoints);
    // Before the last report: once all is reported, nobody may start this program again.
    if (epoch == task.epochs) export_now();
    if (epoch > task.reported)
      go_on = obey(outside.report(epoch, now.history.back()), epoch, learner, outside);
  }
  export_now();
  return now.history.empty() ? Metrics{} : now.history.back();
}

}  // namespace tandem::trainer
