// bench/long_server, the journal: appends to a server's what a long life leaves, jobs that ended and jobs
// that wait.
//
//   long_server_bench STORE SERVER ENDED WAITING DAYS
//
// The jobs that ended did so over the last DAYS days, each after two epochs on a node of the server's. bench/
// long_server/run makes the server first, so that its nodes have joined, and measures it afterwards.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "control/loop.h"
#include "store/store.h"

using namespace tandem;

namespace {

constexpr std::size_t kBatch = 2000;

Seconds wall() {
  return {std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

class Writer {
 public:
  explicit Writer(control::Journal& journal) : journal_(journal) {
    journal_.replay([&](control::Entry&& entry) {
      decider_.fold(entry);
      next_ = entry.number + 1;
    });
    decision_ = decider_.view().next_decision;
    jobs_ = static_cast<JobId>(decider_.view().jobs.size());
    tasks_ = static_cast<TaskId>(decider_.view().tasks.size());
  }
  ~Writer() { flush(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void ended(Seconds at) {
    const JobId job = jobs_++;
    const TaskId task = tasks_++;
    const auto spec = spec_of(job);
    const auto node = static_cast<NodeId>(static_cast<std::size_t>(job) % decider_.view().nodes.size());
    PlacementReason why;
    for (int i = 0; i < 3; ++i) why.best.push_back({node, true, 0.9 - i, 0.5, 20, 300, 0.1, 0, ""});
    why.chosen = node, why.possible = 32, why.waiting = 7, why.energy_weight = 0.5;
    add(at, JobSubmitted{job, spec},
        {Request{task, job, spec.system}, Start{task, 1, node, spec.system, 0, {}, why}});
    add(at, TaskStarted{task, 1, decision_ - 1, 1, 1, {0}}, {});
    for (std::int64_t epoch = 1; epoch <= 2; ++epoch)
      add(at + Seconds{10.0 * static_cast<double>(epoch)},
          EpochEnded{task,
                     1,
                     epoch,
                     {{"accuracy", 0.9}, {"loss", 0.1}},
                     Seconds{10},
                     Energy{Joules{150}, "model"},
                     {}},
          {Continue{task, 1, epoch}});
    add(at + Seconds{20}, TaskEnded{task, 1, Energy{Joules{1}, "model"}},
        {FinishJob{job, JobState::finished, "all epochs are done"}});
  }

  void waits(Seconds at) {
    const JobId job = jobs_++;
    const auto spec = spec_of(job);
    add(at, JobSubmitted{job, spec}, {Request{tasks_++, job, spec.system}});
  }

 private:
  static spec::TrainJob spec_of(JobId job) {
    spec::TrainJob out;
    out.name = fmt::format("lenet5-digits-{}", job);
    out.program.command = {"python3", "train.py", "--data", "/data/digits", "--seed", std::to_string(job)};
    out.program.folder = "/home/somebody/projects/digits";
    out.epochs = 2;
    out.hyper = {{"batch_size", std::int64_t{64}}, {"learning_rate", 0.01}};
    out.place.family = fmt::format("lenet-{}", job % 20);
    out.place.seconds = Seconds{20};
    return out;
  }

  void add(Seconds at, EventBody body, std::vector<DecisionBody> bodies) {
    control::Entry entry{next_++, {at, std::move(body)}, {}};
    for (auto& decision : bodies) entry.decisions.push_back({decision_++, std::move(decision)});
    entries_.push_back(std::move(entry));
    if (entries_.size() >= kBatch) flush();
  }
  void flush() {
    if (!entries_.empty()) journal_.append(entries_);
    entries_.clear();
  }

  control::Journal& journal_;
  control::Decider decider_{{}};
  std::int64_t next_ = 1;
  DecisionId decision_ = 1;
  JobId jobs_ = 0;
  TaskId tasks_ = 0;
  std::vector<control::Entry> entries_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) {
    fmt::print(stderr, "long_server_bench STORE SERVER ENDED WAITING DAYS\n");
    return 2;
  }
  store::Store store(arguments[1]);
  const int ended = std::atoi(arguments[3]), waiting = std::atoi(arguments[4]);
  const double days = std::atof(arguments[5]);
  for (const auto& run : store.runs()) {
    if (run.kind != "serve" || run.name != arguments[2]) continue;
    const auto journal = store.journal(run.id);
    Writer writer(*journal);
    const Seconds now = wall();
    for (int i = 0; i < ended; ++i) writer.ended(now - Seconds{days * 86400 * (1 - i / (ended + 1.0)) + 60});
    for (int i = 0; i < waiting; ++i) writer.waits(now - Seconds{30});
    return 0;
  }
  fmt::print(stderr, "there is no server '{}' there\n", arguments[2]);
  return 1;
}
