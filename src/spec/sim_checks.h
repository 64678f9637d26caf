// What is wrong with a simulation as a whole, which the tables cannot say of one key alone. Pure functions
// over values: the same for what was just read, for ready clusters, and for jobs that a program changed.
#pragma once

#include <string>
#include <vector>

#include "spec/cluster.h"
#include "spec/document.h"

namespace tandem::spec {

struct Problem {
  std::vector<std::string> at;  // {"workloads", "[0]", "workers"}
  std::string message;
  std::vector<std::string> also{};  // keys beside the last one that it depends on
};

// Paths begin inside the cluster or the workload; of a job, outside both.
std::vector<Problem> problems(const Cluster&);
std::vector<Problem> problems(const Workload&);                  // of it alone
std::vector<Problem> problems(const Workload&, const Cluster&);  // of it on this cluster
std::vector<Problem> problems(const SimJob&);                    // all of them

std::string path_text(const std::vector<std::string>& at);  // "workloads[0].workers"

// Adds what has not been reported already: a key that could not be read is not also missing.
void report(const std::vector<Problem>&, const Node& root, Issues&);

}  // namespace tandem::spec
