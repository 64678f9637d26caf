// tandem-trainer steps: what a batch takes, for a probe before there is any run to learn from.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "data/models.h"
#include "protocol/client.h"
#include "trainer/commands.h"
#include "trainer/learner.h"

namespace tandem::trainer {
namespace {

Metrics timed(const StepsOptions& options) {
  const data::Dataset dataset = data::load(options.dataset, data::folders_from_environment());
  const Setup setup{options.model, data::with_defaults(data::model(options.model), hyper_from(options.hyper)),
                    1};
  const auto learner = make_learner(setup, dataset);
  learner->set_threads(options.threads);
  constexpr std::int64_t kWarmUp = 2;  // the first ones fill caches and allocate
  std::vector<double> seconds = learner->time_batches(kWarmUp + options.batches);
  if (seconds.empty())
    throw UserError(options.model +
                    " does not learn in batches, so there are none to time; run it once instead");
  seconds.erase(seconds.begin(), seconds.begin() + kWarmUp);
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return {{"step_seconds", *middle}, {"records", static_cast<double>(dataset.train.count)}};
}

}  // namespace

int steps_command(const StepsOptions& options) {
  auto client = protocol::Client::connect();
  if (!client) {
    for (const auto& [name, value] : timed(options)) fmt::print("{} {:.6g}\n", name, value);
    return 0;
  }
  client->hello({protocol::kVersion, {}, std::nullopt});
  const Metrics metrics = timed(options);
  client->report({1, metrics});
  return 0;
}

}  // namespace tandem::trainer
