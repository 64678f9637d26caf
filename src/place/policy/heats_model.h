// HEATS: what a task takes and costs on a machine type, learnt from probing and from what ran since.
//
// Per machine type there is one regression for runtime and one for energy (stats/regression/regression.h:
// linear, forest). Energy is the task's own, above the idle machine. The features are the declared work, the
// task's family, cores, memory and the clock; learnt are the logarithms of time and energy a unit of work, so
// that cost over clock is a plane, and a forest need not tell amounts of work apart. The paper's own model
// sees cores and memory only, on a plain scale: it is here to compare, and gives every task of a size the
// same answer.
//
// Assumes: tasks say how much work they are (iterations, multiplications) in their family's unit, and do not
// slow each other down. Maintenance, every `every` seconds: of what ended inside the window, what was
// predicted well is dropped; the rest joins what was learnt from, and where at least kFewest such rows are of
// one family and clock they replace the older rows of that cell. Nothing badly predicted: nothing changes.
// One owner; pure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stats/regression/regression.h"

namespace tandem::place {

struct TaskFeatures {
  std::uint32_t family = 0;  // a number below HeatsModelOptions::families
  double work = 0;           // > 0, in its family's unit
  double cores = 0;
  double memory = 0;  // GiB
  double clock = 0;   // GHz
};

struct Prediction {
  double seconds = 0, joules = 0;
  double idle_joules = 0;  // what the idle machine draws meanwhile, by the share of it the task holds
  bool known = true;  // false: nothing is known of the task, and the numbers only stand for it
};

// What a policy asks: a task, by its number, on a machine type. Declared by a trace, or learnt.
class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual Prediction predict(std::uint32_t task, std::uint32_t type) = 0;
  // What it really was, of tasks that ran on one machine from beginning to end.
  virtual void ended(std::uint32_t /*task*/, std::uint32_t /*type*/, const Prediction& /*truth*/,
                     double /*now*/) {}
};

struct HeatsModelOptions {
  enum class Features { declared, cores_and_memory };
  std::string regression = "linear";
  Features features = Features::declared;
  std::size_t families = 1;
  double every = 24 * 3600;       // s between maintenances
  double window = 7 * 24 * 3600;  // s that are looked back
  double well = 0.05;             // a relative error up to here is "predicted well"
};

class HeatsModel {
 public:
  static constexpr std::size_t kFewest = 5;

  HeatsModel(std::size_t types, HeatsModelOptions);

  // From probing; `fit` afterwards. UserError for a row that cannot be.
  void learn(std::uint32_t type, const TaskFeatures&, const Prediction& measured);
  void fit();
  // UserError where nothing was learnt of the type.
  Prediction predict(std::uint32_t type, const TaskFeatures&) const;

  // A task that ended; kept with the error of what is predicted now.
  void observe(std::uint32_t type, const TaskFeatures&, const Prediction& truth, double now);
  // Learns anew where it should; says how many rows were new. Does nothing before `every` seconds have
  // passed.
  std::size_t maintain(double now);
  std::size_t waiting() const { return ended_.size(); }  // observations not looked at yet

 private:
  struct Row {
    TaskFeatures task{};
    Prediction truth{};
    double at = 0, error = 0;
    std::uint32_t type = 0;
  };
  struct Machine {
    std::vector<Row> rows{};
    std::unique_ptr<stats::Regression> seconds{}, joules{};
  };

  std::vector<std::string> columns() const;
  std::vector<double> features(const TaskFeatures&) const;
  void fit(Machine&) const;
  bool same_cell(const Row&, const Row&) const;

  HeatsModelOptions options_;
  std::vector<Machine> machines_;
  std::vector<Row> ended_;
  double maintained_ = 0;
};

// Probing: short tasks of known work, run on every machine type at each of its clock settings. A new family
// is a new row of this table and a program the prober can run.
struct ProbeTask {
  std::string name, description, unit;
  double least_work = 0, most_work = 0;
};
const std::vector<ProbeTask>& probe_tasks();  // a family's number is its place here

class Prober {
 public:
  virtual ~Prober() = default;
  virtual Prediction run(std::uint32_t type, const TaskFeatures&, std::uint64_t repeat) = 0;
};

struct ProbePlan {
  std::vector<std::vector<double>> clocks{};  // GHz, by type
  std::vector<double> cores{1, 2}, memory{0.25};
  int works = 12;  // from the least to the most, evenly on a logarithmic scale
  int repeats = 1;
};
// Runs all of it, learns and fits; the seconds of machine time it took.
double probe(HeatsModel&, Prober&, const ProbePlan&);

}  // namespace tandem::place
