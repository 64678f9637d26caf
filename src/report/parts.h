// The sections of a report page, each as HTML. What they share is computed once, in Tuned.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "event/view.h"
#include "report/energy_text.h"
#include "store/store.h"
#include "tune/outcome.h"

namespace tandem::report {

extern const char* const kReportStyle;
extern const char* const kReportScript;

// One epoch of a trial with what it is worth.
struct Scored {
  const TaskView* task = nullptr;
  std::size_t index = 0;  // into task->epochs
  double value = 0;       // of the main goal
  double loss = 0;        // by which trials are compared
  const EpochRecord& record() const { return task->epochs[index]; }
};

// A tuning run as its page sees it.
struct Tuned {
  explicit Tuned(const View&);

  const View& view;
  const JobView& job;
  const spec::TuneJob& spec;
  tune::Outcome found;
  std::vector<Scored> scored;       // epochs with a score, in the order they ended
  Seconds from, until;              // first and last moment anything is known of
  std::vector<std::string> varied;  // parameters of the trials, by name

  const TaskView& task(const tune::TrialOutcome& trial) const;
  const TaskView* best_task() const;
  // "trial 7: batch_size 64 …" for tooltips; without the parameters where there are very many trials.
  std::string about(const TaskView&) const;
};

// "accuracy", "train_time (s)", "energy (J)".
std::string goal_label(const spec::Objective&, const spec::Goal&);
std::string goal_text(const spec::Objective&, const spec::Goal&, double);  // with its unit
std::string energy_html(const EnergyTotal&);
// A colour of the style sheet for the n-th of something.
std::string colour(std::int64_t n);
// A box of the headline; the best one stands out.
std::string fact(std::string_view label, const std::string& html, const std::string& note_html = {},
                 bool best = false);

// What came of it (report_headline.cpp)
std::string tune_headline(const Tuned&);
std::string convergence_section(const Tuned&);

// What the parameters did (report_parameters.cpp)
std::string importance_section(const Tuned&);
std::string parameters_section(const Tuned&);
std::string front_section(const Tuned&);

// The machine (report_cores.cpp, report_speed.cpp)
std::string cores_section(const Tuned&);
std::string speed_section(const Tuned&);

// Energy against time, configuration by configuration (report_energy_time.cpp); "" where energy is no goal
std::string energy_time_section(const Tuned&);

// Counters (report_profiles.cpp)
std::string counters_section(const Tuned&);
std::string clusters_section(const Tuned&);
// Counters by epoch of one task, or why there is nothing.
std::string epoch_heat_map(const TaskView&, const std::string& whose);

// Every trial (report_trials.cpp)
std::string trials_section(const Tuned&);
std::string failures_section(const std::vector<const TaskView*>&);

// A tuning run: everything between the page's head and its foot (page.cpp)
std::string tune_body(const View&);

// A training run: the same (report_train.cpp)
std::string train_body(const View&);

// An experiment: the same (report_experiment.cpp)
std::string experiment_body(const store::RunInfo&, const View&);

}  // namespace tandem::report
