// Zeus' traces (NSDI'23) as recurring jobs: runs that trained to a target with each batch size, and what an
// epoch took and drew on a GPU under each power limit.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "tune/recurring_job.h"

namespace tandem::bench {

struct Workload {
  std::string name, gpu;
  tune::RecurringJob job;
  double target = 0;
  bool target_of_authors = true;                     // else by the rule in traces.cpp
  std::map<std::int64_t, std::vector<double>> runs;  // epochs to the target, by batch; infinite: never
  struct Epoch {
    double seconds = 0, joules = 0;
  };
  std::map<std::pair<std::int64_t, double>, Epoch> epochs;  // by batch and limit

  double cost(const Epoch&) const;
};

// Every (dataset, network, optimizer) × GPU that has both epochs and power; empty: no traces in DATA/zeus.
std::vector<Workload> read_workloads(const std::string& data, double energy_weight);

// The world: one attempt at one batch size. It reaches the target after as many epochs as a measured run did.
class Attempt {
 public:
  Attempt(const Workload& workload, std::int64_t batch, double needed)
      : workload_(workload), batch_(batch), needed_(needed) {}

  // Up to so many epochs under this limit, less where the target or the cap comes first.
  tune::EpochSlice run(double limit, double epochs);
  bool reached() const { return done_ >= needed_ - 1e-9; }
  bool over() const { return reached() || done_ >= static_cast<double>(workload_.job.most_epochs) - 1e-9; }
  const Workload& workload() const { return workload_; }
  std::int64_t batch() const { return batch_; }
  double epochs() const { return done_; }
  Workload::Epoch spent() const { return spent_; }
  double cost() const { return workload_.cost(spent_); }

 private:
  const Workload& workload_;
  std::int64_t batch_;
  double needed_, done_ = 0;
  Workload::Epoch spent_;
};

// The same job on a machine that takes a quarter longer, with data that large batches suit better: epochs to
// the target are multiplied by the fourth root of default / batch.
Workload changed(Workload);

// What a job that always runs so is expected to take until it has reached its target, failed tries included;
// infinite where it never does.
Workload::Epoch expected(const Workload&, std::int64_t batch, double limit);

}  // namespace tandem::bench
