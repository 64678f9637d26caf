// What every world does alike with decisions: finds the attempt a command is for, refuses commands for
// attempts that are over, and leaves the rest to the world.
//
// A world derives from Dispatching<its attempt> and implements what it does. Same thread as the world.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "control/ports.h"

namespace tandem::control {

template <class Attempted>
class Dispatching : public World {
 public:
  void carry_out(const Decision& decision, const View& view) final {
    std::visit(Visitor{*this, view, decision.id}, decision.body);
  }

 protected:
  // Whether its program keeps checkpoints, and which decision waits for one.
  struct Checkpoints {
    bool kept = false;
    std::optional<DecisionId>& asked;
  };

  virtual Attempted* find(TaskId, Attempt) = 0;  // a live one; null: it is over, or never was
  virtual void start(DecisionId, const Start&, const View&) = 0;
  virtual void resize(DecisionId, Attempted&, const Resize&, const View&) = 0;
  virtual void go_on(Attempted&, const Continue&, const View&) = 0;
  virtual void hold(Attempted&) = 0;
  virtual void stop(Attempted&) = 0;
  virtual Checkpoints checkpoints(Attempted&) = 0;
  virtual void wake_at(Seconds, DecisionId) = 0;
  virtual void retune(DecisionId id, Attempted&, const Retune&) { refuse(id, "GPUs cannot be set here"); }
  // It waits for an answer, and the policies have given its cores away: what it does to end is done beside
  // others.
  virtual void lend_cores(Attempted&) = 0;
  virtual void refuse(DecisionId, const std::string& reason) = 0;

 private:
  struct Visitor {
    Dispatching& world;
    const View& view;
    DecisionId id;

    // Unless the end of the attempt has answered it already.
    void refuse_late() const {
      if (view.open.contains(id)) world.refuse(id, "that attempt is over");
    }
    template <class Command, class Act>
    void with(const Command& command, Act act) const {
      if (Attempted* a = world.find(command.task, command.attempt))
        act(*a);
      else
        refuse_late();
    }

    void operator()(const Start& d) const { world.start(id, d, view); }
    void operator()(const Resize& d) const {
      with(d, [&](Attempted& a) { world.resize(id, a, d, view); });
    }
    void operator()(const Continue& d) const {
      if (Attempted* a = world.find(d.task, d.attempt)) world.go_on(*a, d, view);
    }
    void operator()(const Hold& d) const {
      if (Attempted* a = world.find(d.task, d.attempt)) world.hold(*a);
    }
    void operator()(const Stop& d) const {
      with(d, [&](Attempted& a) {
        // One that reported, was asked for again and is stopped instead: for the view its cores are free.
        if (view.tasks.at(static_cast<std::size_t>(d.task)).cores_held == 0) world.lend_cores(a);
        world.stop(a);
      });
    }
    void operator()(const TakeCheckpoint& d) const {
      with(d, [&](Attempted& a) {
        const Checkpoints of = world.checkpoints(a);
        if (!of.kept)
          world.refuse(id, "the program keeps no checkpoints");
        else if (of.asked)
          world.refuse(id, "a checkpoint is being taken already");
        else
          of.asked = id;
      });
    }
    void operator()(const Retune& d) const {
      with(d, [&](Attempted& a) { world.retune(id, a, d); });
    }
    void operator()(const Wake& d) const { world.wake_at(d.at, id); }
    void operator()(const Request&) const {}
    void operator()(const Release&) const {}
    void operator()(const Learn&) const {}
    void operator()(const FinishJob&) const {}
  };
};

}  // namespace tandem::control
