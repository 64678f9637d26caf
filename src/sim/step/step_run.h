// Carries plans out on an engine, one after the other, and says what they took.
//
// Collectives and computing get in each other's way: while both go on, both run at 1 / (1 + interference) of
// their speed. A collective that would take c beside computing that would take w thus ends, with it, after
// max(w, c) + interference · min(w, c), which is what measurements say (docs/validation-study.md). A ring is
// as slow as its slowest member, so it is slowed as long as any device of it computes. Other copies are the
// work of copy engines and slow nothing.
//
// The engine must have nothing else to do. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/step/step_plan.h"

namespace tandem::sim {

struct Traffic {
  double sent = 0, received = 0;  // bytes
  double busy = 0;                // s in which something was under way
};

// Of one plan or of many. Vectors: of each device of the cluster, s.
struct StepResult {
  double seconds = 0;             // until everything was done
  double trained = 0;             // until the training was
  std::vector<double> busy{};     // it computed
  std::vector<double> work{};     // the same, as if nothing had slowed it
  std::vector<double> memory{};   // of the work, what the memory bound added
  std::vector<double> starved{};  // it waited for samples: fed, or begun later than it could have
  std::array<Traffic, kLinkClasses> traffic{};
  std::vector<double> carried{};  // bytes, of each link
  std::int64_t operations = 0;    // passes of the model
  void add(const StepResult&, std::int64_t times);
};

// What a task did when, for timelines.
struct Span {
  Purpose purpose = Purpose::join;
  DeviceId device = 0, peer = 0;
  std::uint32_t operation = 0, operations = 0;
  double from = 0, to = 0;  // time of the engine
};

class StepRunner {
 public:
  StepRunner(Engine& engine, Devices& devices, double interference);
  StepResult run(const Plan&);
  // From now on; nullptr: no more.
  void record(std::vector<Span>* timeline) { timeline_ = timeline; }

 private:
  struct Ready {
    std::uint64_t order = 0;
    TaskIndex task = 0;
    bool operator<(const Ready& other) const {  // for a heap with the lowest first
      return order > other.order || (order == other.order && task > other.task);
    }
  };
  struct Processor {
    bool busy = false;
    std::vector<Ready> ready{};  // a heap
  };

  void prepare(const Plan&);
  void arrive(TaskIndex);
  void start_transfer(TaskIndex, const Path&);
  void finish(TaskIndex);
  void count(TaskIndex);
  void drain();
  void dispatch();
  void interfere();
  const Path* path_of(const Task&);

  Engine& engine_;
  Devices& devices_;
  double interference_;
  std::vector<Span>* timeline_ = nullptr;

  const Plan* plan_ = nullptr;
  StepResult result_;
  double begun_ = 0;
  std::size_t left_ = 0;
  std::vector<std::uint32_t> waits_;       // of each task: tasks it still waits for
  std::vector<std::uint32_t> first_next_;  // of each task: where its successors begin in next_
  std::vector<TaskIndex> next_;
  std::vector<double> started_, ended_;  // of each task
  std::vector<TaskIndex> finished_;      // their successors do not know yet
  std::vector<Processor> processors_;    // of each device
  std::vector<DeviceId> touched_;        // may be able to start something
  std::vector<DeviceId> members_;        // of collectives
  std::vector<LinkId> slowed_links_;     // that collectives cross
  std::size_t computing_ = 0, reducing_ = 0;
  std::array<std::size_t, kLinkClasses> crossing_{};  // transfers under way, by LinkClass
  std::array<double, kLinkClasses> crossed_since_{};
  bool slowed_ = false;
};

}  // namespace tandem::sim
