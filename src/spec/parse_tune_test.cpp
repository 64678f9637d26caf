#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "spec/field.h"
#include "spec/tune_testing.h"

namespace tandem::spec::testing {
namespace {

const char* const kWhole = R"(
kind: tune
name: lenet-digits
program: {model: lenet5, dataset: digits}
search: {algorithm: random, max_epochs: 27, reduction: 4, trials: 50, seed: 7, pruning: median}
hyper:
  batch_size:    {choice: [32, 64, 256, 1024]}
  learning_rate: {log: [0.001, 0.1]}
  dropout:       {range: [0, 0.5], when: {optimizer: sgd}}
  optimizer:     {choice: [sgd, adam]}
constraints: ["batch_size % cores == 0", memory >= 1GiB or speed < 60%]
system:
  cores:  {choice: [2, 1]}
  memory: {choice: [2GiB, 1GiB]}
  speed:  {choice: [100%, 50%]}
objective: {minimise: [train_time, energy], maximise: accuracy, target: 0.98}
budget: {time: 5min, energy: 20kJ}
limits: {stall: 5min, retries: 3}
checkpoints: {keep: 4}
energy: {source: auto, idle: 20W, busy: 95W}
)";

TEST(ParseTune, AWholeSpec) {
  TuneJob expected;
  expected.base.name = "lenet-digits";
  expected.base.program = {"lenet5", "digits", {}};
  expected.base.hyper = {{"nesterov", false}};
  expected.base.epochs = 27;
  expected.base.seed = 7;
  expected.base.limits = {Seconds{300}, {}, 3};
  expected.base.keep_checkpoints = 4;
  expected.base.energy = {"auto", "", Watts{20}, Watts{95}};
  expected.hyper.parameters = {
      {"batch_size", choice({whole(32), whole(64), whole(256), whole(1024)}), {}},
      {"learning_rate", between(Kind::log_real, 0.001, 0.1), {}},
      {"optimizer", choice({word("sgd"), word("adam")}), {}},
      {"dropout", between(Kind::real, 0, 0.5), Condition{"optimizer", {word("sgd")}}},
  };
  for (const char* text : {"batch_size % cores == 0", "memory >= 1GiB or speed < 60%"})
    expected.hyper.constraints.push_back(std::get<Expression>(Expression::parse(text)));
  expected.system = {{1, 2}, {kGiB, 2 * kGiB}, {0.5, 1}};
  expected.search = {"random", 27, 4, 50, 7, "median"};
  expected.objective = {{{"accuracy", true}, {"train_time", false}, {"energy", false}}, 0.98};
  expected.budget = {Seconds{300}, Joules{20'000}};
  EXPECT_EQ(good(kWhole), expected);
}

TEST(ParseTune, WhatIsLeftOutGetsDefaults) {
  TuneJob expected;
  expected.base.name = "lenet5-digits";
  expected.base.program = {"lenet5", "digits", {}};
  expected.base.hyper = {
      {"batch_size", whole(32)}, {"dropout", 0.0}, {"optimizer", word("sgd")}, {"nesterov", false}};
  expected.base.epochs = 9;
  expected.hyper.parameters = {{"learning_rate", between(Kind::log_real, 0.001, 0.1), {}}};
  EXPECT_EQ(good(kLenet + kRate), expected);
  EXPECT_EQ(good(kCommand + kFree).base.name, "go");
  EXPECT_EQ(good(kCommand + kFree).mode, Mode::pipelined);
}

TEST(ParseTune, DefaultsInTheTableAreThoseOfTheJob) {
  const auto base = good(kLenet + kRate);
  std::size_t seen = 0;
  for (const auto& table : tune_fields(kCatalogue)) {
    for (const auto& field : table.fields) {
      if (field.fallback.empty() || !field.instead.empty()) continue;
      ++seen;
      EXPECT_EQ(good(kLenet + kRate + table.name + ": {" + field.name + ": " + field.fallback + "}"), base)
          << field.name;
    }
  }
  EXPECT_GE(seen, 9u);
}

TEST(ParseTune, SharesItsRowsWithTraining) {
  auto train = train_fields(kCatalogue), tune = tune_fields(kCatalogue);
  for (const char* path : {"name", "program.command", "limits.stall", "checkpoints.keep", "energy.busy"}) {
    EXPECT_EQ(field_at(train, path).description, field_at(tune, path).description) << path;
    EXPECT_EQ(field_at(train, path).most, field_at(tune, path).most) << path;
  }
}

TEST(ParseTune, ReportsEverythingAtOnceInOrder) {
  const auto [job, issues] = parse(R"(kind: tune
nmae: x
program: {model: lenet, dataset: digits}
search: {algoritm: random, max_epochs: 0}
hyper:
  epochs: 9
  rate: {log: [0, 1]}
  drop: {rnge: [0, 1]}
constraints: ["rate %"]
system: {cores: {choice: []}, speed: 80}
objective: {maximise: energy}
budget: {time: 5}
limits: {time: 2h}
seed: 1
)");
  EXPECT_FALSE(job);
  std::vector<std::string> lines;
  for (const auto& issue : issues) lines.push_back(text(issue));
  EXPECT_EQ(
      lines,
      (std::vector<std::string>{
          "job.yaml:2:1: nmae: unknown key; known are kind, name, program, search, hyper, constraints, "
          "start, system, "
          "objective, budget, limits, checkpoints, energy, place (did you mean 'name'?)",
          "job.yaml:3:18: program.model: 'lenet' is not one of: lenet5, lstm, jacobi (did you mean "
          "'lenet5'?)",
          "job.yaml:4:10: search.algoritm: unknown key; known are algorithm, max_epochs, reduction, "
          "trials, seed, "
          "pruning (did you mean 'algorithm'?)",
          "job.yaml:4:40: search.max_epochs: must be at least 1 and at most 1000000, not '0'",
          "job.yaml:6:3: hyper.epochs: a search decides how long trials run: write search.max_epochs",
          "job.yaml:7:15: hyper.rate.log: a logarithmic domain begins above 0, not at '0'",
          "job.yaml:8:10: hyper.drop.rnge: is not part of a domain; known are choice, range, log, int, step, "
          "when (did you "
          "mean 'range'?)",
          "job.yaml:9:15: constraints[0]: expected a value after '%' at column 7",
          "job.yaml:10:26: system.cores.choice: must be a list of 1 to 10000 values, not 0 items",
          "job.yaml:10:38: system.speed: must be above 0% and at most 100%, not '80'; write 80% or 0.8",
          "job.yaml:11:23: objective.maximise: energy can only be minimised",
          "job.yaml:12:16: budget.time: '5' needs a unit: write it like 90s, 10min or 2h",
          "job.yaml:13:10: limits.time: is for training; a search has budget.time for the whole job",
          "job.yaml:14:1: seed: a search has its seed among its settings: write search.seed",
      }));
}

TEST(ParseTune, GpusHaveSettingsToChooseFrom) {
  const auto job = good(kCommand + kFree +
                        "system: {gpus: 1, gpu_power: {choice: [700W, 300W, 500W]}, "
                        "gpu_clock: {choice: [1980MHz, 1.2GHz]}, precision: {choice: [bf16, fp32]}}");
  EXPECT_EQ(job.system.gpus, 1);
  EXPECT_EQ(job.system.gpu_power, (std::vector<double>{300, 500, 700}));
  EXPECT_EQ(job.system.gpu_clock, (std::vector<double>{1.2e9, 1.98e9}));
  EXPECT_EQ(job.system.precision, (std::vector<Precision>{Precision::fp32, Precision::bf16}));
  EXPECT_EQ(tune_job_from_json(to_json(job)), job);
  expect_issue(kCommand + kFree + "system: {gpu_power: {choice: [300W, 500W]}}",
               "4:21: system.gpu_power: is of GPUs: ask for some");
  expect_issue(kCommand + kFree + "system: {gpus: 1, gpu_memory: 8GiB, gpu_power: {choice: [300W, 500W]}}",
               "4:48: system.gpu_power: cannot vary where GPUs are shared");
}

TEST(ParseTune, GpuSettingsAreReasonEnoughToSearch) {
  const auto job = good(kCommand + "system: {gpus: 1, gpu_power: {choice: [300W, 500W]}}");
  EXPECT_TRUE(varies(job.system));
}

TEST(ParseTune, ATrialRunsOnOneNode) {
  expect_issue(kCommand + kFree + "system: {nodes: 2}",
               "4:10: system.nodes: is for training; a trial of a search runs on one node");
}

TEST(ParseTune, KindsBelongToTheirCommand) {
  expect_issue("kind: train\nseed: 1\n",
               "1:7: kind: is train, which `tandem train` runs; here it must be tune");
  expect_issue("kind: tuen\n",
               "1:7: kind: 'tuen' is not a kind this version of Tandem can run; known kinds: train, "
               "tune, characterize, sim (did you mean 'tune'?)");
  EXPECT_TRUE(mentions(parse("program: {command: [x]}\n" + kFree), "is required"));
  expect_issue("just words\n", "1:1: must be a map of keys");
  expect_issue("", "1:1: the document is empty; a spec begins with its kind, such as 'kind: train'");
  expect_issue("kind: tune\n" + kFree, "1:1: program: is required");
}

TEST(ParseTune, EpochsAreTheSearchsBusiness) {
  for (const char* hyper : {"{epochs: 3, x: {int: [1, 2]}}", "{epochs: {int: [1, 3]}, x: {int: [1, 2]}}"})
    expect_issue(kCommand + "hyper: " + hyper,
                 "3:9: hyper.epochs: a search decides how long trials run: write search.max_epochs");
  const std::string jacobi = "kind: tune\nprogram: {model: jacobi, dataset: kernels}\n" + kRate;
  EXPECT_EQ(good(jacobi).base.epochs, 9);
  EXPECT_EQ(good(jacobi + "search: {max_epochs: 500}").base.epochs, 500);
  EXPECT_FALSE(good(jacobi).base.hyper.contains("epochs"));
  expect_issue(jacobi + "search: {max_epochs: 501}",
               "4:22: search.max_epochs: must be at least 1 and at most 500");
  auto catalogue = kCatalogue;
  catalogue.models[2].hyper[2].fallback = std::int64_t{2};
  catalogue.models[2].hyper[2].high = 3;
  EXPECT_EQ(parse_tune(jacobi, "f", catalogue).job->search.max_epochs, 2)
      << "9 is more than the model allows";
}

TEST(ParseTune, SomethingMustVary) {
  const std::string nothing = "hyper: nothing varies: give a hyperparameter or a system parameter a domain";
  expect_issue(kLenet, "1:1: " + nothing);
  EXPECT_TRUE(mentions(parse(kLenet), "one configuration is for `tandem train`"));
  expect_issue(kLenet + "hyper: {batch_size: 64}\nsystem: {cores: 2}", "3:8: " + nothing);
  expect_issue(kLenet + "hyper: {batch_size: {choice: [64]}}", "3:8: " + nothing);
  expect_issue(kLenet + "system: {cores: {choice: [2]}}", "1:1: " + nothing);
  expect_issue(kLenet + "hyper: {dropout: {range: [0, 0.5], when: {optimizer: adam}}}", "3:8: " + nothing);
  EXPECT_EQ(good(kLenet + "system: {cores: {choice: [1, 2]}}").hyper.parameters.size(), 0u);
  EXPECT_EQ(good(kLenet + "system: {speed: {choice: [50%, 100%]}}").system.speed.size(), 2u);
  EXPECT_EQ(parse(kLenet + "budget: {time: 3}").issues.size(), 2u) << "said beside other issues, too";
}

TEST(ParseTune, WhatAnOptionGivesHasTheRangeOfItsKey) {
  EXPECT_EQ(given_for("tune", "search.trials", "--trials", 7), 7);
  const auto refused = [](const std::string& kind, const std::string& key, std::int64_t value) -> std::string {
    try {
      given_for(kind, key, "--option", value);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refused("tune", "search.trials", 0), "--option: must be at least 1 and at most 100000, not '0'");
  EXPECT_EQ(refused("tune", "search.trials", 100'001), "--option: must be at least 1 and at most 100000, not '100001'");
  EXPECT_EQ(refused("tune", "search.seed", -1), "--option: must be at least 0, not '-1'");
  EXPECT_EQ(refused("train", "seed", -1), "--option: must be at least 0, not '-1'");
  EXPECT_EQ(refused("characterize", "experiment.seed", -1), "--option: must be at least 0, not '-1'");
}

TEST(ParseTune, SearchesHaveRanges) {
  const auto search = [](const std::string& written) {
    return good(kLenet + kRate + "search: {" + written + "}").search;
  };
  EXPECT_EQ(search("max_epochs: 1000000, reduction: 1000, trials: 100000, seed: 9223372036854775807"),
            (SearchSpec{"hyperband", 1'000'000, 1000, 100'000, INT64_MAX, "none"}));
  EXPECT_EQ(search("pruning: halving").pruning, "halving");
  EXPECT_FALSE(search("seed: 0").trials);
  EXPECT_EQ(good(kLenet + kRate + "search: {seed: 5}").base.seed, 5);
  const auto refuse = [](const std::string& written, const std::string& issue) {
    expect_issue(kLenet + kRate + "search: {" + written + "}", issue);
  };
  refuse("algorithm: hyperbnad",
         "4:21: search.algorithm: 'hyperbnad' is not one of: random, hyperband (did you mean 'hyperband'?)");
  refuse("algorithm: 3", "4:21: search.algorithm: must be one of random, hyperband, not '3'");
  refuse("max_epochs: 0", "4:22: search.max_epochs: must be at least 1 and at most 1000000");
  refuse("max_epochs: 1000001", "4:22: search.max_epochs: must be at least 1 and at most 1000000");
  refuse("max_epochs: 1e3", "4:22: search.max_epochs: must be a whole number");
  refuse("reduction: 1", "4:21: search.reduction: must be at least 2 and at most 1000");
  refuse("reduction: 1001", "4:21: search.reduction: must be at least 2 and at most 1000");
  refuse("trials: 0", "4:18: search.trials: must be at least 1 and at most 100000");
  refuse("trials: 99999999999999999999", "4:18: search.trials: the number is too large");
  refuse("seed: -1", "4:16: search.seed: must be at least 0");
  refuse("pruning: some", "4:19: search.pruning: 'some' is not one of: none, halving, median");
  refuse("mode: joint", "4:10: search.mode: unknown key");
  auto catalogue = kCatalogue;
  catalogue.algorithms.clear();
  EXPECT_EQ(parse_tune(kLenet + kRate + "search: {algorithm: mine}", "f", catalogue).job->search.algorithm,
            "mine");
}

TEST(ParseTune, ObjectivesHaveAMainGoal) {
  using Goals = std::vector<Goal>;
  const auto goals = [](const std::string& written) {
    return good(kLenet + kRate + "objective: " + written).objective.goals;
  };
  EXPECT_EQ(good(kLenet + kRate).objective.goals, (Goals{{"accuracy", true}}));
  EXPECT_EQ(goals("{maximise: f1}"), (Goals{{"f1", true}}));
  EXPECT_EQ(goals("{minimise: loss}"), (Goals{{"loss", false}}));
  EXPECT_EQ(goals("{minimise: [train_time, energy], maximise: [a, b]}"),
            (Goals{{"a", true}, {"b", true}, {"train_time", false}, {"energy", false}}));
  EXPECT_EQ(good(kLenet + kRate + "objective: {minimise: loss, target: -3}").objective.target, -3.0);
  EXPECT_EQ(goals("{minimize: [train_time], maximize: f1}"), (Goals{{"f1", true}, {"train_time", false}}))
      << "both spellings";
  EXPECT_EQ(goals("{maximise: val/top-5 accuracy}"), (Goals{{"val/top-5 accuracy", true}}));
  const auto refuse = [](const std::string& written, const std::string& issue) {
    expect_issue(kLenet + kRate + "objective: " + written, issue);
  };
  refuse("{}", "4:12: objective: say what is best, such as {maximise: accuracy}");
  refuse("{target: 0.9}", "4:12: objective: say what is best");
  refuse("{maximise: []}", "4:12: objective: say what is best");
  refuse("accuracy",
         "4:12: objective: must be a map of keys and values (maximise, minimise, target, cost, maximize, "
         "minimize)");
  refuse("{maximise: 3}", "4:23: objective.maximise: must be a word, not '3'");
  refuse("{maximise: [a, [b]]}", "4:27: objective.maximise[1]: must be a word, not a list");
  refuse("{maximise: ''}", "4:23: objective.maximise: must name a metric");
  refuse("{maximise: [a, a]}", "4:27: objective.maximise[1]: 'a' is a goal already");
  refuse("{minimise: a, maximise: a}", "4:23: objective.minimise: 'a' is a goal already");
  refuse("{maximise: train_time}", "4:23: objective.maximise: train_time can only be minimised");
  refuse("{maximise: [a, energy]}", "4:27: objective.maximise[1]: energy can only be minimised");
  refuse("{maximise: " + std::string(129, 'x') + "}", "4:23: objective.maximise: has 129 bytes; at most 128");
  refuse("{maximise: [a,b,c,d,e,f,g,h,i,j,k]}", "4:12: objective: has 11 goals; at most 10");
  refuse("{maximisse: a, minimise: b}",
         "4:13: objective.maximisse: unknown key; known are maximise, minimise, target, cost, maximize, "
         "minimize (did you mean 'maximise'?)");
  refuse("{maximise: a, target: high}", "4:34: objective.target: must be a number");
}

TEST(ParseTune, CostWeighsEnergyAndTime) {
  using Goals = std::vector<Goal>;
  const auto objective = [](const std::string& written) {
    return good(kLenet + kRate + "objective: " + written).objective;
  };
  auto found = objective("{maximise: accuracy, cost: {energy: 0.5, time: 0.5}}");
  EXPECT_EQ(found.goals, (Goals{{"accuracy", true}, {"cost", false}}));
  EXPECT_EQ(found.cost, (CostWeights{0.5, 0.5}));
  found = objective("{minimise: [cost, loss], maximise: a, target: 0.9, cost: {energy: 1, time: 3}}");
  EXPECT_EQ(found.goals, (Goals{{"a", true}, {"cost", false}, {"loss", false}}))
      << "once, where it was named";
  EXPECT_EQ(found.cost, (CostWeights{0.25, 0.75})) << "divided by their sum";
  EXPECT_EQ(found.target, 0.9);
  EXPECT_EQ(objective("{cost: {time: 2}}").cost, (CostWeights{0, 1})) << "what is left out weighs nothing";
  EXPECT_EQ(objective("{cost: {time: 2}}").goals, (Goals{{"cost", false}}));
  EXPECT_FALSE(objective("{minimise: cost}").cost) << "a metric of the program's own";
  const auto refuse = [](const std::string& written, const std::string& issue) {
    expect_issue(kLenet + kRate + "objective: " + written, issue);
  };
  refuse("{cost: {}}", "4:19: objective.cost: one weight must be above 0, such as {energy: 0.5, time: 0.5}");
  refuse("{cost: {energy: 0, time: 0}}", "4:19: objective.cost: one weight must be above 0");
  refuse("{cost: {energy: -1, time: 2}}", "4:28: objective.cost.energy: must be at least 0");
  refuse("{cost: {energy: .nan, time: 2}}", "4:28: objective.cost.energy: infinity and not");
  refuse("{cost: {energy: .inf}}", "4:28: objective.cost.energy: infinity and not");
  refuse("{cost: {power: 1}}", "4:20: objective.cost.power: unknown key; known are energy, time");
  refuse("{cost: 0.5}", "4:19: objective.cost: must be a map of keys and values (energy, time)");
  refuse("{maximise: cost, cost: {time: 1}}", "4:23: objective.maximise: cost can only be minimised");
  refuse("{maximise: [a,b,c,d,e,f,g,h,i,j], cost: {time: 1}}", "4:12: objective: has 11 goals; at most 10");
}

TEST(ParseTune, BudgetsHaveUnits) {
  EXPECT_EQ(good(kLenet + kRate + "budget: {energy: 1.5 kWh}").budget.energy, Joules{5.4e6});
  EXPECT_EQ(good(kLenet + kRate + "budget: {energy: 500J, time: 90s}").budget,
            (Budget{Seconds{90}, Joules{500}}));
  const auto refuse = [](const std::string& written, const std::string& issue) {
    expect_issue(kLenet + kRate + "budget: {" + written + "}", issue);
  };
  refuse("energy: 500", "4:18: budget.energy: '500' needs a unit: write it like 20kJ or 1.5Wh");
  refuse("energy: 0J", "4:18: budget.energy: must be above 0.0 J");
  refuse("energy: 500W", "4:18: budget.energy: must be an energy such as 20kJ or 1.5Wh, not '500W'");
  refuse("time: 0s", "4:16: budget.time: must be above 0s");
  refuse("money: 5", "4:10: budget.money: unknown key; known are time, energy");
}

TEST(ParseTune, SharedChecksHoldHereToo) {
  expect_issue("kind: tune\nprogram: {model: lstm, dataset: digits}\n" + kRate,
               "2:33: program.dataset: 'digits' is image data");
  expect_issue(kLenet + kRate + "energy: {source: pdu}", "4:9: energy.url: is required with source: pdu");
  expect_issue(kLenet + kRate + "limits: {stall: 0s}", "4:17: limits.stall: must be above 0s");
  expect_issue(kLenet + kRate + "name: a/b", "4:7: name: 'a/b' must be letters");
}

TEST(ParseTune, ReportsAndReadsFilesLikeTraining) {
  EXPECT_EQ(require_tune(kWhole, "job.yaml", kCatalogue), good(kWhole));
  try {
    require_tune(kLenet + "sead: 1\nsearch: {seed: x}\n" + kRate, "job.yaml", kCatalogue);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "job.yaml:3:1: sead: unknown key; known are kind, name, program, search, hyper, "
                 "constraints, start, system, "
                 "objective, budget, limits, checkpoints, energy, place\n"
                 "job.yaml:4:16: search.seed: must be a whole number, not 'x'");
  }
  std::string name = (std::filesystem::temp_directory_path() / "tandem-spec-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(name.data());
  std::ofstream(folder / "job.yaml") << kWhole;
  EXPECT_EQ(load_tune(folder / "job.yaml", kCatalogue), good(kWhole));
  EXPECT_THROW(load_tune(folder / "absent.yaml", kCatalogue), UserError);
  std::filesystem::remove_all(folder);
}

TEST(ParseTune, HostileTextStaysOnOneLine) {
  const auto result = parse(kCommand + R"(hyper:
  x: {choice: ["a\nb\e[0m", c], "a\nb": 1}
  y: {int: [1, 2], when: {z: "\e\n"}}
  z: {choice: ["a\n\eb", c]}
  "p\n": {int: [1, 2], when: {"q\e": 1}}
  "q\e": {int: [1, 2], when: {"p\n": 1}}
constraints: ["a\n\e ==", "x == '\e"]
)");
  EXPECT_GE(result.issues.size(), 7u);
  EXPECT_TRUE(mentions(result, "is never"));
  EXPECT_TRUE(mentions(result, "in a circle"));
  for (const auto& issue : result.issues) {
    EXPECT_EQ(text(issue).find('\n'), std::string::npos) << text(issue);
    EXPECT_EQ(text(issue).find('\x1b'), std::string::npos) << text(issue);
  }
}

}  // namespace
}  // namespace tandem::spec::testing
