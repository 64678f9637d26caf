#include "sim/dias/dias_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "base/error.h"

namespace tandem::sim {

DiasServer::DiasServer(std::size_t classes, DiasServerOptions options)
    : options_(std::move(options)),
      speed_(options_.power.sprint_speed()),
      budget_(options_.limit, options_.power.extra()),
      buffers_(classes),
      seen_(classes) {
  check(options_.power, "the power states");
  options_.timeouts.resize(classes);
  if (preempts() && std::any_of(options_.timeouts.begin(), options_.timeouts.end(),
                                [](const auto& timeout) { return timeout.has_value(); }))
    throw UserError(
        fmt::format("sprinting is for non-preemptive queues, this one is {}: leave the timeouts out",
                    stats::name_of(options_.discipline)));
}

void DiasServer::arrive(const DiasArrival& arrival) {
  while (running_ && ends_ <= arrival.at) complete();
  buffers_[arrival.which].push_back({arrival.at, arrival.work, arrival.work, 0});
  account_.seconds = arrival.at - forgotten_until_;
  if (running_ && preempts() && arrival.which < which_) evict(arrival.at);
  if (!running_) dispatch(arrival.at);
}

void DiasServer::dispatch(double now) {
  for (which_ = 0; which_ < buffers_.size(); ++which_) {
    if (buffers_[which_].empty()) continue;
    job_ = buffers_[which_].front();
    buffers_[which_].pop_front();
    running_ = true;
    started_ = now;
    sprints_ = 0;
    ends_ = now + job_.left;
    if (const auto& timeout = options_.timeouts[which_]) {
      const auto run = place::sprinted_run(budget_, Seconds{now}, Seconds{job_.left}, *timeout, speed_);
      ends_ = now + run.takes.value;
      sprints_ = run.sprints.value;
    }
    return;
  }
}

void DiasServer::complete() {
  const double held = ends_ - started_;
  account_.busy += held;
  account_.sprinted += sprints_;
  job_.served += held;
  auto& seen = seen_[which_];
  seen.response.add(ends_ - job_.arrived);
  seen.executing += job_.served;
  seen.queueing += ends_ - job_.arrived - job_.served;
  running_ = false;
  dispatch(ends_);
}

void DiasServer::evict(double now) {
  const double held = now - started_;
  account_.busy += held;
  if (options_.discipline == stats::Discipline::preemptive_restart) {
    account_.wasted += held;
  } else {
    job_.left -= held;
    job_.served += held;
  }
  buffers_[which_].push_front(job_);
  running_ = false;
}

void DiasServer::forget() {
  forgotten_until_ += account_.seconds;
  account_ = {};
  seen_ = std::vector<DiasClassTally>(seen_.size());
}

Joules DiasServer::joules() const {
  const auto& power = options_.power;
  return power.base * Seconds{account_.busy - account_.sprinted} + power.sprint * Seconds{account_.sprinted} +
         power.idle * Seconds{std::max(0.0, account_.seconds - account_.busy)};
}

std::size_t DiasServer::waiting() const {
  std::size_t out = 0;
  for (const auto& buffer : buffers_) out += buffer.size();
  return out;
}

}  // namespace tandem::sim
