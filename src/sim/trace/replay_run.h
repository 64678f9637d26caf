// One replay (replay.h): its state, and what happens at each moment. Not for others to include.
//
// The plain case, an order of the queue and first fit in the fastest pool, touches nothing that the other
// policies need: replay.cpp. Others are carried out by the placement engine (place/engine/engine.h), whose
// host this is: replay_policy.cpp; what a move takes is in replay_move.cpp.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "place/engine/engine.h"
#include "sim/engine/heap.h"
#include "sim/trace/replay.h"
#include "sim/world/failures.h"

namespace tandem::sim {

class Replay final : private place::EngineHost {
 public:
  Replay(const ReplayInput&, const place::Policy&, place::Predictor*);
  Replayed run();

 private:
  struct Running {
    std::uint32_t job = 0, pool = 0;
    double since = 0, seconds = 0;  // of this stretch
    double standing = 0;            // of them: before it goes on, after a move by checkpoint
    double joules = 0;              // of the whole attempt
    bool settled = false;           // no machine type is better for it
    bool whole = false;             // has been here from its beginning
    std::vector<place::Share> shares{};
  };
  struct Moving {  // a task that starts on a new node while it goes on where it is
    std::uint32_t pool = 0;
    double since = 0;
    std::vector<place::Share> shares{};
  };

  // Time
  bool advance();
  void serve();
  void arrive(std::uint32_t job);
  void wait(std::uint32_t job);
  bool start_plain(std::uint32_t job);
  bool start_in(std::uint32_t job, std::uint32_t pool, const place::Where&);
  void begin(std::uint32_t job, std::uint32_t pool);  // on `taken_`
  void end(std::uint32_t slot);
  // Stops what runs in the slot; its room is free again.
  void stop_slot(std::uint32_t slot);
  void release(std::uint32_t slot);
  std::uint32_t take_slot();

  // What is known of jobs
  double seconds(std::uint32_t job, std::uint32_t pool, bool spread) const;
  double share_left(std::uint32_t job) const { return left_.empty() ? 1 : left_[job]; }
  double left_now(const Running&) const;
  const ReplayShape& shape_of(std::uint32_t job) const { return input_.shapes[input_.jobs[job].shape]; }
  const std::vector<std::uint32_t>& usable(std::uint32_t job);
  const std::vector<std::uint32_t>& preferred(std::uint32_t job);
  bool possible(std::uint32_t job);
  std::uint32_t line_of(std::uint32_t job);

  // The engine's host
  const std::vector<std::uint32_t>& ranked(std::uint32_t job) override;
  place::Where where(std::uint32_t job, std::uint32_t pool) override;
  place::Lasts lasts(std::uint32_t job, std::uint32_t pool, std::span<const place::Share>) override;
  bool begins_at_once() const override { return true; }
  void start(std::uint32_t job, std::span<const place::Placed>) override;
  void stop(std::uint32_t job, const place::StopCause&) override;
  std::uint32_t engine_line_of(std::uint32_t job);
  void wait_in_engine(std::uint32_t job, const place::JobFacts&);
  void serve_by_engine();
  void carry_out_stops();
  std::size_t waiting() const { return engine_ ? engine_->waiting() : queue_.size(); }
  const std::vector<std::uint32_t>& open_to(std::uint32_t job);
  const place::TaskRequirements& requirements_of(std::uint32_t job);

  // Rescheduling
  void note_room();
  std::int64_t next_period() const;
  double next_reschedule() const;
  void reschedule();
  void consider(std::uint32_t slot);
  void arrive_there(std::uint32_t slot);
  void arrive_by_checkpoint(std::uint32_t slot);
  void undo_move(std::uint32_t slot);
  bool undo_moves();

  // Failures
  void plan_failures();
  void plan_failure(std::size_t node, double from);
  void change_node(std::uint32_t node);
  void lose(std::uint32_t pool, std::uint32_t node);

  // Accounts
  double count_use(std::uint32_t job, std::uint32_t pool, double since);  // the joules
  void sample();
  void account();

  const ReplayInput& input_;
  const place::Policy& policy_;
  place::Queue queue_;
  std::vector<place::Pool> pools_;
  std::vector<std::size_t> first_node_;  // of each pool, among all nodes
  std::size_t nodes_ = 0;
  double begin_ = 0, now_ = 0, last_end_ = 0, added_joules_ = 0, next_sample_ = 0;
  std::uint32_t next_job_ = 0;
  Heap running_;  // slots, by their end
  std::vector<Running> slots_;
  std::vector<std::uint32_t> free_slots_, order_;
  std::uint32_t last_slot_ = 0;  // in which a job began last
  std::vector<place::Share> taken_;
  std::vector<std::optional<std::vector<std::uint32_t>>> usable_;  // by shape, where there is no ranking
  std::vector<std::pair<std::uint32_t, std::uint64_t>> lines_;     // shape and the pools open to it
  std::vector<double> left_;                                       // of each job: share still to be done

  std::vector<place::MachineType> types_;
  std::unique_ptr<place::Predictor> declared_;
  place::Predictor* predictor_ = nullptr;
  std::unique_ptr<place::Ranking> ranking_;     // none: the plain case
  std::vector<place::TaskRequirements> needs_;  // by shape
  std::vector<std::vector<std::uint32_t>> allowed_;
  std::vector<bool> needs_made_;
  std::unique_ptr<place::Engine> engine_;  // where there is a ranking
  struct EngineLine {
    std::uint32_t shape = 0, line = 0;  // the engine's
  };
  std::map<std::pair<std::uint32_t, std::uint64_t>, EngineLine> engine_lines_;  // by shape and open pools
  std::vector<std::uint32_t> slot_of_;                                          // by job
  std::deque<std::uint32_t> stopping_;                                          // jobs, as it was decided
  std::map<std::uint32_t, double> moved_;  // jobs that were stopped to move: when they had started

  Heap arrivals_there_;  // slots that move, by the time they are there
  std::vector<Moving> moving_;
  bool freed_ = false;  // room since the last rescheduling
  double freed_at_ = 0;
  std::int64_t periods_ = 0;  // of rescheduling that are over

  Failures failures_;
  Heap outages_;  // nodes, by their next failure or repair
  std::vector<bool> down_;
  std::vector<Outage> planned_;
  std::vector<std::pair<std::size_t, std::pair<double, double>>> down_seconds_;  // pool, from and until
  Replayed out_;
};

}  // namespace tandem::sim
