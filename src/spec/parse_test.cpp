#include "spec/parse.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <nlohmann/json.hpp>

#include <fstream>

#include "base/error.h"
#include "spec/field.h"
#include "spec/sample_catalogue.h"

namespace tandem::spec {
namespace {

const Catalogue kCatalogue = sample_catalogue();
const std::string kLenet = "kind: train\nprogram: {model: lenet5, dataset: digits}\n";
const std::string kCommand = "kind: train\nprogram: {command: [./go]}\n";

TrainResult parse(std::string_view text) {
  return parse_train(text, "job.yaml", kCatalogue);
}

TrainJob good(std::string_view text) {
  const auto [job, issues] = parse(text);
  for (const auto& issue : issues) ADD_FAILURE() << spec::text(issue);
  return job.value_or(TrainJob{});
}

// `text` has exactly this issue: "line:column: path: the beginning of the message".
void expect_issue(std::string_view text, const std::string& expected) {
  const auto [job, issues] = parse(text);
  EXPECT_FALSE(job);
  ASSERT_EQ(issues.size(), 1u) << text << (issues.empty() ? "" : spec::text(issues[0]) + " ...");
  EXPECT_EQ(spec::text(issues[0]).substr(0, expected.size() + 9), "job.yaml:" + expected);
}

bool mentions(const TrainResult& result, const std::string& words) {
  for (const auto& issue : result.issues)
    if (issue.message.find(words) != std::string::npos) return true;
  return false;
}

TEST(Parse, AWholeSpec) {
  const auto job = good(R"(
kind: train
name: lenet-digits
program: {model: lenet5, dataset: digits}
hyper: {batch_size: 64, learning_rate: 0.05, epochs: 12, dropout: 0.2, optimizer: adam, nesterov: true}
system: {cores: 2, memory: 2GiB, speed: 80%}
seed: 7
limits: {stall: 5min, time: 2h, retries: 3, processes: 100}
checkpoints: {keep: 4}
energy: {source: auto, url: "http://127.0.0.1:8080/power", idle: 20W, busy: 95W}
)");
  TrainJob expected;
  expected.name = "lenet-digits";
  expected.program = {"lenet5", "digits", {}};
  expected.hyper = {{"batch_size", std::int64_t{64}},
                    {"learning_rate", 0.05},
                    {"dropout", 0.2},
                    {"optimizer", std::string("adam")},
                    {"nesterov", true}};
  expected.epochs = 12;
  expected.system = {2, 2 * kGiB, 0.8};
  expected.seed = 7;
  expected.limits = {Seconds{300}, Seconds{7200}, 3, 100};
  expected.keep_checkpoints = 4;
  expected.energy = {"auto", "http://127.0.0.1:8080/power", Watts{20}, Watts{95}};
  EXPECT_EQ(job, expected);
}

TEST(Parse, WhatIsLeftOutGetsDefaults) {
  const auto job = good(kLenet);
  TrainJob expected;
  expected.name = "lenet5-digits";
  expected.program = {"lenet5", "digits", {}};
  expected.hyper = {{"batch_size", std::int64_t{32}},
                    {"learning_rate", 0.01},
                    {"dropout", 0.0},
                    {"optimizer", std::string("sgd")},
                    {"nesterov", false}};
  EXPECT_EQ(job, expected);
}

TEST(Parse, DefaultsInTheTableAreThoseOfTheJob) {
  const auto base = good(kLenet);
  for (const auto& table : train_fields(kCatalogue)) {
    if (!table.fallback.empty()) {
      EXPECT_EQ(good(kLenet + table.name + ": " + table.fallback), base) << table.name;
    }
    for (const auto& field : table.fields) {
      if (field.fallback.empty()) continue;
      EXPECT_EQ(good(kLenet + table.name + ": {" + field.name + ": " + field.fallback + "}"), base)
          << field.name;
    }
  }
}

TEST(Parse, CommandsTakeTheirWordsAsWritten) {
  const auto job =
      good("kind: train\nprogram: {command: [/usr/bin/python3, train.py, --n, 3, 0.10, true, '']}\n");
  EXPECT_EQ(job.program.command,
            (std::vector<std::string>{"/usr/bin/python3", "train.py", "--n", "3", "0.10", "true", ""}));
  EXPECT_FALSE(job.program.built_in());
  EXPECT_EQ(job.name, "train") << "its script, not the interpreter";
  EXPECT_TRUE(job.hyper.empty());
  EXPECT_EQ(good("kind: train\nprogram: {command: ['./my job!']}\n").name, "my-job-");
  EXPECT_EQ(good("kind: train\nprogram: {command: ['..']}\n").name, "command");
  const auto name_of = [&](const std::string& command) {
    return good("kind: train\nprogram: {command: " + command + "}\n").name;
  };
  EXPECT_EQ(name_of("[python3, -u, src/fit.net.py, --lr, 1]"), "fit.net");
  EXPECT_EQ(name_of("[python3.11, -m, pkg.fit, x.py]"), "pkg.fit");
  EXPECT_EQ(name_of("[python3, -c, 'print(1)']"), "python3");
  EXPECT_EQ(name_of("[bash, ./run.sh]"), "run");
  EXPECT_EQ(name_of("[python3]"), "python3");
  EXPECT_EQ(name_of("[./go.sh, train.py]"), "go.sh");
}

TEST(Parse, APlainCommandHasNoEpochs) {
  const auto job = good("kind: train\nprogram: {command: [date], plain: true, folder: /tmp}\n");
  EXPECT_TRUE(job.program.plain);
  EXPECT_EQ(job.epochs, 0);
  EXPECT_EQ(job.program.folder, "/tmp");
  expect_issue("kind: train\nprogram: {command: [date], plain: true}\nhyper: {epochs: 3}\n",
               "3:17: hyper.epochs: a plain program reports no epochs");
  expect_issue("kind: train\nprogram: {model: lenet5, dataset: digits, plain: true}\n",
               "2:10: program.plain: goes with a command");
  expect_issue("kind: train\nprogram: {command: [date], folder: ../up}\n", "2:36: program.folder: ");
}

TEST(Parse, WhatIsPreloaded) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(good(kCommand).program.preload, Words{"off"});
  EXPECT_EQ(good("kind: train\nprogram: {command: [./go], preload: auto}\n").program.preload, Words{"auto"});
  EXPECT_EQ(good("kind: train\nprogram: {command: [./go], preload: [torch, os.path]}\n").program.preload,
            (Words{"torch", "os.path"}));
  expect_issue("kind: train\nprogram: {command: [./go], preload: [torch, off]}\n", "2:37: program.preload: ");
  expect_issue("kind: train\nprogram: {model: lenet5, dataset: digits, preload: auto}\n", "2:52: program.preload: ");
}

TEST(Parse, HowGpusAreSetSurvivesTheJournal) {
  const auto job = good(kCommand +
                        "system: {gpus: 2, gpu_memory: 20GiB, gpu_power: 300W, gpu_clock: 1.2GHz, "
                        "precision: bf16}\n");
  EXPECT_EQ(job.system, (Resources{1, 0, 1.0, 2, 20 * kGiB, Watts{300}, 1.2e9, Precision::bf16}));
  EXPECT_EQ(train_job_from_json(to_json(job)), job);
  expect_issue(kCommand + "system: {gpu_power: 300W}\n", "3:21: system.gpu_power: is of GPUs: ask for some");
  expect_issue(kCommand + "system: {gpus: 1, gpu_power: 300}\n",
               "3:30: system.gpu_power: '300' needs a unit");
  expect_issue(kCommand + "system: {gpus: 1, gpu_clock: 0Hz}\n", "3:30: system.gpu_clock: must be above");
  expect_issue(kCommand + "system: {gpus: 1, precision: fp8}\n",
               "3:30: system.precision: 'fp8' is not one of: fp32, tf32, bf16, fp16");
  expect_issue(kCommand + "system: {gpus: 1, gpu_power: {choice: [300W, 500W]}}\n",
               "3:30: system.gpu_power: ");
}

TEST(Parse, WhatASchedulerShouldKnowSurvivesTheJournal) {
  auto job =
      good(kCommand +
           "system: {cores: 2, gpus: 1, nodes: 3}\n"
           "place: {priority: 7, energy_weight: 80%, deadline: 2h, architecture: arm64, accelerator: V100,\n"
           "        labels: [ssd, '!spot'], takes: 20min, family: k-means, work: 500, loss: 15%,\n"
           "        bandwidth: 10Gb/s}\n");
  EXPECT_EQ(job.place.priority, 7);
  EXPECT_DOUBLE_EQ(*job.place.energy_weight, 0.8);
  EXPECT_DOUBLE_EQ(job.place.deadline->value, 7200);
  EXPECT_DOUBLE_EQ(job.place.seconds->value, 1200);
  EXPECT_EQ(job.place.labels, (std::vector<std::string>{"ssd", "!spot"}));
  EXPECT_EQ(job.system.gpus, 1);
  EXPECT_DOUBLE_EQ(job.place.loss, 0.15);
  EXPECT_DOUBLE_EQ(job.place.bandwidth, 1.25e9);
  EXPECT_EQ(job.nodes, 3);
  EXPECT_EQ(train_job_from_json(to_json(job)), job);
  expect_issue(kCommand + "place: {work: 3}\n", "3:15: place.work: means something beside a family only");
  expect_issue(kCommand + "place: {accelerator: V100}\n", "3:22: place.accelerator: is the type of GPUs");
  expect_issue(kCommand + "place: {bandwidth: 10}\n", "3:20: place.bandwidth: '10' needs a unit");
}

TEST(Parse, CommandsHaveFreeHyperparameters) {
  const auto job =
      good(kCommand + "hyper: {depth: 3, rate: 1e-3, mode: fast, deep: false, text: '3', epochs: 4}\n");
  EXPECT_EQ(job.hyper, (Values{{"depth", std::int64_t{3}},
                               {"rate", 0.001},
                               {"mode", std::string("fast")},
                               {"deep", false},
                               {"text", std::string("3")}}));
  EXPECT_EQ(job.epochs, 4);
  const auto nested = good(kCommand + "hyper: {layers: [1, 2], optimizer: {name: sgd, betas: [0.9, 1]}}\n");
  EXPECT_EQ(nested.hyper, (Values{{"layers", Structure{"[1,2]"}},
                                  {"optimizer.name", std::string("sgd")},
                                  {"optimizer.betas", Structure{"[0.9,1]"}}}));
  EXPECT_EQ(nested.groups, std::vector<std::string>{"optimizer"});
  expect_issue(kCommand + "hyper: {rate:}", "3:9: hyper.rate: must be one value");
  expect_issue(kCommand + "hyper: {rate: .nan}", "3:15: hyper.rate: infinity and not-a-number");
  expect_issue(kCommand + "hyper: {'a b': 1}", "3:9: hyper.a b: a name has");
}

TEST(Parse, ReportsEverythingAtOnceInOrder) {
  const auto [job, issues] = parse(R"(kind: train
nmae: x
program:
  model: lenet
  dataset: digits
  dataset: mnist
hyper:
  epochs: 0
system:
  cores: two
  memory: 2048
  sped: 80%
limits: {stall: 10}
)");
  EXPECT_FALSE(job);
  std::vector<std::string> lines;
  for (const auto& issue : issues) lines.push_back(text(issue));
  EXPECT_EQ(
      lines,
      (std::vector<std::string>{
          "job.yaml:2:1: nmae: unknown key; known are kind, name, program, hyper, system, seed, limits, "
          "checkpoints, energy, place (did you mean 'name'?)",
          "job.yaml:4:10: program.model: 'lenet' is not one of: lenet5, lstm, jacobi (did you mean "
          "'lenet5'?)",
          "job.yaml:6:3: key 'dataset' is given twice",
          "job.yaml:8:11: hyper.epochs: must be at least 1 and at most 1000000, not '0'",
          "job.yaml:10:10: system.cores: must be a whole number, not 'two'",
          "job.yaml:11:11: system.memory: '2048' needs a unit: write it like 2GiB",
          "job.yaml:12:3: system.sped: unknown key; known are cores, memory, speed, gpus, gpu_memory, "
          "gpu_power, "
          "gpu_clock, precision, nodes (did you "
          "mean "
          "'speed'?)",
          "job.yaml:13:17: limits.stall: '10' needs a unit: write it like 90s, 10min or 2h",
      }));
}

TEST(Parse, OneUserErrorListsAllIssues) {
  EXPECT_EQ(require_train(kLenet, "job.yaml", kCatalogue), good(kLenet));
  try {
    require_train(kLenet + "sead: 1\nseed: x\n", "job.yaml", kCatalogue);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "job.yaml:3:1: sead: unknown key; known are kind, name, program, hyper, system, seed, limits, "
        "checkpoints, energy, place (did you mean 'seed'?)\n"
        "job.yaml:4:7: seed: must be a whole number, not 'x'");
  }
}

TEST(Parse, AnEndlessListOfIssuesIsCut) {
  std::string text = kLenet;
  for (int i = 0; i < 150; ++i) text += "zz" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(parse(text).issues.size(), 150u);
  try {
    require_train(text, "job.yaml", kCatalogue);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_TRUE(std::string(error.what()).ends_with("\n... and 50 more"));
  }
}

TEST(Parse, KindIsRequiredAndKnown) {
  expect_issue("program: {command: [x]}\n", "1:1: kind: is required");
  expect_issue("kind: tune\nsearch: {}\n",
               "1:7: kind: is tune, which `tandem tune` runs; here it must be train");
  expect_issue("kind: trian\n",
               "1:7: kind: 'trian' is not a kind this version of Tandem can run; known kinds: train, tune");
  EXPECT_TRUE(mentions(parse("kind: trian\n"), "did you mean 'train'?"));
  expect_issue("kind: [train]\nprogram: {command: [x]}\n", "1:7: kind: must be one of train, not a list");
  expect_issue("just words\n", "1:1: must be a map of keys");
}

TEST(Parse, NamesAreSafeForFilesAndTerminals) {
  EXPECT_EQ(good(kLenet + "name: A_b.c-9\n").name, "A_b.c-9");
  EXPECT_EQ(good(kLenet + "name: " + std::string(64, 'x')).name.size(), 64u);
  expect_issue(kLenet + "name: " + std::string(65, 'x'), "3:7: name: has 65 bytes; at most 64");
  for (const char* bad : {"a/b", "'a b'", "..", "'-x'", "\"\\e[31m\"", "\"a\\nb\"", "''", "h\xc3\xa9"})
    EXPECT_TRUE(mentions(parse(kLenet + "name: " + bad), "must be letters, digits")) << bad;
  expect_issue(kLenet + "name: 2024\n", "3:7: name: must be letters");
  EXPECT_TRUE(mentions(parse(kLenet + "name: 2024\n"), "needs quotes"));
}

TEST(Parse, ProgramHasExactlyOneForm) {
  expect_issue("kind: train\n", "1:1: program: is required");
  expect_issue("kind: train\nprogram: {}\n", "2:10: program: say what to run");
  expect_issue("kind: train\nprogram: lenet5\n", "2:10: program: must be a map");
  expect_issue("kind: train\nprogram: {model: lenet5}\n",
               "2:10: program.dataset: is required beside model: one of digits, mnist");
  expect_issue("kind: train\nprogram: {dataset: digits}\n", "2:10: program.model: is required");
  expect_issue("kind: train\nprogram: {model: lenet5, dataset: digits, command: [x]}\n",
               "2:10: program: give either");
  expect_issue("kind: train\nprogram: {model: lenet5, command: [x]}\n", "2:10: program: give either");
}

TEST(Parse, ModelAndDatasetAreKnownAndFit) {
  expect_issue("kind: train\nprogram: {model: lenet5, dataset: minst}\n",
               "2:35: program.dataset: 'minst' is not one of");
  EXPECT_TRUE(
      mentions(parse("kind: train\nprogram: {model: lenet5, dataset: minst}\n"), "did you mean 'mnist'?"));
  expect_issue("kind: train\nprogram: {model: lstm, dataset: digits}\n",
               "2:33: program.dataset: 'digits' is image data, but model 'lstm' learns from text data: "
               "choose one of debian");
  EXPECT_FALSE(parse_train(kLenet, "job.yaml", Catalogue{}).job) << "an empty catalogue knows no model";
}

TEST(Parse, CommandsMustNameAProgram) {
  expect_issue("kind: train\nprogram: {command: python3 train.py}\n",
               "2:20: program.command: must be a list of words");
  expect_issue("kind: train\nprogram: {command: []}\n", "2:20: program.command: must name a program");
  expect_issue("kind: train\nprogram: {command: ['', x]}\n", "2:20: program.command: must name a program");
  expect_issue("kind: train\nprogram: {command: [x, [y]]}\n",
               "2:24: program.command[1]: must be a word, not a list");
  expect_issue("kind: train\nprogram: {command: [x, ~]}\n",
               "2:24: program.command[1]: must be a word, not nothing");
  expect_issue("kind: train\nprogram: {command: [x, \"a\\0b\"]}\n",
               "2:24: program.command[1]: a word of a command cannot hold a zero");
}

TEST(Parse, HyperparametersFollowTheModelsRules) {
  EXPECT_EQ(good(kLenet + "hyper: {learning_rate: 1}\n").hyper["learning_rate"], Value(1.0))
      << "reals stay reals";
  expect_issue(kLenet + "hyper: {batchsize: 4}",
               "3:9: hyper.batchsize: model 'lenet5' has no such hyperparameter; it has epochs, batch_size");
  EXPECT_TRUE(mentions(parse(kLenet + "hyper: {batchsize: 4}"), "did you mean 'batch_size'?"));
  expect_issue(kLenet + "hyper: {batch_size: 64.0}",
               "3:21: hyper.batch_size: must be a whole number, not '64.0'");
  expect_issue(kLenet + "hyper: {batch_size: '64'}", "3:21: hyper.batch_size: must be a whole number");
  expect_issue(kLenet + "hyper: {batch_size: 0}",
               "3:21: hyper.batch_size: must be at least 1 and at most 65536");
  expect_issue(kLenet + "hyper: {dropout: 0.95}", "3:18: hyper.dropout: must be at least 0 and at most 0.9");
  expect_issue(kLenet + "hyper: {dropout: .inf}", "3:18: hyper.dropout: infinity");
  expect_issue(kLenet + "hyper: {optimizer: amad}",
               "3:20: hyper.optimizer: 'amad' is not one of: sgd, adam (did you mean 'adam'?)");
  expect_issue(kLenet + "hyper: {optimizer: 3}", "3:20: hyper.optimizer: must be one of sgd, adam, not '3'");
  expect_issue(kLenet + "hyper: {nesterov: yes}", "3:19: hyper.nesterov: must be true or false, not 'yes'");
  expect_issue(kLenet + "hyper: {batch_size: }",
               "3:9: hyper.batch_size: must be a whole number, not nothing");
  expect_issue(kLenet + "hyper: [1]", "3:8: hyper: must be a map");
}

TEST(Parse, EpochsAreCountedByTandem) {
  const auto job = good(kLenet + "hyper: {epochs: 1000000}");
  EXPECT_EQ(job.epochs, 1'000'000);
  EXPECT_FALSE(job.hyper.contains("epochs"));
  expect_issue(kLenet + "hyper: {epochs: 1000001}",
               "3:17: hyper.epochs: must be at least 1 and at most 1000000");
  expect_issue(kLenet + "hyper: {epochs: 99999999999999999999}",
               "3:17: hyper.epochs: the number is too large");
}

TEST(Parse, AModelMayHaveItsOwnRuleForEpochs) {
  const std::string jacobi = "kind: train\nprogram: {model: jacobi, dataset: kernels}\n";
  EXPECT_EQ(good(jacobi).epochs, 50);
  EXPECT_FALSE(good(jacobi).hyper.contains("epochs"));
  EXPECT_EQ(good(jacobi + "hyper: {epochs: 500}").epochs, 500);
  expect_issue(jacobi + "hyper: {epochs: 501}", "3:17: hyper.epochs: must be at least 1 and at most 500");
}

TEST(Parse, SystemNumbersHaveUnitsAndRanges) {
  EXPECT_EQ(good(kLenet + "system: {speed: 0.5}").system.speed, 0.5);
  EXPECT_EQ(good(kLenet + "system: {speed: 1}").system.speed, 1.0);
  EXPECT_EQ(good(kLenet + "system: {memory: 1.5 GiB}").system.memory, kGiB * 3 / 2);
  expect_issue(kLenet + "system: {cores: 0}", "3:17: system.cores: must be at least 1");
  expect_issue(kLenet + "system: {cores: 1.5}", "3:17: system.cores: must be a whole number");
  expect_issue(kLenet + "system: {cores: 5000000000}",
               "3:17: system.cores: must be at least 1 and at most 65536");
  expect_issue(kLenet + "system: {memory: 0GiB}", "3:18: system.memory: must be above 0 B, not '0GiB'");
  expect_issue(kLenet + "system: {memory: 2GB!}",
               "3:18: system.memory: must be a size such as 2GiB, not '2GB!'");
  expect_issue(kLenet + "system: {speed: 80}",
               "3:17: system.speed: must be above 0% and at most 100%, not '80'; write 80% or 0.8");
  expect_issue(kLenet + "system: {speed: 0%}", "3:17: system.speed: must be above 0%");
  expect_issue(kLenet + "system: {speed: fast}",
               "3:17: system.speed: must be a share such as 80% or 0.8, not 'fast'");
}

TEST(Parse, DomainsAreForTuning) {
  for (const char* domain : {"{choice: [1, 2]}", "{range: [0, 1]}", "{log: [1e-4, 1]}", "{int: [1, 8]}"}) {
    for (const char* place :
         {"hyper: {learning_rate: ", "hyper: {epochs: ", "system: {cores: ", "system: {memory: "})
      EXPECT_TRUE(
          mentions(parse(kLenet + place + domain + "}"), "`tandem tune`, `characterize` and `advise`"))
          << place;
    EXPECT_TRUE(mentions(parse(kCommand + "hyper: {x: " + domain + "}"), "`tandem tune`")) << domain;
  }
  EXPECT_TRUE(mentions(parse(kLenet + "hyper: {dropout: {range: [0, 0.5], when: {optimizer: sgd}}}"),
                       "`tandem tune`"));
  expect_issue(kLenet + "system: {cores: {int: [1, 8]}}", "3:17: system.cores: holds a domain ({int: ...})");
  expect_issue(kLenet + "system: {cores: {ints: [1, 8]}}",
               "3:17: system.cores: must be a whole number, not a map");
  expect_issue(kLenet + "seed: {int: [1, 8]}", "3:7: seed: must be a whole number, not a map");
}

TEST(Parse, LimitsSeedAndCheckpoints) {
  EXPECT_EQ(good(kLenet + "limits: {stall: 200ms}").limits.stall, Seconds{0.2});
  EXPECT_EQ(good(kLenet + "limits: {retries: 0}").limits.retries, 0);
  EXPECT_FALSE(good(kLenet).limits.time);
  EXPECT_EQ(good(kLenet).limits.processes, 4096);
  expect_issue(kLenet + "limits: {processes: 0}", "3:21: limits.processes: must be at least 1");
  EXPECT_EQ(good(kLenet + "seed: 9223372036854775807").seed, INT64_MAX);
  expect_issue(kLenet + "limits: {stall: 0s}", "3:17: limits.stall: must be above 0s");
  expect_issue(kLenet + "limits: {time: 1000d}", "3:16: limits.time: must be above 0s and at most 365 d");
  expect_issue(kLenet + "limits: {retries: -1}", "3:19: limits.retries: must be at least 0");
  expect_issue(kLenet + "seed: -1", "3:7: seed: must be at least 0");
  expect_issue(kLenet + "seed: 1.5", "3:7: seed: must be a whole number");
  expect_issue(kLenet + "checkpoints: {keep: 0}", "3:21: checkpoints.keep: must be at least 1");
}

TEST(Parse, EnergyKeysGoTogether) {
  EXPECT_EQ(good(kLenet + "energy: {source: pdu, url: 'http://meter.lan/p?x=1'}").energy.url,
            "http://meter.lan/p?x=1");
  EXPECT_EQ(good(kLenet + "energy: {source: pdu, url: 'http://[::1]:65535'}").energy.url,
            "http://[::1]:65535");
  EXPECT_EQ(good(kLenet + "energy: {source: model, idle: 0W, busy: 1.2kW}").energy.busy, Watts{1200});
  expect_issue(
      kLenet + "energy: {source: rapi}",
      "3:18: energy.source: 'rapi' is not one of: auto, rapl, nvml, pdu, model, none (did you mean 'rapl'?)");
  expect_issue(kLenet + "energy: {source: pdu}", "3:9: energy.url: is required with source: pdu");
  expect_issue(kLenet + "energy: {source: rapl, url: 'http://x/'}",
               "3:29: energy.url: is used with source: pdu or auto only");
  expect_issue(kLenet + "energy: {idle: 20W}", "3:16: energy: idle and busy go together");
  expect_issue(kLenet + "energy: {busy: 20W}", "3:16: energy: idle and busy go together");
  expect_issue(kLenet + "energy: {idle: 95W, busy: 95W}", "3:16: energy.idle: must be below busy");
  expect_issue(kLenet + "energy: {idle: 20, busy: 95W}",
               "3:16: energy.idle: '20' needs a unit: write it like 95W");
  EXPECT_EQ(parse(kLenet + "energy: {source: rapl, idle: 20W, busy: 95W}").issues.size(), 2u);
  for (const char* bad : {"https://x/", "ftp://x", "x/y", "http://", "http://a b/", "http://u:p@x/",
                          "http://x:0/", "http://x:65536/"})
    EXPECT_TRUE(mentions(parse(kLenet + "energy: {source: pdu, url: '" + bad + "'}"), "must be http://HOST"))
        << bad;
}

TEST(Parse, WhatWasReportedOnceIsNotReportedAgain) {
  expect_issue(kLenet + "system: &s {cores: 2}", "3:9: anchors");
  expect_issue(kLenet + "system: {cores: !!int 2}", "3:17: tags");
  expect_issue("kind: train\nprogram: {command: [x, &y z]}", "2:24: anchors");
}

TEST(Parse, HostileTextStaysOnOneLine) {
  const auto result = parse(kLenet + "\"a\\nb\\e[0m\": 1\nseed: \"x\\ny\"\n");
  ASSERT_EQ(result.issues.size(), 2u);
  for (const auto& issue : result.issues) {
    EXPECT_EQ(text(issue).find('\n'), std::string::npos);
    EXPECT_EQ(text(issue).find('\x1b'), std::string::npos);
  }
}

class SpecFile : public testing::Test {
 protected:
  SpecFile() {
    std::string name = (std::filesystem::temp_directory_path() / "tandem-spec-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~SpecFile() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& content) {
    std::ofstream(folder_ / "job.yaml") << content;
    return folder_ / "job.yaml";
  }
  std::string refusal(const std::filesystem::path& path) {
    try {
      load_train(path, kCatalogue);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
};

TEST_F(SpecFile, IsReadFromDisk) {
  EXPECT_EQ(load_train(write(kLenet), kCatalogue), good(kLenet));
}

TEST_F(SpecFile, ThatCannotBeReadIsTheUsersToFix) {
  EXPECT_NE(refusal(folder_ / "absent.yaml").find("cannot read the spec file"), std::string::npos);
  EXPECT_NE(refusal(folder_).find("is a folder"), std::string::npos);
  EXPECT_NE(refusal(write(std::string(2 << 20, '#'))).find("at most 1048576"), std::string::npos);
  EXPECT_EQ(refusal(write("")).find((folder_ / "job.yaml").string() + ":1:1: the document is empty"), 0u);
}

}  // namespace
}  // namespace tandem::spec
