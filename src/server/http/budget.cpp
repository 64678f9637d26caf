#include "server/http/budget.h"

#include <algorithm>

namespace tandem::server {
namespace {

constexpr double kSecondsAByte = 5e-9;  // copied, sent and, on this machine, received
constexpr double kForgets = 0.9;        // of what a dear question cost, at each cheaper one

}  // namespace

std::string client_of(const Caller& caller, const Identity& who) {
  if (!who.name.empty()) return who.name;
  return caller.user ? "user " + std::to_string(*caller.user) : "address " + caller.from;
}

// Honest use stays far below: a page of 100 jobs costs about a millisecond.
Budget::Rate Budget::rate_of(Role role) {
  switch (role) {
    case Role::operate: return {0.5, Seconds{10}};
    case Role::submit: return {0.1, Seconds{1}};
    case Role::view:
    case Role::none: break;
  }
  return {0.05, Seconds{1}};
}

void Budget::refill(Account& account, Seconds now) {
  account.left = std::min(account.rate.saved, account.left + account.rate.share * (now - account.at));
  account.at = now;
}

// Whoever has all of it saved up is as one that never asked.
void Budget::forget_full(Seconds now) {
  for (auto entry = accounts_.begin(); entry != accounts_.end();) {
    auto& account = entry->second;
    refill(account, now);
    const bool full = account.under_way == 0 && account.left >= account.rate.saved;
    entry = full ? accounts_.erase(entry) : std::next(entry);
  }
  look_at_ = std::max<std::size_t>(1024, 2 * accounts_.size());
}

std::optional<Seconds> Budget::refused(const std::string& client, Role role, Seconds now) {
  if (accounts_.size() >= look_at_) forget_full(now);
  const auto [found, is_new] = accounts_.try_emplace(client);
  auto& account = found->second;
  account.rate = rate_of(role);
  if (is_new) account.left = account.rate.saved, account.at = now;
  refill(account, now);
  const Seconds missing = static_cast<double>(account.under_way) * account.dear - account.left;
  if (missing >= Seconds{0}) return Seconds{std::max(0.01, missing.value / account.rate.share)};
  ++account.under_way;
  return std::nullopt;
}

void Budget::charge(const std::string& client, Seconds processor, std::size_t bytes, Seconds now) {
  const auto found = accounts_.find(client);
  if (found == accounts_.end()) return;
  auto& account = found->second;
  const Seconds cost = processor + Seconds{kSecondsAByte * static_cast<double>(bytes)};
  refill(account, now);
  account.left = account.left - cost;
  account.dear = std::max(cost, kForgets * account.dear);
  --account.under_way;
}

}  // namespace tandem::server
