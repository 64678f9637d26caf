// The world that is a Slurm cluster: each task a job of its own on the node it was granted, or, where tasks
// are short, a step of a longer job there (world_pilots.cpp), with exactly its cores, memory, GPUs and clock.
// Needs nothing of the site but sbatch, squeue, scancel and sinfo: no root, no accounting, no change of
// configuration; and a folder that this machine and all nodes see under the same path.
//
// One thread, no polling of programs: it sleeps in epoll on its agents' connections (wire.h) and Slurm's
// commands, which run beside it (commands.h). squeue is asked every `poll`, and never more than a tenth of
// the time.
//
// What the site decides is waited for: a Start ends when the program begins, and Slurm may let it wait for
// hours. The world keeps its own books of cores and memory and refuses what can never fit beside what it has
// granted.
//
// Resize, Hold and the end of a job's time are moves: a program that keeps checkpoints is stopped after a
// report (or at once, when it is at work: it then repeats that epoch) and goes on from its checkpoint in a
// new job, in the same attempt. One that keeps none is not resized, and keeps its cores while it is held.
//
// A gang is one job with an agent on each of its nodes, all of which join: they are let go together, and the
// job is over for us when each has said that its program ended. Rank 0 speaks; when another ends badly, the
// whole attempt has failed. Gangs are never steps of pilots (world_gangs.cpp).
//
// A token is new for each submission and each start of Tandem, so what a crash left in Slurm's queue cannot
// join: `reconcile` cancels it by its comment, and what turns up later is cancelled when it is seen.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/dispatch.h"
#include "control/ledger.h"
#include "runtime/common/clock.h"
#include "runtime/common/conversation.h"
#include "runtime/common/event_queue.h"
#include "runtime/common/run_folder.h"
#include "runtime/slurm/commands.h"
#include "runtime/slurm/life.h"
#include "runtime/slurm/links.h"
#include "runtime/slurm/submit.h"

namespace tandem::slurm {

// Whether tasks run as steps of one long job a node, the pilot: a step starts in a tenth of the time.
enum class Pilots { never, when_short, always };

struct SlurmOptions {
  std::string run;                         // its id: part of every mark
  std::filesystem::path folder;            // the run's, on a file system all nodes see
  std::string trainer = "tandem-trainer";  // runs built-in models
  std::string agent = "tandem-slurm-agent";
  std::map<std::string, std::string> environment;  // for every program
  Site site;
  Seconds grace{5};  // between asking a program to end and making it
  Seconds poll{2};   // of squeue
  LifeOptions life;
  Pilots pilots = Pilots::when_short;
  Seconds short_task{30};   // when the last three ended sooner, pilots are worth it
  Seconds pilot_idle{60};   // so long a pilot without tasks is kept
  Seconds nodes_every{30};  // sinfo is asked: nodes come, go and change
  // Where agents find this machine; empty: its addresses, or the loopback when that is all the cluster is.
  std::vector<std::string> addresses;
};

// Why a job is ended that shall go on in another one.
enum class Move { none, parked, resized, renewed };
// A process of a gang that is not rank 0, in the present submission.
struct Follower {
  bool joined = false;
  std::optional<Seconds> over_at;  // steady; by then nothing of it is left
};
struct Attempted {
  TaskId task = 0;
  Attempt number = 1;
  std::vector<NodeId> nodes;        // by rank; more than one: a gang
  std::vector<Follower> followers;  // the other ranks
  std::optional<Join> join;         // of rank 0, until all are there
  std::optional<ExitRecord> exit;   // of rank 0, until all have ended
  bool let_go = false;              // its programs have begun
  control::Holding holds;
  DecisionId start_decision = 0;
  bool started = false;  // TaskStarted was said
  spec::TrainJob job;
  runtime::Conversation talk;
  int submission = 0;
  std::optional<Life> life;    // none: nothing is submitted
  Resources asked;             // of Slurm, for this submission
  bool in_pilot = false;       // a step, not a job
  bool step_sent = false;      // its pilot was told to start it
  Seconds began;               // steady, of its program
  bool submit_unsure = false;  // Slurm did not answer; once that is settled, submit again
  Move move = Move::none;
  std::optional<DecisionId> resize;  // without outcome yet
  control::Holding before_resize;
  bool told_to_stop = false;
  bool interrupted = false;  // by our signal, not by an answer
  std::optional<std::pair<Failure, std::string>> verdict;  // why we ended it ourselves
  std::optional<Seconds> kill_at, cancel_at;               // steady
  Seconds next_cancel;
  std::int64_t epoch_at_submit = 0;
  std::uintmax_t output_from = 0;
  std::optional<double> drew;                    // J in this job, as Slurm measured it
  double drew_counted = 0;                       // of it, what an epoch or an end was said to have taken
  NodeId node() const { return nodes.front(); }  // rank 0's
  bool gang() const { return nodes.size() > 1; }
  const Resources& granted() const { return holds.granted; }  // on each node
};

// Of any Slurm cluster; GPUs are the site's, and so is whether energy is measured. A job starts within
// seconds where nobody is before it.
inline constexpr control::Capabilities kSlurmCapabilities{
    .output = true, .energy = true, .gpus = true, .gang_gpus = true, .latency = Seconds{2}};

// What an attempt comes to whose job has ended so, and which was not told to stop.
runtime::Judgement judge(const Ended&, const runtime::Conversation&);

class SlurmWorld final : public control::Dispatching<Attempted> {
 public:
  explicit SlurmWorld(SlurmOptions);  // UserError for names that cannot be given to Slurm
  SlurmWorld(const SlurmWorld&) = delete;
  ~SlurmWorld() override;  // ends everything it started

  control::Capabilities capabilities() const override;
  Seconds now() override;
  std::vector<NodeJoined> nodes() override;
  std::vector<Event> wait(Seconds at_most) override;
  std::vector<Event> reconcile(const View&) override;
  void out_of_space() override;

  // Makes a waiting `wait` return; safe in a signal handler and from other threads.
  void interrupt();

 private:
  struct Node {
    std::string name, type;
    Resources capacity;
    Seconds pilots_from{};  // steady; later when one could not be started
    std::string address{};
  };
  struct Pilot {
    int number = 1;  // of its node
    Life life;
    Resources size, free;  // of its job; what is not given to steps
    bool retired = false;  // takes no new tasks
    bool ending = false;
    Seconds idle_from, next_cancel{};
  };
  // decisions (world.cpp)
  Attempted* find(TaskId, Attempt) override;
  void start(DecisionId, const Start&, const View&) override;
  void resize(DecisionId, Attempted&, const Resize&, const View&) override;
  void go_on(Attempted&, const Continue&, const View&) override;
  void hold(Attempted&) override;
  // Slurm keeps them until its job ends; who needs them waits in Slurm's queue.
  void lend_cores(Attempted& a) override { ledger_.lend_cores(a.holds); }
  void stop(Attempted&) override;
  Checkpoints checkpoints(Attempted& a) override {
    return {a.talk.keeps_checkpoints, a.talk.checkpoint_asked};
  }
  void wake_at(Seconds at, DecisionId id) override { events_.wake_at(at, id); }
  void refuse(DecisionId, const std::string& reason) override;
  void leave(Attempted&);
  // what agents say, and how it ends (world_ends.cpp)
  void heard(const std::string& mark, const FromAgent&);
  void left(const std::string& mark);
  void joined(Attempted&, const Join&);
  void said(Attempted&, const std::string& line);
  std::optional<Energy> energy_since_last(Attempted&);
  void tell(Attempted&, const std::string& line);
  void make_fail(Attempted&, Failure, const std::string& why);
  void settle();
  void over(Attempted&);
  void back_to_former_size(Attempted&, const std::string& why);
  void fail(Attempted&, Failure, const std::string& detail);
  void finish(TaskId, EventBody last);
  bool look(Seconds at_most);
  void check_deadlines();
  void end_for_space();
  Seconds until_next(Seconds at_most);
  // gangs (world_gangs.cpp)
  std::vector<std::string> marks_of(const Attempted&) const;  // of its agents, by rank
  void make_gang_ticket(const Attempted&, Ticket&);
  bool signal(Attempted&, int number);  // all of it; false: rank 0 cannot be reached
  void forget(const Attempted&);
  void heard_follower(Attempted&, std::size_t rank, const FromAgent&);
  void follower_exited(Attempted&, std::size_t rank, const ExitRecord&);
  void follower_left(Attempted&, std::size_t rank);
  bool waits_for_followers(const Attempted&) const;
  void rank_0_exited(Attempted&, const ExitRecord&);
  void begin_together(Attempted&);
  void look_after_gangs();
  // nodes (world_nodes.cpp)
  std::vector<NodeJoined> learn_nodes(const SlurmNodes&);  // those that changed
  void ask_nodes();
  // jobs (world_jobs.cpp)
  void submit(Attempted&);
  void submit_job(Attempted&);
  Submission submission_for(const Attempted&) const;
  Ticket blank_ticket(const Mark&);
  Ticket ticket_for(const Attempted&);
  void told(Life&, const CommandResult& of_sbatch);
  void submitted(const Mark&, const CommandResult&);
  void ask_queue();
  void heard_queue(const Queue&, Seconds asked);
  void cancel_jobs();
  void look_for_records();
  void end_orphans();
  bool ended_well(const View&, const TaskView&) const;

  // pilots (world_pilots.cpp)
  Mark mark_of_pilot(NodeId, int number) const;
  Resources asked_for(const Attempted&) const;
  Resources room_outside(const Attempted& but, NodeId) const;
  void make_room_for_gang(const Attempted&);
  Pilot* pilot_for(const Attempted&);
  Pilot* start_pilot(NodeId, const Resources& size);
  void join_pilot(Attempted&, Pilot&);
  void run_step(Attempted&, Pilot&);
  void leave_pilot(Attempted&, bool recorded);
  void heard_pilot(const Mark&, const FromAgent&);
  void step_is_over(Attempted&, JobPhase, const std::string& why);
  void pilot_left(const Mark&);
  void look_after_pilots();
  bool look_after_steps(NodeId, const Pilot&);
  void pilot_over(NodeId);

  Attempted* find(const std::string& mark);
  Mark mark_of(const Attempted& a) const { return {options_.run, a.task, a.number, a.submission}; }
  std::filesystem::path task_folder(TaskId) const;
  std::filesystem::path job_file(const Mark&, const char* what) const;
  std::filesystem::path output_file(TaskId) const;
  void happened(EventBody);
  void note(TaskId, const std::string& line);

  SlurmOptions options_;
  Commands commands_;
  std::unique_ptr<Links> links_;
  platform::Descriptor wake_;
  std::vector<std::string> reachable_at_;
  control::Ledger ledger_;
  std::vector<Node> nodes_;
  std::map<TaskId, std::unique_ptr<Attempted>> attempts_;  // the live ones
  std::map<NodeId, Pilot> pilots_;
  int short_in_a_row_ = 0;          // tasks
  std::set<std::string> done_;      // marks whose record we have: Slurm may list them a little longer
  std::set<SlurmJobId> to_cancel_;  // of attempts that are over, and orphans
  bool queue_asked_ = false, nodes_asked_ = false;
  Seconds next_queue_, next_nodes_;
  runtime::WorldClock clock_;
  runtime::EventQueue events_;
  std::optional<runtime::RunFolder> space_;
  bool held_ = false;  // for want of space nothing is started
};

}  // namespace tandem::slurm
