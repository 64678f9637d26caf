// Shows a run as it goes, on standard error: a live display on a terminal, plain lines otherwise.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "control/ports.h"

namespace tandem::cli {

// Of a training job (which display belongs to which kind: cli/displays.h).
std::unique_ptr<control::Observer> make_progress(const std::string& name, const std::string& run);
// The same for a tuning job: trials as rows, the best so far, what the system tuner does, time left.
std::unique_ptr<control::Observer> make_tune_progress(const std::string& name, const std::string& run);

// The same for an experiment: which run of how many, at which point, and how long the rest will take.
std::unique_ptr<control::Observer> make_experiment_progress(const std::string& name, const std::string& run);

// Lines that are redrawn in place on standard error, each cut to the terminal's width.
class LiveBlock {
 public:
  ~LiveBlock() { clear(); }
  void draw(const std::vector<std::string>&);
  void clear();

 private:
  int drawn_ = 0;
};

// What every display says in a line of its own; empty: nothing.
std::string said(const View&, const EventBody&);

// Which epochs were there before: a program that starts over without a checkpoint reports them again. Told of
// every entry, from the first of a session on.
class SeenEpochs {
 public:
  bool again(const View&, const control::Entry&);  // true: an epoch that was there before

 private:
  bool begun_ = false;
  std::map<TaskId, std::int64_t> reached_;
};
// Columns of the terminal at standard error; 80 where it does not say.
int terminal_width();
// Columns of the terminal at standard output; 100 where it is none, or does not say.
int output_width();

}  // namespace tandem::cli
