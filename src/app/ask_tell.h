// Ask and tell: a tuning job whose trials are tried by whoever asks, not by a world. Journalled as any other
// run, decided by the same policies, so that results, pages, `show --verify` and going on work.
//
// The cores of its one node are places for trials that are out: asking adds a place, so that a trial is chosen
// when somebody wants it and not before; telling takes it away again. Each line is answered after what it led
// to is journalled. What was asked for and never told is given again when the study goes on. One thread.
//
//   {"ask": true}                                          {"trial": 3, "attempt": 1, "hyper": {…}, "epochs": 1,
//                                                           "seed": 1, "folder": "…"}, or {"over": "why"}
//   {"report": 3, "attempt": 1, "metrics": {"loss": 0.2}}  {"stop": false}: one epoch of several
//   {"tell": 3, "attempt": 1, "metrics": {"loss": 0.1}}    {"told": true}; false: nobody waits for it any more
//   {"tell": 3, "attempt": 1, "failed": "why"}             the same; without either it ends with what it reported
//   {"result": true}                                       as `tandem show RUN --json -`
// What cannot be answered gives {"error": "why"}, and changes nothing.
#pragma once

#include <deque>
#include <iosfwd>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/job_view.h"
#include "control/loop.h"
#include "store/store.h"

namespace tandem::app {

inline constexpr const char* kAskedWorld = "asked";  // in a run's spec: RunWorld::world

// The job as one that is asked and told. UserError for what needs a world of its own.
spec::TuneJob as_asked(spec::TuneJob);

class AskTell {
 public:
  // Goes on where the journal ends; submits `job` where it is empty.
  AskTell(const spec::TuneJob& job, control::Journal&, TaskFolders, Seconds now);

  nlohmann::json answer(const nlohmann::json& line, Seconds now);
  // Nobody will ask any more: the job stops, if it is not over.
  void close(Seconds now);
  const View& view() const { return decider_.view(); }

 private:
  struct Out {  // a trial that somebody tries
    Attempt attempt = 1;
    std::int64_t epoch = 0;  // the last one reported in this attempt
    Seconds since{};
    bool given = false;
    std::optional<bool> go_on{};  // the answer to its last report; none: it shall wait
  };

  nlohmann::json ask(Seconds now);
  nlohmann::json report(TaskId, const nlohmann::json& line, Seconds now);
  nlohmann::json tell(TaskId, const nlohmann::json& line, Seconds now);
  Out* find(TaskId, const nlohmann::json& line);
  void epoch_ended(TaskId, const nlohmann::json& metrics, Seconds now);
  void ends(TaskId, EventBody how, Seconds now);
  void happens(std::deque<EventBody> events, Seconds now);
  void carry_out(const Decision&, std::deque<EventBody>& next, Seconds now);
  NodeJoined node() const;
  const JobView& job() const { return view().jobs.front(); }

  control::Decider decider_;
  control::Journal& journal_;
  TaskFolders folders_;
  int places_ = 0;
  std::map<TaskId, Out> out_;
  std::vector<std::pair<Seconds, DecisionId>> wakes_;
};

// A new study (what is written in `spec`), or one that goes on (`resumed`), over lines of JSON until there are no
// more. The first line it writes says which run it is and what is told by one number: {"run": …, "goal": …}.
void serve_questions(store::Store&, const std::string& spec, const std::string& resumed, std::istream&,
                     std::ostream&);

}  // namespace tandem::app
