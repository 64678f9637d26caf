// Gangs on Slurm: one job, an agent on each node, all of them joined to us.
//
// What differs from a task of one process: it begins when the last agent has joined; a signal goes to all of
// them; and rank 0's exit counts only when the others have ended too. An agent that vanished without a word
// has ended its program after the fence at the latest (life.h).
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "runtime/common/clock.h"
#include "runtime/slurm/world.h"

namespace tandem::slurm {
namespace {

using runtime::steady;

// Why a rank's end is the end of all of them; empty: it ended as it should, or Slurm ended it, which rank 0
// has heard too.
std::pair<Failure, std::string> trouble(const ExitRecord& r) {
  if (r.asked_by_slurm || r.lost_tandem) return {};
  if (!r.could_not_start.empty()) return {Failure::could_not_start, r.could_not_start};
  const auto judgement = runtime::judge(runtime::Exit{r.signalled, r.status, r.out_of_memory});
  return judgement.well ? std::pair<Failure, std::string>() : std::pair(judgement.failure, judgement.detail);
}

bool ended_badly(const ExitRecord& r) {
  return r.signalled || r.status != 0 || !r.could_not_start.empty() || r.lost_tandem;
}

}  // namespace

std::vector<std::string> SlurmWorld::marks_of(const Attempted& a) const {
  std::vector<std::string> out;
  for (std::size_t rank = 0; rank < a.nodes.size(); ++rank)
    out.push_back(mark_of_rank(text(mark_of(a)), rank));
  return out;
}

void SlurmWorld::make_gang_ticket(const Attempted& a, Ticket& ticket) {
  if (!a.gang()) return;
  for (const NodeId node : a.nodes) ticket.nodes.push_back(nodes_.at(static_cast<std::size_t>(node)).name);
  ticket.tokens.push_back(ticket.token);
  for (std::size_t rank = 1; rank < ticket.nodes.size(); ++rank)
    ticket.tokens.push_back(links_->expect(mark_of_rank(ticket.mark, rank)));
  const auto& first = nodes_.at(static_cast<std::size_t>(a.node()));
  ticket.master = first.address.empty() ? first.name : first.address;
}

bool SlurmWorld::signal(Attempted& a, int number) {
  const auto marks = marks_of(a);
  const bool reached = links_->send(marks.front(), Signal{number});
  for (std::size_t rank = 1; rank < marks.size(); ++rank) links_->send(marks[rank], Signal{number});
  return reached;
}

void SlurmWorld::forget(const Attempted& a) {
  for (const auto& mark : marks_of(a)) links_->forget(mark);
}

void SlurmWorld::heard_follower(Attempted& a, std::size_t rank, const FromAgent& message) {
  if (rank > a.followers.size()) return;
  if (std::holds_alternative<Join>(message)) {
    a.followers[rank - 1].joined = true;
    begin_together(a);
  } else if (const auto* gone = std::get_if<Exited>(&message)) {
    follower_exited(a, rank, gone->record);
  }
}

void SlurmWorld::follower_exited(Attempted& a, std::size_t rank, const ExitRecord& record) {
  a.followers[rank - 1].over_at = steady();
  const auto [failure, why] = trouble(record);
  if (why.empty() || a.told_to_stop || a.verdict || a.move != Move::none) return;
  if (a.exit && ended_badly(*a.exit)) return;  // that took the others with it
  make_fail(a, failure, fmt::format("rank {} on {}: {}", rank, record.node, why));
}

void SlurmWorld::follower_left(Attempted& a, std::size_t rank) {
  if (rank > a.followers.size() || a.followers[rank - 1].over_at) return;
  // What was not let go has not begun.
  a.followers[rank - 1].over_at = steady() + (a.let_go ? options_.life.fence : Seconds{0});
  if (a.told_to_stop || a.verdict || a.move != Move::none) return;
  const auto& node = nodes_.at(static_cast<std::size_t>(a.nodes[rank])).name;
  make_fail(a, Failure::lost, fmt::format("rank {} on {} cannot be reached any more", rank, node));
}

bool SlurmWorld::waits_for_followers(const Attempted& a) const {
  return std::any_of(a.followers.begin(), a.followers.end(), [&](const Follower& follower) {
    return follower.joined && !(follower.over_at && steady() >= *follower.over_at);
  });
}

void SlurmWorld::rank_0_exited(Attempted& a, const ExitRecord& record) {
  if (!waits_for_followers(a)) return a.life->recorded(record);
  a.exit = record;
  if (ended_badly(record)) signal(a, SIGKILL);
}

void SlurmWorld::look_after_gangs() {
  for (auto& [task, a] : attempts_)
    if (a->life && a->exit && !waits_for_followers(*a))
      a->life->recorded(*std::exchange(a->exit, std::nullopt));
}

}  // namespace tandem::slurm
