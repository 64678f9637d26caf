// Processes that train one model together: each learns from its part of every batch, and the gradients of all
// are added up, so that all of them make the step that one process would have made with the whole batch.
//
// All weights stay equal because all start equal, and because a sum has the same bits on every process. Rank
// 0 is the one that tests, saves and speaks; it leads, and the others follow it (Leader, follow). Calls must
// come in the same order on all of them; each waits for the others. When one is gone, the others' next call
// throws a SystemError. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "trainer/learner.h"

namespace tandem::trainer {

class Gang {
 public:
  virtual ~Gang() = default;
  virtual std::int64_t rank() const = 0;
  virtual std::int64_t size() const = 0;
  virtual void add_up(std::span<float>) = 0;  // over all, in place
  virtual double add_up(double) = 0;
  virtual std::string from_first(std::string bytes) = 0;  // what rank 0 gave, on all of them

  // Of `count` samples, those this process learns from: [first, end).
  struct Part {
    std::int64_t first = 0, end = 0;
  };
  Part part_of(std::int64_t count) const { return {count * rank() / size(), count * (rank() + 1) / size()}; }
};

// Over gloo, as TANDEM_RANK, TANDEM_WORLD_SIZE, MASTER_ADDR and MASTER_PORT say; null: this process is alone.
// Returns when all are there. UserError when the variables make no sense, SystemError when they do not meet.
std::unique_ptr<Gang> gang_of_environment();

// Rank 0's learner, as the session sees it: whatever it learns, the others learn with it. Without a gang it
// is the learner alone. One that fails leaves without a word: the others notice, and the attempt is over
// anyway.
class Leader final : public Learner {
 public:
  Leader(Learner& learner, Gang* gang) : learner_(learner), gang_(gang) {}
  void begin();  // once, after a state was restored: all start equal
  void finish();
  void set_threads(int threads) override;
  double train(std::int64_t epoch) override;
  std::optional<double> waited() const override { return learner_.waited(); }
  Metrics test() override { return learner_.test(); }
  std::string state() const override { return learner_.state(); }
  void restore(std::string_view state) override { learner_.restore(state); }
  Exported exported() const override { return learner_.exported(); }

 private:
  Learner& learner_;
  Gang* gang_;
  int threads_ = 1;
  bool begun_ = false;
};

// What a follower does, from rank 0's first epoch to its last.
void follow(Gang&, Learner&);

// Model, hyperparameters and seed as rank 0 has them, on all of them.
Setup same_setup(Gang&, const Setup&);

}  // namespace tandem::trainer
