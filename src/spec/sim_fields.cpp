// The table of a simulation: a cluster and the training jobs that shall run on it.
#include "spec/cluster.h"
#include "spec/field.h"
#include "spec/into.h"

namespace tandem::spec {
namespace {

constexpr double kMostWorkloads = 10'000;
constexpr double kMostDevices = 1e6;
constexpr double kMostSamples = 1e15;

// What a word may be; anything where the catalogue has no such table.
std::optional<std::vector<std::string>> choices(const std::vector<ChoiceEntry>& entries) {
  if (entries.empty()) return std::nullopt;
  return names(entries);
}

Field word_field(Field field) {
  field.pattern = kName;
  field.shape = kNameShape;
  field.longest = kLongestName;
  return field;
}

// What is trained, and how much of it.
std::vector<Field> training_fields(const Catalogue& catalogue) {
  return {
      word_field({.name = "name",
                  .description = "what to call it in results",
                  .otherwise = "named after its model",
                  .store = into([](Workload & workload) -> auto& { return workload.name; })}),
      word_field({.name = "model",
                  .description = "a model the simulator knows",
                  .choices = choices(catalogue.zoo),
                  .store = into([](Workload & workload) -> auto& { return workload.model; })}),
      {.name = "model_file",
       .description = "instead of a model: a file with its operations (JSON), relative to this spec",
       .store = into([](Workload & workload) -> auto& { return workload.model_file; })},
      {.name = "batch",
       .type = Type::whole,
       .description = "samples a step: of all workers together, or of each with scaling: weak",
       .required = true,
       .least = 1,
       .most = 1e9,
       .store = into([](Workload & workload) -> auto& { return workload.batch; })},
      {.name = "scaling",
       .description = "does the batch stay the same however many workers there are, or grow with them?",
       .fallback = "strong",
       .choices = std::vector<std::string>{"strong", "weak"},
       .store =
           [](const Target& target, const Found& found) {
             part<Workload>(target).strong = std::get<std::string>(found) == "strong";
           }},
      {.name = "iterations",
       .type = Type::whole,
       .description = "how long it trains; or epochs and samples",
       .least = 1,
       .most = 1e12,
       .store = into([](Workload & workload) -> auto& { return workload.iterations; })},
      {.name = "epochs",
       .type = Type::real,
       .description = "passes over the samples, instead of iterations",
       .above = 0,
       .most = 1e6,
       .store = into([](Workload & workload) -> auto& { return workload.epochs; })},
      {.name = "samples",
       .type = Type::whole,
       .description = "of the dataset; needed with epochs",
       .least = 1,
       .most = kMostSamples,
       .store = into([](Workload & workload) -> auto& { return workload.samples; })},
      {.name = "sample_bytes",
       .type = Type::bytes,
       .description = "read from storage for each sample, such as 110kB",
       .otherwise = "data is in memory",
       .above = 0,
       .store = into([](Workload & workload) -> auto& { return workload.sample_bytes; })},
  };
}

// How it is spread over devices.
std::vector<Field> spreading_fields(const Catalogue& catalogue) {
  return {
      word_field({.name = "strategy",
                  .description = "how work and variables are divided",
                  .fallback = "default",
                  .choices = choices(catalogue.strategies),
                  .store = into([](Workload & workload) -> auto& { return workload.strategy; })}),
      {.name = "workers",
       .type = Type::whole,
       .description = "devices that compute",
       .fallback = "1",
       .least = 1,
       .most = kMostDevices,
       .store = into([](Workload & workload) -> auto& { return workload.workers; })},
      {.name = "servers",
       .type = Type::whole,
       .description = "parameter servers, for strategies that have them",
       .fallback = "1",
       .least = 1,
       .most = kMostDevices,
       .store = into([](Workload & workload) -> auto& { return workload.servers; })},
      {.name = "synchronous",
       .type = Type::flag,
       .description = "workers wait for each other after every step",
       .fallback = "true",
       .store = into([](Workload & workload) -> auto& { return workload.synchronous; })},
      {.name = "variables",
       .description = "where they are kept",
       .fallback = "cpu",
       .choices = std::vector<std::string>{"cpu", "gpu"},
       .store =
           [](const Target& target, const Found& found) {
             part<Workload>(target).variables_on_gpu = std::get<std::string>(found) == "gpu";
           }},
      {.name = "overlap",
       .type = Type::flag,
       .description = "gradients travel while the backward pass goes on",
       .fallback = "true",
       .store = into([](Workload & workload) -> auto& { return workload.overlap; })},
      word_field({.name = "device",
                  .description = "the type of device that computes",
                  .otherwise = "the first GPU the cluster has, else its first device",
                  .store = into([](Workload & workload) -> auto& { return workload.device; })}),
      {.name = "threads",
       .type = Type::whole,
       .description = "cores of a processor that compute",
       .otherwise = "all it has",
       .least = 1,
       .most = 1e7,
       .store = into([](Workload & workload) -> auto& { return workload.threads; })},
      {.name = "clock",
       .type = Type::frequency,
       .description = "what the workers run at: one of their device's clocks",
       .otherwise = "full speed",
       .above = 0,
       .store = into([](Workload & workload) -> auto& { return workload.clock; })},
      word_field({.name = "scheduler",
                  .description =
                      "which of the operations that are ready a device runs first, where workers have parts",
                  .fallback = "depth-first",
                  .choices = choices(catalogue.schedulers),
                  .store = into([](Workload & workload) -> auto& { return workload.scheduler; })}),
      {.name = "micro_batches",
       .type = Type::whole,
       .description = "of a pipeline, in each step",
       .otherwise = "four a worker",
       .least = 1,
       .most = 1e6,
       .store = into([](Workload & workload) -> auto& { return workload.micro_batches; })},
      {.name = "straggler",
       .type = Type::fraction,
       .description = "standard deviation of the workers' step times",
       .fallback = "0%",
       .least = 0,
       .most = 1,
       .store = into([](Workload & workload) -> auto& { return workload.straggler; })},
  };
}

}  // namespace

std::vector<Field> workload_fields(const Catalogue& catalogue) {
  auto fields = training_fields(catalogue);
  for (auto& field : spreading_fields(catalogue)) fields.push_back(std::move(field));
  return fields;
}

std::vector<Field> sim_fields(const Catalogue& catalogue) {
  return {
      {.name = "kind",
       .description = "what this document asks for",
       .required = true,
       .choices = std::vector<std::string>{"sim"}},
      word_field({.name = "name",
                  .description = "what to call the simulation",
                  .otherwise = "named after its first workload and its cluster",
                  .store = into([](SimJob & job) -> auto& { return job.name; })}),
      {.name = "cluster",
       .type = Type::table_or_word,
       .description = "the machines: a ready cluster by name, a file (kind: cluster), or written out here",
       .required = true,
       .fields = cluster_fields(),
       .enter = inside([](SimJob & job) -> auto& { return job.cluster; })},
      {.name = "workloads",
       .type = Type::list,
       .description = "training jobs to simulate",
       .required = true,
       .least = 1,
       .most = kMostWorkloads,
       .fields = {{.type = Type::table, .fields = workload_fields(catalogue)}},
       .enter = one_more([](SimJob & job) -> auto& { return job.workloads; })},
      {.name = "seed",
       .type = Type::whole,
       .description = "of everything random; the same seed gives the same result",
       .fallback = "1",
       .least = 0,
       .store = into([](SimJob & job) -> auto& { return job.seed; })},
  };
}

}  // namespace tandem::spec
