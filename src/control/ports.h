// What the control loop needs of the outside: a World to act in, a Journal to remember with, a Sensor to
// measure with, and an Observer to show progress to. L4 implements them; nothing in here knows how.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "event/decision.h"
#include "event/event.h"
#include "event/view.h"

namespace tandem::control {

// What a world can do, for those who set one up and speak of it: a server, the command line. Policies never
// see it; what they need is in the nodes' capacities, in events and in refusals. tests/contract holds every
// world to what it says.
struct Capabilities {
  bool here = false;             // its programs run on this machine: who uses it takes the machine's lock
  bool output = false;           // what programs print is kept
  bool energy = false;           // joules can come with events, from the world itself or by a Sensor
  bool load = false;             // it says what others use of nodes (NodeObserved)
  bool resizes_at_work = false;  // any program; others go on from their checkpoint, or are not resized
  bool gpus = false;             // some node has GPUs to hand out
  bool gang_gpus = false;        // to tasks of several processes, too
  bool sets_gpus = false;        // their power and clocks
  Seconds latency{};             // between a Start and its program, about, where nobody is before it
  bool operator==(const Capabilities&) const = default;
};

// Carries decisions out and reports what happened. Owns time: `now` and waiting. One thread uses it.
//
// Contract (tests/contract): every Start, Resize, Stop, TakeCheckpoint and Wake ends in exactly one outcome
// event; commands are idempotent by (task, attempt); a report is answered only after `carry_out` was given
// its Continue or Stop; resources granted never exceed the node's.
class World {
 public:
  virtual ~World() = default;
  virtual Capabilities capabilities() const = 0;  // with the nodes it has
  virtual Seconds now() = 0;
  // The nodes there are; called once, first.
  virtual std::vector<NodeJoined> nodes() = 0;
  virtual void carry_out(const Decision&, const View&) = 0;
  // Blocks until something happened or `at_most` passed; all that happened, in order. May be empty.
  virtual std::vector<Event> wait(Seconds at_most) = 0;
  // The journal cannot be written, for want of space: all programs that write to its disk are ended before
  // this returns, and none is started until there is space again.
  virtual void out_of_space() {}
  // After a crash: ends what is left of the attempts the view believes to be running, and says what became of
  // them.
  virtual std::vector<Event> reconcile(const View&) = 0;
};

// One step of the loop: an event and all the decisions it led to. Journalled whole or not at all.
struct Entry {
  std::int64_t number = 0;  // from 1, without gaps
  Event event;
  std::vector<Decision> decisions;
  bool operator==(const Entry&) const = default;
};

class Journal {
 public:
  virtual ~Journal() = default;
  // Durable when it returns; throws SystemError (ENOSPC: the disk is full) and leaves nothing behind when it
  // cannot be.
  virtual void append(std::span<const Entry>) = 0;
  // Frees what was put aside for a full disk, once; false: nothing is left.
  virtual bool use_reserve() { return false; }
  virtual void replay(const std::function<void(Entry&&)>&) = 0;
  // Those from this number on.
  virtual void replay_from(std::int64_t number, const std::function<void(Entry&&)>& each) {
    replay([&](Entry&& entry) {
      if (entry.number >= number) each(std::move(entry));
    });
  }
};

// What a sensor knows of one task since it was last asked.
struct Reading {
  std::optional<Energy> energy;
  Profile profile;
  std::optional<Joules> startup_energy{};  // of `energy`, what was used before `started_up`
};

// Measures tasks. One thread uses it. `attach` comes before the program's first instruction (it waits at a
// gate).
class Sensor {
 public:
  virtual ~Sensor() = default;
  virtual void attach(TaskId, std::int64_t pid) = 0;
  // The GPUs the task has now, by UUID or by NVML's number ("0"): after attach, and whenever they change.
  // Each GPU's energy is split evenly among the tasks on it at that moment. Not called: it has none.
  virtual void uses_gpus(TaskId, const std::vector<std::string>& /*gpus*/) {}
  virtual void sample() = 0;         // called about once a second
  virtual Reading read(TaskId) = 0;  // since attach or the last read
  // The profile begins anew here: the task was starting up, or waiting, until now. Its energy goes on.
  virtual void restart_profile(TaskId) {}
  // It was starting up until now: the profile begins anew, and what was used is told apart.
  virtual void started_up(TaskId task) { restart_profile(task); }
  virtual void detach(TaskId) = 0;
};

// Is told after each step has become durable. Must not throw.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void saw(const View&, const Entry&) = 0;
  virtual void tick(const View&) {}  // about ten times a second while waiting, for clocks and spinners
};

}  // namespace tandem::control
