// What strategies are put together from. Private to the strategies.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/step/strategy.h"

namespace tandem::sim {

// Gradients that travel together: ready when the backward pass of the last operation is done.
struct Bucket {
  std::uint32_t owner = 0;
  double bytes = 0;
  std::vector<std::uint32_t> operations{};  // in the order of their backward passes
};
// In the order in which they become ready, each with at least `least` bytes while there are that many.
// `owner` of each operation: a bucket has one; empty: all have owner 0.
std::vector<Bucket> make_buckets(const Setting&, double least, const std::vector<std::uint32_t>& owner = {});

// Samples that come from storage pass the feed, if there is one, before a worker can begin. Returns what the
// worker has to wait for: the feed, or `earlier` where there is none.
TaskIndex add_feed(Plan&, const Setting&, const Step&, std::size_t worker, TaskIndex earlier);
// kNoTask when there is nothing to read.
TaskIndex add_read(Plan&, const Setting&, std::size_t worker, std::int64_t samples, TaskIndex earlier);
void add_reads(Plan&, const Setting&, const std::vector<std::int64_t>& samples);

// What computing has to wait for.
struct Before {
  TaskIndex begin = kNoTask;           // everything
  std::vector<std::uint32_t> owner{};  // of each operation: who sends its parameters
  std::vector<TaskIndex> pulled{};     // of each owner: they are here; empty: they always are
};
// Computing of one worker.
struct Work {
  std::vector<TaskIndex> ready{};  // of each bucket; without overlap: the end of it all
  TaskIndex last = kNoTask;
};
// All passes of a worker, one after the other.
Work add_work(Plan&, const Setting&, const Step&, std::size_t worker, const std::vector<Bucket>&,
              const Before&);
// The same for all workers, with their feeds.
std::vector<Work> add_all_work(Plan&, const Setting&, const Step&, const std::vector<Bucket>&);

std::vector<TaskIndex> ends_of(const std::vector<Work>&);
double slowness(const Step&, std::size_t worker);
double clock_share(const Setting&, const DeviceSlot&);  // servers on processors run at full clock

Plan plan_alone(const Setting&, const Step&);
Plan plan_parameter_server(const Setting&, const Step&);
Plan plan_distributed_replicated(const Setting&, const Step&);
Plan plan_replicated(const Setting&, const Step&);
Plan plan_all_reduce(const Setting&, const Step&);
Plan plan_hierarchical(const Setting&, const Step&);
Plan plan_model(const Setting&, const Step&);
Plan plan_pipeline(const Setting&, const Step&);

}  // namespace tandem::sim
