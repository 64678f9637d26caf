#include "server/submission_keys.h"

#include <fmt/format.h>

#include "server/http/http_message.h"

namespace tandem::server {

std::string submission_key(const std::string& given, const std::string& spec, const std::string& folder) {
  if (given.empty()) return {};
  std::uint64_t sum = 14695981039346656037U;  // FNV-1a
  for (const auto* part : {&spec, &folder}) {
    for (const char byte : *part) sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211U;
    sum = (sum ^ 256U) * 1099511628211U;  // what ends one part is in neither
  }
  return fmt::format("{}/{:016x}", given, sum);
}

SubmissionKeys::SubmissionKeys(const View& view) {
  for (const auto& job : view.jobs) add(job.owner, job.key, job.id, job.submitted_at);
}

SubmissionKeys::Of SubmissionKeys::of(const Owner& owner, const std::string& key) {
  return {owner.user, key.substr(0, key.find('/'))};
}

std::optional<JobId> SubmissionKeys::find(const Owner& owner, const std::string& key) const {
  if (key.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = made_.find(of(owner, key));
  if (found == made_.end()) return std::nullopt;
  if (found->second.key != key)
    throw Refusal(409, fmt::format("the Idempotency-Key of this submission was used for another one, which is "
                                   "job {}; give each its own",
                                   found->second.job));
  return found->second.job;
}

void SubmissionKeys::add(const Owner& owner, const std::string& key, JobId job, Seconds now) {
  const std::lock_guard lock(mutex_);
  for (; !by_age_.empty() && by_age_.front().first + kKept < now; by_age_.pop_front())
    if (const auto old = made_.find(by_age_.front().second);
        old != made_.end() && old->second.at <= by_age_.front().first)  // else it was used again since
      made_.erase(old);
  if (key.empty()) return;
  made_.insert_or_assign(of(owner, key), Made{key, job, now});
  by_age_.emplace_back(now, of(owner, key));
}

}  // namespace tandem::server
