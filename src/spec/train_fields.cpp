// The table of a training spec: what people may write, in the order in which --help shows it.
#include "spec/field.h"
#include "spec/into.h"

namespace tandem::spec {
namespace {

// 1 to 65535, as a regular expression.
constexpr const char* kPort =
    "(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})";
constexpr double kYear = 365 * 86400.0;

std::vector<Field> program_fields(const Catalogue& catalogue) {
  return {
      {.name = "model",
       .description = "a model of the built-in trainer",
       .choices = names(catalogue.models),
       .store = into([](TuneJob & job) -> auto& { return job.base.program.model; })},
      {.name = "dataset",
       .description = "what it learns from; `tandem data list` shows what is here",
       .choices = names(catalogue.datasets),
       .store = into([](TuneJob & job) -> auto& { return job.base.program.dataset; })},
      {.name = "command",
       .type = Type::words,
       .description = "instead of a model: a program that speaks docs/protocol.md; no shell is involved",
       .store = into([](TuneJob & job) -> auto& { return job.base.program.command; })},
  };
}

std::vector<Field> hyper_fields() {
  return {
      {.name = "epochs",
       .type = Type::whole,
       .description = "passes over the training data",
       .fallback = "10",
       .domains = Domains::in_tuning,
       .least = 1,
       .most = 1e6,
       .store = into([](TuneJob & job) -> auto& { return job.base.epochs; })},
  };
}

std::vector<Field> system_fields() {
  return {
      {.name = "cores",
       .type = Type::whole,
       .description = "CPU cores of its own",
       .fallback = "1",
       .domains = Domains::in_tuning,
       .least = 1,
       .most = 65536,
       .store = into([](TuneJob & job) -> auto& { return job.base.system.cores; })},
      {.name = "memory",
       .type = Type::bytes,
       .description = "the most memory it may use",
       .otherwise = "no limit",
       .domains = Domains::in_tuning,
       .above = 0,
       .store = into([](TuneJob & job) -> auto& { return job.base.system.memory; })},
      {.name = "speed",
       .type = Type::fraction,
       .description = "share of the CPU's full speed",
       .fallback = "100%",
       .domains = Domains::in_tuning,
       .above = 0,
       .most = 1,
       .store = into([](TuneJob & job) -> auto& { return job.base.system.speed; })},
  };
}

std::vector<Field> limits_fields() {
  return {
      {.name = "stall",
       .type = Type::seconds,
       .description = "without a report for so long the program is taken to hang, and ended",
       .fallback = "10min",
       .above = 0,
       .most = kYear,
       .store = into([](TuneJob & job) -> auto& { return job.base.limits.stall; })},
      {.name = "time",
       .type = Type::seconds,
       .description = "the whole run, over all its attempts",
       .otherwise = "no limit",
       .above = 0,
       .most = kYear,
       .store = into([](TuneJob & job) -> auto& { return job.base.limits.time; })},
      {.name = "retries",
       .type = Type::whole,
       .description = "attempts after the first when the program dies by itself",
       .fallback = "2",
       .least = 0,
       .most = 1000,
       .store = into([](TuneJob & job) -> auto& { return job.base.limits.retries; })},
  };
}

std::vector<Field> energy_fields() {
  return {
      {.name = "source",
       .description = "where joules come from; auto takes the best this machine has",
       .fallback = "auto",
       .choices = std::vector<std::string>{"auto", "rapl", "nvml", "pdu", "model", "none"},
       .store = into([](TuneJob & job) -> auto& { return job.base.energy.source; })},
      {.name = "url",
       .description = "of the power meter; needed with source: pdu, may be given with auto",
       .otherwise = "no meter",
       .pattern =
           std::string(R"(^http://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:)") + kPort + R"()?(/[!-~]*)?$)",
       .shape = "http://HOST:PORT/PATH, such as http://127.0.0.1:8080/power",
       .longest = 1024,
       .store = into([](TuneJob & job) -> auto& { return job.base.energy.url; })},
      {.name = "idle",
       .type = Type::watts,
       .description = "what the whole machine draws when idle, for source: model",
       .otherwise = "estimated",
       .least = 0,
       .most = 1e6,
       .store = into([](TuneJob & job) -> auto& { return job.base.energy.idle; })},
      {.name = "busy",
       .type = Type::watts,
       .description = "what it draws with all cores busy; goes with idle",
       .otherwise = "estimated",
       .above = 0,
       .most = 1e6,
       .store = into([](TuneJob & job) -> auto& { return job.base.energy.busy; })},
  };
}

}  // namespace

std::vector<Field> train_fields(const Catalogue& catalogue) {
  return {
      {.name = "kind",
       .description = "what this document asks for",
       .required = true,
       .choices = std::vector<std::string>{"train"}},
      {.name = "name",
       .description = "what to call the run",
       .otherwise = "named after the program",
       .pattern = kName,
       .shape = kNameShape,
       .longest = kLongestName,
       .store = into([](TuneJob & job) -> auto& { return job.base.name; })},
      {.name = "program",
       .type = Type::table,
       .description = "what is run: {model, dataset} or {command}",
       .required = true,
       .fields = program_fields(catalogue)},
      {.name = "hyper",
       .type = Type::open_table,
       .description = "hyperparameters: those of the model, or whatever the command understands",
       .fields = hyper_fields()},
      {.name = "system",
       .type = Type::table,
       .description = "what it is given of the machine",
       .fields = system_fields()},
      {.name = "seed",
       .type = Type::whole,
       .description = "of everything random; the same seed gives the same run",
       .fallback = "1",
       .least = 0,
       .store = into([](TuneJob & job) -> auto& { return job.base.seed; })},
      {.name = "limits", .type = Type::table, .description = "when to give up", .fields = limits_fields()},
      {.name = "checkpoints",
       .type = Type::table,
       .description = "what is kept to go on from",
       .fields = {{.name = "keep",
                   .type = Type::whole,
                   .description = "how many of the last checkpoints to keep",
                   .fallback = "2",
                   .least = 1,
                   .most = 1000,
                   .store = into([](TuneJob & job) -> auto& { return job.base.keep_checkpoints; })}}},
      {.name = "energy",
       .type = Type::table,
       .description = "how energy is measured",
       .fields = energy_fields()},
  };
}

}  // namespace tandem::spec
