// The table of a tuning spec: the rows of a training spec, with domains where those have values, and how to
// search.
#include <utility>

#include "spec/field.h"
#include "spec/into.h"

namespace tandem::spec {
namespace {

std::optional<std::vector<std::string>> algorithms(const Catalogue& catalogue) {
  if (catalogue.algorithms.empty()) return std::nullopt;
  return names(catalogue.algorithms);
}

std::vector<Field> search_fields(const Catalogue& catalogue) {
  return {
      {.name = "algorithm",
       .description = "how points are chosen and how long trials run",
       .fallback = "hyperband",
       .choices = algorithms(catalogue),
       .store = into([](TuneJob & job) -> auto& { return job.search.algorithm; })},
      {.name = "max_epochs",
       .type = Type::whole,
       .description = "the most epochs a trial may run",
       .fallback = "9",
       .least = 1,
       .most = 1e6,
       .store = into([](TuneJob & job) -> auto& { return job.search.max_epochs; })},
      {.name = "reduction",
       .type = Type::whole,
       .description = "of each rung, one trial in so many goes on",
       .fallback = "3",
       .least = 2,
       .most = 1000,
       .store = into([](TuneJob & job) -> auto& { return job.search.reduction; })},
      {.name = "trials",
       .type = Type::whole,
       .description = "configurations to start",
       .otherwise = "the algorithm's own number",
       .least = 1,
       .most = kMostTrials,
       .store = into([](TuneJob & job) -> auto& { return job.search.trials; })},
      {.name = "seed",
       .type = Type::whole,
       .description = "of everything random; the same seed gives the same run",
       .fallback = "1",
       .least = 0,
       .store = into([](TuneJob & job) -> auto& { return job.search.seed; })},
      {.name = "pruning",
       .description = "how trials end early where the algorithm has no rungs of its own",
       .fallback = "none",
       .choices = std::vector<std::string>{"none", "halving", "median"},
       .store = into([](TuneJob & job) -> auto& { return job.search.pruning; })},
  };
}

Store goals(bool maximise) {
  return [maximise](const Target& job, const Found& found) {
    for (const auto& metric : std::get<std::vector<std::string>>(found))
      part<TuneJob>(job).objective.goals.push_back({metric, maximise});
  };
}

// What is left out weighs nothing; parse.cpp makes the two add up to 1.
Field weight(const char* name, const char* description, double CostWeights::*member) {
  return {.name = name,
          .type = Type::real,
          .description = description,
          .otherwise = "0",
          .least = 0,
          .most = 1e9,
          .store = [member](const Target& job, const Found& found) {
            auto& cost = part<TuneJob>(job).objective.cost;
            if (!cost) cost = CostWeights{0, 0};
            (*cost).*member = std::get<double>(found);
          }};
}

// The same key in the spelling that most other tools use.
Field spelled(Field field, const std::string& name) {
  field.description = "as " + std::exchange(field.name, name);
  field.otherwise = "nothing";
  return field;
}

std::vector<Field> objective_fields() {
  std::vector<Field> out{
      {.name = "maximise",
       .type = Type::names,
       .description = "metrics the program reports; the first is the main goal",
       .otherwise = "accuracy, when there is no objective",
       .longest = 128,
       .store = goals(true)},
      {.name = "minimise",
       .type = Type::names,
       .description = "the same; also train_time, energy and, with weights, cost, which Tandem measures",
       .otherwise = "nothing",
       .longest = 128,
       .store = goals(false)},
      {.name = "target",
       .type = Type::real,
       .description = "of the main goal: good enough, stop there",
       .otherwise = "none",
       .store = into([](TuneJob & job) -> auto& { return job.objective.target; })},
      {.name = "cost",
       .type = Type::table,
       .description =
           "minimise cost too: both as joules, a second at the machine's greatest draw (Zeus); the "
           "weights are divided by their sum",
       .fields = {weight("energy", "weight of the joules drawn", &CostWeights::energy),
                  weight("time", "weight of the training time", &CostWeights::time)}},
  };
  out.push_back(spelled(out[0], "maximize"));
  out.push_back(spelled(out[1], "minimize"));
  return out;
}

std::vector<Field> budget_fields() {
  return {
      {.name = "time",
       .type = Type::seconds,
       .description = "past it the job ends with what it has found",
       .otherwise = "no limit",
       .above = 0,
       .most = kYear,
       .store = into([](TuneJob & job) -> auto& { return job.budget.time; })},
      {.name = "energy",
       .type = Type::joules,
       .description = "the same for joules",
       .otherwise = "no limit",
       .above = 0,
       .store = into([](TuneJob & job) -> auto& { return job.budget.energy; })},
      {.name = "cost",
       .type = Type::joules,
       .description = "the same for the objective's cost",
       .otherwise = "no limit",
       .above = 0,
       .store = into([](TuneJob & job) -> auto& { return job.budget.cost; })},
  };
}

Field refused(Field field, const char* instead) {
  field.instead = instead;
  field.required = false;
  return field;
}

// The rows of `system`, each with one value or few.
Field system_field(Field system) {
  const auto vary = [&](const char* name, const char* otherwise, Store store) {
    Field& row = field_at(system.fields, name);
    row.fallback.clear();
    row.otherwise = otherwise;
    row.domains = Domains::few;
    row.store = std::move(store);
  };
  vary("cores", "what the machine has", into([](TuneJob & job) -> auto& { return job.system.cores; }));
  vary("memory", "no limit", into([](TuneJob & job) -> auto& { return job.system.memory; }));
  vary("gpu_power", "as it is found", into([](TuneJob & job) -> auto& { return job.system.gpu_power; }));
  vary("gpu_clock", "as it is found", into([](TuneJob & job) -> auto& { return job.system.gpu_clock; }));
  vary("precision", "the program's own", into([](TuneJob & job) -> auto& { return job.system.precision; }));
  field_at(system.fields, "gpus").store = into([](TuneJob & job) -> auto& { return job.system.gpus; });
  field_at(system.fields, "gpu_memory").store =
      into([](TuneJob & job) -> auto& { return job.system.gpu_memory; });
  Field& nodes = field_at(system.fields, "nodes");
  nodes = refused(nodes, "is for training; a trial of a search runs on one node");
  vary("speed", "full speed", into([](TuneJob & job) -> auto& { return job.system.speed; }));
  system.description = "what it is given of the machine: one value each, or a domain to choose from";
  return system;
}

}  // namespace

std::vector<Field> tune_fields(const Catalogue& catalogue) {
  auto train = train_fields(catalogue);
  const auto row = [&](const char* name) -> Field& { return field_at(train, name); };
  row("kind").choices = std::vector<std::string>{"tune"};
  Field& epochs = row("hyper.epochs");
  epochs = refused(epochs, "a search decides how long trials run: write search.max_epochs");
  row("hyper").domains = Domains::all;
  row("hyper").description = "hyperparameters, each with one value or a domain such as {log: [0.001, 0.1]}";
  Field& time = row("limits.time");
  time = refused(time, "is for training; a search has budget.time for the whole job");
  Field& plain = row("program.plain");
  plain = refused(plain, "is for training; a search needs programs that report");
  return {
      row("kind"),
      row("name"),
      row("program"),
      {.name = "search",
       .type = Type::table,
       .description = "how to search",
       .fields = search_fields(catalogue)},
      row("hyper"),
      {.name = "constraints",
       .type = Type::names,
       .description = "what must hold between parameters, such as [\"batch_size % cores == 0\"]",
       .otherwise = "none",
       .longest = kLargestDocument},
      {.name = "start",
       .type = Type::list,
       .description = "known points, such as [{batch_size: 64, rate: 0.01}]: the first trials begin there",
       .otherwise = "none",
       .least = 1,
       .most = kMostStarts,
       .fields = {{.type = Type::open_table}}},
      system_field(row("system")),
      {.name = "objective",
       .type = Type::table,
       .description = "what is best; several goals give a Pareto front",
       .fields = objective_fields()},
      {.name = "budget",
       .type = Type::table,
       .description = "when to end with what was found",
       .fields = budget_fields()},
      row("limits"),
      row("checkpoints"),
      row("energy"),
      row("place"),
      refused(row("seed"), "a search has its seed among its settings: write search.seed"),
  };
}

}  // namespace tandem::spec
