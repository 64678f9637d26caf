#include "tune/recurring_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tandem::tune {
namespace {

bool ascending_and_positive(const auto& numbers) {
  if (numbers.empty()) return false;
  double last = 0;
  for (const auto number : numbers) {
    if (!std::isfinite(static_cast<double>(number)) || !(number > last)) return false;
    last = static_cast<double>(number);
  }
  return true;
}

[[noreturn]] void refuse(const std::string& what) {
  throw UserError("recurring job: " + what);
}

}  // namespace

void check(const RecurringJob& job) {
  if (!ascending_and_positive(job.batches)) refuse("its batch sizes must be positive and ascending");
  if (!ascending_and_positive(job.limits)) refuse("its power limits must be positive watts, ascending");
  if (std::find(job.batches.begin(), job.batches.end(), job.default_batch) == job.batches.end())
    refuse(fmt::format("its default batch size {} is not among its batch sizes: add it", job.default_batch));
  if (!(job.energy_weight >= 0 && job.energy_weight <= 1))
    refuse(fmt::format("the weight of energy is {}: it must be from 0 (only time) to 1", job.energy_weight));
  if (!(std::isfinite(job.price) && job.price >= 0)) refuse("what a second costs must be in watts, or 0");
  if (job.most_epochs < 1) refuse("it must be allowed at least one epoch");
  if (job.recurrences && *job.recurrences < 1) refuse("it must come at least once");
}

void check_batch(const RecurringJob& job, std::int64_t batch) {
  if (!std::binary_search(job.batches.begin(), job.batches.end(), batch))
    refuse(fmt::format("batch size {} is none of its own", batch));
}

void check(const RecurringJob& job, const EpochSlice& slice) {
  check_batch(job, slice.batch);
  if (std::find(job.limits.begin(), job.limits.end(), slice.limit) == job.limits.end())
    refuse(fmt::format("{} W is none of its power limits", slice.limit));
  const auto positive = [](double number) { return std::isfinite(number) && number > 0; };
  if (!(std::isfinite(slice.error) && slice.error >= 0)) refuse("an error of joules cannot be negative");
  if (!positive(slice.epochs) || !positive(slice.seconds) || !positive(slice.joules))
    refuse(fmt::format("{} epochs in {} s with {} J cannot be: all must be positive", slice.epochs,
                       slice.seconds, slice.joules));
}

void check(const RecurringJob& job, const AttemptEnded& end) {
  check_batch(job, end.batch);
  const bool broke_at_once = end.ending == Ending::failed && end.epochs == 0;
  if (!broke_at_once && !(std::isfinite(end.epochs) && end.epochs > 0))
    refuse(fmt::format("an attempt of {} epochs cannot be", end.epochs));
}

}  // namespace tandem::tune
