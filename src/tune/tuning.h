// One tuning job's state: the trials, the searcher and the system tuner. TuneController's insides.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "event/view.h"
#include "search/recorded.h"
#include "spec/tune_job.h"
#include "tune/system_tuner.h"

namespace tandem::tune {

class Tuning {
 public:
  // Throws UserError when the search and the space do not fit.
  Tuning(JobId, const View&);
  // As saved. JSON's exceptions, UserError where it is not of this Tandem.
  explicit Tuning(const nlohmann::json& saved);
  nlohmann::json save() const;

  // Decides: appends to `out`.
  void began(const View&, std::vector<DecisionBody>& out);
  void epoch_ended(const View&, const EpochEnded&, std::vector<DecisionBody>& out);
  void slice_ended(const View&, const SliceEnded&, std::vector<DecisionBody>& out);
  std::string why_missing(const std::string& goal, const EpochEnded&) const;
  void task_failed(const View&, TaskId, std::vector<DecisionBody>& out);
  void task_ended(const View&, TaskId, std::vector<DecisionBody>& out);
  void resumed(const View&, std::vector<DecisionBody>& out);
  void cancelled(const View&, std::vector<DecisionBody>& out);
  void woke(const View&, std::vector<DecisionBody>& out);

  // History: the same events with the decisions they led to.
  void remember(const View&, const Event&, std::span<const Decision>);

 private:
  enum class State { running, held, over };
  struct Trial {
    search::Ask ask;
    TaskId task = 0;
    State state = State::running;
    std::int64_t told = 0;  // epochs the searcher knows of
  };

  void prepare();  // searcher and tuner, of job, node and what is known
  void search_anew();
  void take_up(const View&);  // as it was resumed
  bool came_to_nothing(const View&) const;
  const JobView& job(const View&) const;
  Trial* trial_of(TaskId);
  Values hyper_of(const search::Ask&) const;
  Resources fixed_system(const search::Ask&) const;
  Request request(const View&, const Trial&);
  TaskId next_task(const View&, const std::vector<DecisionBody>& out) const;

  void give_up(const View&, Trial&);
  void note_success(Trial&, std::int64_t epoch, const std::vector<double>& values);
  void go_on(const View&, std::vector<DecisionBody>& out);
  void drop_held(std::vector<DecisionBody>& out);
  int gpu_places(const View&, const std::vector<DecisionBody>& out) const;
  void fill(const View&, std::vector<DecisionBody>& out);
  Joules cost_so_far(const View&) const;
  bool never_began(const View&) const;
  bool end_if_due(const View&, std::vector<DecisionBody>& out);
  void wind_up(const View&, const std::string& why, std::vector<DecisionBody>& out);
  void finish(JobState, std::string reason, std::vector<DecisionBody>& out);
  void arm_budget(const View&, std::vector<DecisionBody>& out) const;
  void account(const EpochEnded&);
  bool anything_alive(const View&) const;

  void remember_epoch(const View&, const EpochEnded&, std::span<const Decision>);
  void remember_end(const View&, TaskId, std::span<const Decision>);
  void remember_request(const Request&);
  void remember_release(const Release&);

  JobId id_;
  spec::TuneJob job_;
  NodeView node_;
  std::unique_ptr<search::Recorded> searcher_;
  std::unique_ptr<SystemTuner> tuner_;  // pipelined only
  std::vector<Trial> trials_;
  std::map<TaskId, std::size_t> by_task_;
  std::vector<KnownWorkload> known_;
  Joules spent_;
  Seconds waits_from_;  // View::worked when it began, in this session
  std::optional<double> best_main_;
  bool any_success_ = false;
  std::string last_failure_;
};

// The space a searcher draws from: what varies, what constraints speak of, and in joint mode the system
// parameters.
spec::Space search_space(const spec::TuneJob&, const NodeView&);

}  // namespace tandem::tune
