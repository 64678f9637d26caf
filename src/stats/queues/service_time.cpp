#include "stats/queues/service_time.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace tandem::stats {

ServiceTime service_of(const PhaseType& time) {
  return {time.moment(1), time.moment(2), [time](Complex s) { return time.transform(s); },
          [time] { return time.slices(kSlices); }};
}

ServiceTime fixed_service(double seconds) {
  return {seconds, seconds * seconds, [seconds](Complex s) { return std::exp(-s * seconds); },
          [seconds] {
            return std::vector<PhaseType::Slice>{{seconds, 1}};
          }};
}

double sped_up_seconds(const PhaseType& time, double timeout, double speed) {
  return time.moment_from(time.after(timeout), 1) / speed;
}

ServiceTime sped_up_service(const PhaseType& time, double timeout, double speed) {
  const auto left = time.after(timeout);
  const double first = time.moment_from(left, 1), second = time.moment_from(left, 2);
  // E[(timeout + R/speed)^n] instead of E[(timeout + R)^n], for those still under way at the timeout.
  const double mean = time.moment(1) - first * (1 - 1 / speed);
  const double square =
      time.moment(2) - 2 * timeout * first * (1 - 1 / speed) - second * (1 - 1 / (speed * speed));
  const auto transform = [time, left, timeout, speed](Complex s) {
    const Complex late = time.transform_from(left, s / speed) - time.transform_from(left, s);
    return time.transform(s) + std::exp(-s * timeout) * late;
  };
  const auto slices = [time, timeout, speed] {
    auto out = time.slices(kSlices);
    for (auto& slice : out)
      if (slice.time > timeout) slice.time = timeout + (slice.time - timeout) / speed;
    return out;
  };
  return {mean, square, transform, slices};
}

ServiceTime either_service(double share, const ServiceTime& one, const ServiceTime& other) {
  assert(share >= 0 && share <= 1);
  const auto transform = [share, a = one.transform, b = other.transform](Complex s) {
    return share * a(s) + (1 - share) * b(s);
  };
  const auto slices = [share, a = one.slices, b = other.slices] {
    std::vector<PhaseType::Slice> out;
    for (const auto& slice : a()) out.push_back({slice.time, share * slice.probability});
    for (const auto& slice : b()) out.push_back({slice.time, (1 - share) * slice.probability});
    return out;
  };
  return {share * one.mean + (1 - share) * other.mean, share * one.square + (1 - share) * other.square,
          transform, slices};
}

}  // namespace tandem::stats
