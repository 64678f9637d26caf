// DiAS: jobs as bags of tasks, and what dropping some of the tasks does to them.
//
// A job runs stage after stage, alone on all slots: a set-up (overhead, shuffle), then its tasks, as many at
// a time as there are slots. Dropping a share θ of a stage's n tasks leaves ⌈n (1 - θ)⌉; which ones are
// dropped is drawn at random. Map and reduce are two stages, a graph algorithm several, a training job one
// stage a step whose tasks are micro-batches and whose set-up is the exchange of gradients.
//
// How long a job holds the slots is phase-type, in two levels of detail:
//   task level  the paper's equation 4.1: tasks of exponential length end one by one at min(left, slots) /
//   mean; wave level  the paper's section 4.3.2 is missing from the text we have; ours: a stage is ⌈n̄ /
//   slots⌉ waves in
//               a row, alike and independent, fitted so that they sum up to the mean and the variance of the
//               slowest slot (each slot runs its waves one after the other, and the last wave goes to the
//               slots that are free first). For tasks of any Erlang shape.
// Plain values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stats/queues/phase_type.h"

namespace tandem::place {

struct TaskCount {
  int tasks = 1;
  double probability = 1;
};

struct DiasStage {
  std::vector<TaskCount> counts{{}};  // how many tasks a job has here, before dropping
  double setup = 0;                   // s, mean of an exponential time before the tasks; 0: none
  double task = 1;                    // s, mean length of a task
  int shape = 1;                      // Erlang shape of a task's length: 1 exponential, higher steadier
  bool droppable = true;
  double drop = 0;  // θ, in [0, 1)
};

struct DiasJob {
  std::vector<DiasStage> stages{};
};

// UserError where no job can be like that; `where` is for the message.
void check(const DiasJob&, const std::string& where);

// The job with this share dropped from each droppable stage.
DiasJob with_drop(DiasJob, double drop);
// The job with everything taking `by` times as long.
DiasJob longer(DiasJob, double by);
// Steps of micro-batches, of which a share may be dropped, and an exchange of gradients after each.
DiasJob training_job(int steps, int micro_batches, double seconds_each, double exchange, int shape);

// ⌈n (1 - θ)⌉.
int tasks_left(int tasks, double drop);
// The dropper: which of n tasks are run, in order. The same seed picks the same ones.
std::vector<int> kept_tasks(int tasks, double drop, std::uint64_t seed);
// The share of a job's tasks that is not run.
double effective_drop(const DiasJob&);

stats::PhaseType task_level(const DiasJob&, int slots);  // UserError unless every shape is 1
stats::PhaseType wave_level(const DiasJob&, int slots);
// The task level where it is exact, the wave level elsewhere.
stats::PhaseType processing_time(const DiasJob&, int slots);

}  // namespace tandem::place
