// A training job as Tandem understands it, after a YAML document was parsed and found good.
//
// These are plain values: no YAML, no files. `to_json`/`train_job_from_json` keep a job in the journal; the
// JSON is complete, so a run can be resumed without its YAML file.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/resources.h"
#include "base/units.h"
#include "base/value.h"

namespace tandem::spec {

// What is run: a model of the built-in trainer on a dataset, or any command that speaks docs/protocol.md.
struct Program {
  std::string model, dataset;        // both empty when `command` is used
  std::vector<std::string> command;  // never passed to a shell
  bool plain = false;                // the command reports nothing: its exit status is all there is
  std::string folder;                // it runs there; empty: where Tandem was called
  // Without SDK (docs/programs.md): tandem-adapter fills in the command and reports what it reads.
  bool placeholders = false;            // the command has some: {learning_rate}
  std::string parameter_file = "json";  // what {file} is: json or yaml
  std::map<std::string, std::string>
      metrics{};                 // by name: a pattern; of a metrics_file: a key, column or tag
  std::string epoch{};           // a pattern: the number of an epoch, whose metrics belong together
  std::string metrics_file{};    // what is read instead of the output; may have placeholders
  std::string metrics_format{};  // jsonl, csv, tensorboard; empty: by the file's name
  // Of a Python script: modules to import before it is started (docs/preload.md); auto: those it is seen to use.
  std::vector<std::string> preload{"off"};

  bool reads_metrics() const { return !metrics.empty() || !metrics_file.empty(); }
  bool adapted() const { return placeholders || reads_metrics(); }
  bool built_in() const { return command.empty(); }
  bool operator==(const Program&) const = default;
};

struct Limits {
  Seconds stall{600};           // no report for so long: the program hangs, and is ended
  std::optional<Seconds> time;  // the whole run, over all its attempts
  int retries = 2;              // attempts after the first when the program dies without having been told to
  int processes = 4096;         // processes and threads at once, on each node
  Bytes output = Bytes{256} << 20;  // kept of what it prints
  int lost = 3;  // so many attempts in a row that took Tandem with them at once: it is not started again
  bool operator==(const Limits&) const = default;
};

// Where joules come from; `auto` takes the best source the machine has (tandem doctor names it).
struct EnergySpec {
  std::string source = "auto";      // auto, rapl, nvml, pdu, model, none
  std::string url;                  // of the power meter (source: pdu)
  std::optional<Watts> idle, busy;  // of the whole machine, for source: model
  bool operator==(const EnergySpec&) const = default;
};

// What a scheduler may know of a job beside its size.
struct PlaceSpec {
  int priority = 0;                           // higher first
  std::optional<double> energy_weight{};      // HEATS' H: 0 time alone, 1 energy alone; none: the policy's
  std::optional<Seconds> deadline{};          // from submission to the end
  std::string architecture{}, accelerator{};  // only there; "": anywhere
  std::vector<std::string> labels{};          // "ssd": only there; "!spot": not there
  std::optional<Seconds> seconds{};  // it takes on a machine of speed factor 1, as far as somebody knows
  std::string family{};              // tasks alike but for the amount of work; "": of its own kind
  double work = 0;                   // how much of it, in its family's unit; 0: not said
  double loss = 0;                   // of accuracy that is tolerated: work may be dropped for it
  double bandwidth = 0;              // bytes a second it needs of its node's network; 0: not said
  bool operator==(const PlaceSpec&) const = default;
};

struct TrainJob {
  std::string name;
  Program program;
  Values hyper;  // batch_size, learning_rate, ... whatever the program understands
  // Those written as maps, "optimizer" of optimizer: {name: sgd}: hyper has optimizer.name, the program gets
  // the map.
  std::vector<std::string> groups{};
  std::int64_t epochs = 10;  // taken out of hyper.epochs: Tandem counts them; 0: of a plain program
  Resources system;          // on each of its nodes
  int nodes = 1;             // one process each; more than one: a gang, started together or not at all
  std::int64_t seed = 1;
  Limits limits;
  int keep_checkpoints = 2;
  EnergySpec energy;
  PlaceSpec place;

  bool operator==(const TrainJob&) const = default;
};

// As the program is given them: what belongs to a group is inside it.
Values in_groups(const Values& hyper, const std::vector<std::string>& groups);

nlohmann::json to_json(const Program&);
Program program_from_json(const nlohmann::json&);
nlohmann::json to_json(const TrainJob&);
TrainJob train_job_from_json(const nlohmann::json&);

}  // namespace tandem::spec
