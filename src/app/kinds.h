// The kinds of jobs: one table with a row a kind. Whatever is done by kind (reading a spec, deciding, saying
// what came of it) goes through its row; nobody else compares names of kinds. How a kind is drawn is
// report/drawings.h, how it is shown while it runs cli/displays.h; both have one for kinds that bring none.
//
// Three kinds are built in. Another one (CONTRIBUTING.md) is added at start-up, before anything else is done,
// by whoever has `main`; after that the table does not change. One thread until then.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/job_view.h"
#include "base/catalogue.h"
#include "event/policy.h"
#include "event/view.h"
#include "store/store.h"

namespace tandem::app {

// How far a job is, in what its kind counts.
struct Progress {
  std::int64_t done = 0, of = 0;  // of 0: nobody knows how many there will be
  std::string unit;               // "epochs"
};

// The functions about a view get one whose first job is of the kind: a run's, or a server's job seen as one.
struct Kind {
  std::string name{};         // in specs, runs and the API
  std::string unit{};         // what `tandem show` lists of it: "epoch"
  std::string description{};  // one line, for --help of the command it gets; empty: it has a file in cli/

  // A document of this kind. UserError that lists all that is wrong with it, one a line.
  spec::Job (*parse)(std::string_view text, const std::string& file_name, const Catalogue&) = nullptr;
  // UserError when it could never be run on the view's nodes; null: nobody can tell.
  void (*require_possible)(const spec::Job&, const View&) = nullptr;
  // Decides for the jobs of its kind, and leaves the others alone. Pure.
  std::unique_ptr<Policy> (*controller)() = nullptr;
  // Who starts and stops the tasks of a run of its own; null: first come, first served, on all nodes.
  std::unique_ptr<Policy> (*allocator)() = nullptr;
  // What it came to, beside what every run has.
  nlohmann::json (*results)(const store::RunInfo&, const View&, const TaskFolders&) = nullptr;
  Progress (*progress)(const View&, const JobView&) = nullptr;  // of any view that has the job
  // The task whose model is the job's; null, or none: it makes no model.
  std::optional<TaskId> (*model_task)(const View&) = nullptr;
  bool queued = true;           // servers take it
  bool uses_knowledge = false;  // what earlier jobs learned is given to it
};

const std::vector<Kind>& kinds();
// UserError when there is one of this name already, or something is missing.
void add_kind(Kind);

const Kind* find_kind(std::string_view name);  // null: none
// UserError for one that this Tandem does not have.
const Kind& row_of(const spec::Job&);

// The controller of its kind and who allocates: a run's policies, in the order they decide.
std::vector<std::unique_ptr<Policy>> policies_for(const spec::Job&);

nlohmann::json progress_json(const View&, const JobView&);

}  // namespace tandem::app
