// A world in small for the tests of schedules: trials run in its slots, report, fail, and are stopped.
//
// Everything it does is written down twice: as calls, which can be folded into another searcher, and as
// text, which tests compare. What no schedule may ever do is an EXPECT here, so that every test checks it.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "search/composed.h"
#include "search/space_testing.h"

namespace tandem::search {

using LossOf = std::function<Losses(TrialId, std::int64_t epoch)>;

// Losses by trial, the same at every epoch.
inline LossOf losses(std::vector<double> by_trial) {
  return [by_trial](TrialId trial, std::int64_t) {
    return Losses{by_trial.at(static_cast<std::size_t>(trial))};
  };
}

// Points x = trial, up to `most` of them; counts what it is told.
class FakeSampler final : public Sampler {
 public:
  explicit FakeSampler(std::int64_t most = 1'000'000) : most_(most) {}
  std::optional<Values> sample(TrialId trial, Random&) override {
    if (trial >= most_) return std::nullopt;
    return Values{{"x", static_cast<double>(trial)}};
  }
  void began(TrialId trial, const Values&) override { began_trials.push_back(trial); }
  void observe(TrialId, std::int64_t, const Losses&) override { ++observed; }
  void failed(TrialId trial) override { failed_trials.push_back(trial); }

  std::vector<TrialId> began_trials, failed_trials;
  int observed = 0;

 private:
  std::int64_t most_;
};

inline spec::Space line() {
  return space_of({{"x", real(0, 1e9)}});
}

template <class Of, class... Arguments>
std::unique_ptr<Searcher> with_fake_sampler(Arguments&&... arguments) {
  return compose(std::make_unique<Of>(std::forward<Arguments>(arguments)...), std::make_unique<FakeSampler>(),
                 line(), 1, 1);
}

struct Call {
  enum class Kind { asked, told, left };
  Kind kind = Kind::asked;
  Ask ask;  // asked
  TrialId trial = 0;
  std::int64_t epoch = 0;
  Losses losses;
  Verdict verdict = Verdict::go_on;
};

inline void fold(const Call& call, Searcher& into) {
  if (call.kind == Call::Kind::asked) into.asked(call.ask);
  if (call.kind == Call::Kind::told) into.told(call.trial, call.epoch, call.losses, call.verdict);
  if (call.kind == Call::Kind::left) into.left(call.trial);
}

class World {
 public:
  enum class State { running, held, stopped, dropped, left };
  struct Trial {
    State state = State::running;
    std::int64_t epoch = 0, until = 0, bracket = 0, rung = 0;
    Values point;
    Losses last;
  };

  World(std::size_t slots, LossOf loss, double failing = 0, std::uint64_t seed = 1)
      : slots_(slots), loss_(std::move(loss)), failing_(failing), random_(seed, 99) {}

  // Fills the slots as far as the searcher has work.
  void fill(Searcher& searcher) {
    while (running_.size() < slots_) {
      const auto ask = searcher.ask();
      if (!ask) return;
      note(Call::Kind::asked, ask->trial).ask = *ask;
      begin(*ask);
    }
  }

  // One trial, the one at `index` of those that run, ends an epoch or fails.
  void advance(Searcher& searcher, std::size_t index, bool fails) {
    const TrialId id = running_.at(index);
    if (fails) return leave(searcher, id);
    Trial& trial = trials.at(static_cast<std::size_t>(id));
    ++trial.epoch;
    ++epochs;
    trial.last = loss_(id, trial.epoch);
    const Verdict verdict = judge(searcher, id);
    Call& call = note(Call::Kind::told, id);
    call.epoch = trial.epoch;
    call.losses = trial.last;
    call.verdict = verdict;
    if (verdict == Verdict::go_on) {
      EXPECT_LT(trial.epoch, trial.until) << "trial " << id << " runs past what it was asked for";
    } else {
      finish(index, verdict == Verdict::hold ? State::held : State::stopped);
      say("{} {}", arrow(id), verdict == Verdict::hold ? "hold" : "stop");
    }
    take_dropped(searcher);
  }

  void leave(Searcher& searcher, TrialId id) {
    searcher.left(id);
    note(Call::Kind::left, id);
    const auto running = std::find(running_.begin(), running_.end(), id);
    if (running != running_.end()) running_.erase(running);
    trials.at(static_cast<std::size_t>(id)).state = State::left;
    say("{} left", arrow(id));
    take_dropped(searcher);
  }

  // One step under chance: who comes next, who fails, now and then a held one. False when all is over.
  bool step(Searcher& searcher) {
    fill(searcher);
    const auto held = in_state(State::held);
    if (running_.empty()) {
      EXPECT_TRUE(searcher.finished()) << "nothing to run, and not finished: a deadlock";
      return false;
    }
    EXPECT_FALSE(searcher.finished());
    if (!held.empty() && random_.uniform() < failing_ / 10)
      leave(searcher, held.at(random_.below(held.size())));
    else
      advance(searcher, random_.below(running_.size()), random_.uniform() < failing_);
    return true;
  }

  void run(Searcher& searcher, int most_steps = 1'000'000) {
    while (most_steps-- > 0 && step(searcher)) {
    }
    EXPECT_GE(most_steps, 0) << "does not end";
  }

  // One after the other, in order: for traces worked by hand.
  void run_in_order(Searcher& searcher) {
    for (fill(searcher); !running_.empty(); fill(searcher)) advance(searcher, 0, false);
    EXPECT_TRUE(searcher.finished());
  }

  std::vector<TrialId> in_state(State state) const {
    std::vector<TrialId> out;
    for (std::size_t i = 0; i < trials.size(); ++i)
      if (trials[i].state == state) out.push_back(static_cast<TrialId>(i));
    return out;
  }
  const std::vector<TrialId>& running() const { return running_; }

  std::vector<Trial> trials;
  std::vector<Call> calls;
  std::vector<std::string> log;  // "b0r0 #3 >1 hold": bracket, rung, trial, until, verdict
  std::int64_t epochs = 0;
  double contrary = 0;  // how often a verdict is one of history, and not the searcher's own

 private:
  Call& note(Call::Kind kind, TrialId id) {
    Call& call = calls.emplace_back();
    call.kind = kind;
    call.trial = id;
    return call;
  }

  Verdict judge(Searcher& searcher, TrialId id) {
    const Trial& trial = trials[static_cast<std::size_t>(id)];
    if (contrary == 0 || random_.uniform() >= contrary) return searcher.tell(id, trial.epoch, trial.last);
    auto verdict = static_cast<Verdict>(random_.below(3));
    if (verdict == Verdict::go_on && trial.epoch >= trial.until) verdict = Verdict::hold;
    searcher.told(id, trial.epoch, trial.last, verdict);
    return verdict;
  }

  void begin(const Ask& ask) {
    EXPECT_GE(ask.until, 1);
    ASSERT_LE(ask.trial, static_cast<TrialId>(trials.size())) << "ids are dense";
    const bool is_new = ask.trial == static_cast<TrialId>(trials.size());
    if (is_new) {
      trials.push_back({});
      trials.back().point = ask.point;
    }
    Trial& trial = trials[static_cast<std::size_t>(ask.trial)];
    EXPECT_TRUE(is_new || trial.state == State::held) << "only held trials are asked again";
    if (ask.clone_from) {
      const Trial& parent = trials.at(static_cast<std::size_t>(*ask.clone_from));
      EXPECT_TRUE(is_new);
      EXPECT_EQ(parent.state, State::held);
      trial.epoch = parent.epoch;
      say("#{} clones #{}", ask.trial, *ask.clone_from);
    }
    EXPECT_GT(ask.until, trial.epoch);
    EXPECT_EQ(trial.point, ask.point);
    trial.state = State::running;
    trial.until = ask.until;
    trial.bracket = ask.bracket;
    trial.rung = ask.rung;
    running_.push_back(ask.trial);
  }

  void finish(std::size_t index, State state) {
    trials[static_cast<std::size_t>(running_[index])].state = state;
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  void take_dropped(Searcher& searcher) {
    const auto dropped = searcher.dropped();
    for (TrialId id : dropped) {
      Trial& trial = trials.at(static_cast<std::size_t>(id));
      EXPECT_EQ(trial.state, State::held) << "only held trials are dropped, once";
      trial.state = State::dropped;
    }
    if (!dropped.empty()) say("drop {}", fmt::join(dropped, " "));
  }

  std::string arrow(TrialId id) const {
    const Trial& trial = trials[static_cast<std::size_t>(id)];
    return fmt::format("b{}r{} #{} >{}", trial.bracket, trial.rung, id, trial.until);
  }
  template <class... Arguments>
  void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    log.push_back(fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  std::size_t slots_;
  LossOf loss_;
  double failing_;
  Random random_;
  std::vector<TrialId> running_;  // in the order begun
};

}  // namespace tandem::search
