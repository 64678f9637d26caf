// The table of an experiment's spec: the rows of a tuning spec without what is about searching, and which
// points are measured.
#include <algorithm>

#include "spec/field.h"
#include "spec/into.h"

namespace tandem::spec {
namespace {

// Appends to the levels of a parameter, which is made with its first.
Store level_of(const char* name) {
  return [name](const Target& target, const Found& found) {
    auto& all = part<TuneJob>(target).hyper.parameters;
    auto at = std::find_if(all.begin(), all.end(), [&](const Parameter& p) { return p.name == name; });
    if (at == all.end()) at = all.insert(all.end(), {name, {Domain::Kind::choice, {}}, std::nullopt});
    auto& levels = at->domain.choices;
    if (std::find(levels.begin(), levels.end(), to_value(found)) == levels.end())
      levels.push_back(to_value(found));
  };
}

// Stores into what only an experiment has.
template <class Member>
Store into_experiment(Member Experiment::*member) {
  return [member](const Target& target, const Found& found) {
    assign(static_cast<ExperimentDraft&>(part<TuneJob>(target)).experiment.*member, found);
  };
}

Field levels(const char* name, const char* description, const char* otherwise, double most) {
  return {.name = name,
          .type = Type::list,
          .description = description,
          .otherwise = otherwise,
          .least = 1,
          .most = 100,
          .fields = {{.type = Type::whole, .least = 1, .most = most, .store = level_of(name)}}};
}

std::vector<Field> experiment_fields() {
  return {
      {.name = "design",
       .description =
           "which points are measured: one-at-a-time (each factor alone, all else as usual), "
           "two-level (lowest and highest of each), full (all combinations), space-filling (so many "
           "points, spread evenly)",
       .fallback = "one-at-a-time",
       .choices = std::vector<std::string>{"one-at-a-time", "two-level", "full", "space-filling"},
       .store = into_experiment(&Experiment::design)},
      {.name = "points",
       .type = Type::whole,
       .description = "how many, of a space-filling design",
       .otherwise = "as many as the design has",
       .least = 1,
       .most = 10'000,
       .store = into_experiment(&Experiment::points)},
      {.name = "replications",
       .type = Type::whole,
       .description = "how often each point is measured, each time with a seed of its own",
       .fallback = "1",
       .least = 1,
       .most = 1000,
       .store = into_experiment(&Experiment::replications)},
      levels(kJobs, "tasks of a point that run at once, sharing the machine: a factor, such as [1, 2]", "one",
             1024),
      levels(kNodes, "nodes of each task, one process each: a factor (topology), such as [1, 2]", "one",
             1024),
      {.name = "seed",
       .type = Type::whole,
       .description = "of the order of the points, of space-filling ones and of the programs",
       .fallback = "1",
       .least = 0,
       .store = into_experiment(&Experiment::seed)},
  };
}

}  // namespace

std::vector<Field> characterize_fields(const Catalogue& catalogue) {
  auto train = train_fields(catalogue);
  auto tune = tune_fields(catalogue);
  const auto row = [&](const char* name) -> Field& { return field_at(tune, name); };
  row("kind").choices = std::vector<std::string>{"characterize", "train"};
  Field& epochs = row("hyper.epochs");
  epochs = field_at(train, "hyper.epochs");
  epochs.domains = Domains::few;
  epochs.store = level_of("epochs");
  row("system.nodes").instead = "is a factor of the experiment here: write experiment.nodes: [1, 2]";
  for (const char* of_gpus : {"gpus", "gpu_memory", "gpu_power", "gpu_clock", "precision"})
    row((std::string("system.") + of_gpus).c_str()).instead =
        "is for training and tuning; experiments run on CPU cores so far";
  row("program.plain").instead = "is for training; an experiment needs programs that report";
  row("seed").instead = "an experiment has its seed among its settings: write experiment.seed";
  return {
      row("kind"),
      row("name"),
      row("program"),
      {.name = "experiment",
       .type = Type::table,
       .description = "which points are measured, and how often",
       .fields = experiment_fields()},
      row("hyper"),
      row("constraints"),
      row("system"),
      field_at(train, "limits"),
      row("checkpoints"),
      row("energy"),
      row("place"),
      row("seed"),
  };
}

}  // namespace tandem::spec
