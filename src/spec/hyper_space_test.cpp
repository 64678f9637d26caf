#include "spec/tune_testing.h"

namespace tandem::spec::testing {
namespace {

TEST(HyperSpace, FixedValuesFollowTheRulesToo) {
  const auto job = good(kLenet + "hyper: {dropout: {range: [0, 0.5]}, batch_size: 64, learning_rate: 1}");
  EXPECT_EQ(job.base.hyper, (Values{{"batch_size", whole(64)},
                                    {"learning_rate", 1.0},
                                    {"optimizer", word("sgd")},
                                    {"nesterov", false}}));
  expect_issue(kLenet + "hyper: {dropout: {range: [0, 0.5]}, batch_size: 0}",
               "3:49: hyper.batch_size: must be at least 1 and at most 65536");
}

TEST(HyperSpace, ConditionsNameValuesAnotherCanHave) {
  const auto job = good(kCommand + R"(hyper:
  width: {int: [1, 64], when: {layers: [2, 3.0]}}
  layers: {int: [1, 3]}
  nesterov: {choice: [true, false], when: {momentum: 0.5}}
  momentum: {range: [0, 0.99], when: {optimizer: sgd}}
  optimizer: {choice: [sgd, adam]}
)");
  EXPECT_EQ(order(job), (std::vector<std::string>{"layers", "width", "optimizer", "momentum", "nesterov"}));
  const auto& parameters = job.hyper.parameters;
  EXPECT_EQ(parameters[1].when, (Condition{"layers", {whole(2), 3.0}}));
  EXPECT_EQ(parameters[3].when, (Condition{"optimizer", {word("sgd")}}));
  EXPECT_EQ(parameters[4].when, (Condition{"momentum", {0.5}}));
  EXPECT_FALSE(parameters[0].when);
}

TEST(HyperSpace, GroupsAreWrittenAsMaps) {
  const auto job = good(kCommand + R"(hyper:
  optimizer:
    name: {choice: [sgd, adam]}
    momentum: {range: [0, 0.99], when: {name: sgd}}
    schedule: {kind: {choice: [cosine, flat]}, warmup: 3}
  name: {choice: [sgd, x]}
  width: {int: [1, 64], when: {optimizer.name: adam}}
constraints: ["optimizer.momentum < 0.9"]
)");
  EXPECT_EQ(order(job), (std::vector<std::string>{"optimizer.name", "optimizer.momentum",
                                                  "optimizer.schedule.kind", "name", "width"}));
  EXPECT_EQ(job.hyper.parameters[1].when, (Condition{"optimizer.name", {word("sgd")}}))
      << "its own group's first";
  EXPECT_EQ(job.hyper.parameters[4].when, (Condition{"optimizer.name", {word("adam")}}));
  EXPECT_EQ(job.base.hyper, (Values{{"optimizer.schedule.warmup", whole(3)}}));
  EXPECT_EQ(job.base.groups, (std::vector<std::string>{"optimizer", "optimizer.schedule"}));
  EXPECT_TRUE(good(kCommand + "hyper: {a.b: {int: [1, 2]}}").base.groups.empty())
      << "a dot alone is part of a name";
}

TEST(HyperSpace, WhatIsNoGroupSaysSo) {
  expect_issue(kCommand + "hyper: {x: {choise: [1, 2]}}",
               "3:13: hyper.x.choise: is not part of a domain; known are choice, range, log, int");
  expect_issue(kCommand + "hyper: {o.n: {int: [1, 2]}, o: {n: 3}}", "3:33: hyper.o.n: is given twice");
  expect_issue(kCommand + "hyper: {o: {n: {int: [1, 2]}, when: {x: 1}}, x: 1}",
               "3:13: hyper.o.n: is not part of a domain");
  expect_issue(kLenet + "hyper: {optimizer: {name: {choice: [sgd, adam]}}}",
               "3:21: hyper.optimizer.name: is not part of a domain");
}

TEST(HyperSpace, ASearchMayStartAtKnownPoints) {
  const std::string space = kCommand + R"(hyper:
  rate: {log: [0.001, 1]}
  layers: {int: [2, 8], step: 2}
  optimizer: {name: {choice: [sgd, adam]}, momentum: {range: [0, 0.99], when: {name: sgd}}}
  fixed: 3
constraints: ["layers < 8 or rate < 0.5"]
)";
  const auto job = good(space + R"(start:
  - {rate: 1, layers: 4, optimizer: {name: sgd, momentum: 0}, fixed: 3}
  - {rate: 0.01}
)");
  EXPECT_EQ(
      job.search.start,
      (std::vector<Values>{
          {{"rate", 1.0}, {"layers", whole(4)}, {"optimizer.name", word("sgd")}, {"optimizer.momentum", 0.0}},
          {{"rate", 0.01}}}));
  const auto refuse = [&](const std::string& start, const std::string& issue) {
    expect_issue(space + "start: " + start, issue);
  };
  refuse("[{rat: 1}]", "9:10: start[0].rat: names no hyperparameter of this spec (did you mean 'rate'?)");
  refuse("[{rate: 2}]", "9:16: start[0].rate: is never '2': 'rate' lies between 0.001 and 1");
  refuse("[{layers: 3}]", "9:18: start[0].layers: is never '3': 'layers' lies between 2 and 8 in steps of 2");
  refuse("[{fixed: 4}]", "9:17: start[0].fixed: is '4', and 'fixed' is fixed to '3'");
  refuse("[{optimizer: adam}]", "9:21: start[0].optimizer: is a group: must be a map, not 'adam'");
  refuse("[{optimizer: {name: adam, momentum: 0}}]",
         "9:9: start[0].optimizer.momentum: does not exist where optimizer.name is 'adam'");
  refuse("[{rate: 0.9, layers: 8}]",
         "9:9: start[0]: does not meet the constraint 'layers < 8 or rate < 0.5'");
  refuse("{rate: 0.9}", "9:8: start: must be a list, each item a map of keys and values, not a map");
  refuse("[{rate: 0.1}, {rate: 0.2}]\nsearch: {trials: 1}",
         "9:8: start: has 2 points, and search.trials is 1");
  auto catalogue = kCatalogue;
  catalogue.algorithms.push_back({"grid", "every combination"});
  EXPECT_TRUE(
      mentions(parse_tune(space + "start: [{rate: 0.1}]\nsearch: {algorithm: grid}", "job.yaml", catalogue),
               "is of no use to a grid"));
}

TEST(HyperSpace, OrderIsAsWrittenWherePossible) {
  EXPECT_EQ(order(good(kCommand + R"(hyper:
  m: {int: [0, 9], when: {o: 1}}
  x: {int: [0, 9]}
  o: {int: [0, 9]}
  y: {int: [0, 9]}
  n: {int: [0, 9], when: {m: 1}}
)")),
            (std::vector<std::string>{"x", "o", "m", "y", "n"}));
}

TEST(HyperSpace, BadConditionsAreRefused) {
  const auto refuse = [](const std::string& when, const std::string& issue) {
    expect_issue(
        kCommand +
            "hyper:\n  o: {choice: [sgd, adam]}\n  n: {int: [1, 3]}\n  f: 1\n  m: {int: [0, 9], when: " +
            when + "}\n",
        issue);
  };
  refuse(
      "sgd",
      "7:26: hyper.m.when: must name one hyperparameter and its values, such as {optimizer: sgd}, not 'sgd'");
  refuse("[o]",
         "7:26: hyper.m.when: must name one hyperparameter and its values, such as {optimizer: sgd}, not a "
         "list");
  refuse("{}",
         "7:26: hyper.m.when: must name one hyperparameter and its values, such as {optimizer: sgd}, not 0 "
         "keys");
  refuse("{o: sgd, n: 1}",
         "7:26: hyper.m.when: must name one hyperparameter and its values, such as {optimizer: sgd}, not 2 "
         "keys");
  refuse("{oo: sgd}", "7:27: hyper.m.when.oo: names no hyperparameter of this spec");
  refuse("{cores: 2}", "7:27: hyper.m.when.cores: names no hyperparameter");
  refuse("{epochs: 2}", "7:27: hyper.m.when.epochs: names no hyperparameter");
  refuse("{o: sdg}", "7:30: hyper.m.when.o: is never 'sdg': 'o' is one of 'sgd', 'adam'");
  refuse("{o: [sgd, 3]}", "7:30: hyper.m.when.o: is never '3': 'o' is one of 'sgd', 'adam'");
  refuse("{n: 4}", "7:30: hyper.m.when.n: is never '4': 'n' lies between 1 and 3");
  refuse("{n: 1.5}", "7:30: hyper.m.when.n: is never '1.5'");
  refuse("{n: }", "7:27: hyper.m.when.n: must be one value");
  refuse("{n: []}", "7:30: hyper.m.when.n: must be a list of 1 to 10000 values, not 0 items");
  refuse("{n: [1, 1]}", "7:34: hyper.m.when.n[1]: '1' is given twice");
  refuse("{n: {int: [1, 2]}}", "7:30: hyper.m.when.n: must be one value");
  refuse("{m: 3}", "7:26: hyper.m.when: conditions go in a circle: 'm' needs 'm'");
  refuse("&a {o: sgd}", "7:26: anchors");
}

TEST(HyperSpace, ConditionsOfAModelFollowItsRules) {
  expect_issue(kLenet + "hyper: {dropout: {range: [0, 0.5], when: {optimizer: sgdd}}}",
               "3:54: hyper.dropout.when.optimizer: 'sgdd' is not one of: sgd, adam (did you mean 'sgd'?)");
  expect_issue(kLenet + "hyper: {dropout: {range: [0, 0.5], when: {batch_size: 1.5}}}",
               "3:55: hyper.dropout.when.batch_size: must be a whole number");
  expect_issue(
      kLenet + "hyper: {dropout: {range: [0, 0.5], when: {optimiser: sgd}}}",
      "3:43: hyper.dropout.when.optimiser: names no hyperparameter of this spec (did you mean 'optimizer'?)");
  const auto job =
      good(kLenet +
           "hyper: {dropout: {range: [0, 0.5], when: {learning_rate: 1}}, learning_rate: {choice: [1, 2]}}");
  EXPECT_EQ(job.hyper.parameters[1].when, (Condition{"learning_rate", {1.0}})) << "reals stay reals";
}

TEST(HyperSpace, CirclesOfConditionsAreReportedOnce) {
  expect_issue(kCommand + R"(hyper:
  a: {int: [0, 9], when: {b: 1}}
  b: {int: [0, 9], when: {c: 1}}
  c: {int: [0, 9], when: {b: 2}}
  d: {int: [0, 9], when: {a: 2}}
)",
               "5:26: hyper.b.when: conditions go in a circle: 'b' needs 'c' needs 'b'");
  EXPECT_EQ(parse(kCommand + R"(hyper:
  a: {int: [0, 9], when: {b: 1}}
  b: {int: [0, 9], when: {a: 1}}
  c: {int: [0, 9], when: {d: 1}}
  d: {int: [0, 9], when: {c: 1}}
)")
                .issues.size(),
            2u);
}

TEST(HyperSpace, ConditionsOnWhatIsFixedAreDecided) {
  const auto written = [](const char* optimizer) {
    return kCommand + "hyper:\n  o: " + optimizer + R"(
  m: {int: [0, 9], when: {o: [sgd, lion]}}
  n: {int: [0, 9], when: {m: 3}}
  x: {int: [0, 9]}
)";
  };
  const auto met = good(written("sgd"));
  EXPECT_EQ(order(met), (std::vector<std::string>{"m", "n", "x"}));
  EXPECT_FALSE(met.hyper.parameters[0].when);
  EXPECT_EQ(met.hyper.parameters[1].when, (Condition{"m", {whole(3)}}));
  const auto gone = good(written("adam"));
  EXPECT_EQ(order(gone), (std::vector<std::string>{"x"})) << "gone, and what depends on it too";
  EXPECT_EQ(gone.base.hyper, (Values{{"o", word("adam")}}));
}

TEST(HyperSpace, AModelsDefaultIsFixedToo) {
  const auto met = good(kLenet + "hyper: {dropout: {range: [0, 0.5], when: {optimizer: sgd}}}");
  EXPECT_FALSE(met.hyper.parameters[0].when);
  EXPECT_EQ(
      order(good(kLenet +
                 "hyper: {dropout: {range: [0, 0.5], when: {optimizer: sgd}}, batch_size: {int: [1, 8]}}")),
      (std::vector<std::string>{"dropout", "batch_size"}))
      << "it need not wait for what is fixed";
  const auto gone = good(
      kLenet + "hyper: {dropout: {range: [0, 0.5], when: {optimizer: adam}}, batch_size: {int: [1, 8]}}");
  EXPECT_EQ(order(gone), (std::vector<std::string>{"batch_size"}));
  EXPECT_FALSE(gone.base.hyper.contains("dropout")) << "it does not exist";
  EXPECT_TRUE(gone.base.hyper.contains("optimizer"));
}

TEST(HyperSpace, LongChainsOfConditionsAreQuick) {
  std::string text = kCommand + "hyper:\n";
  for (int i = 0; i < 499; ++i)
    text += "  p" + std::to_string(i) + ": {int: [0, 9], when: {p" + std::to_string(i + 1) + ": 1}}\n";
  const auto job = good(text + "  p499: {int: [0, 9]}\n");
  ASSERT_EQ(job.hyper.parameters.size(), 500u);
  EXPECT_EQ(job.hyper.parameters[0].name, "p499");
  EXPECT_EQ(job.hyper.parameters[499].name, "p0");
  expect_issue(text + "  p499: {int: [0, 9]}\n  p500: 1\n",
               "4:3: hyper: has 501 hyperparameters; at most 500");
}

TEST(HyperSpace, NamesOfSystemParametersAreTaken) {
  for (const char* name : {"cores", "memory", "speed"})
    EXPECT_TRUE(mentions(parse(kCommand + "hyper: {" + name + ": {int: [1, 2]}}"),
                         "is the name of a system parameter"));
  expect_issue(kCommand + "hyper: {'a b': {int: [1, 2]}}", "3:9: hyper.a b: a name has");
}

TEST(HyperSpace, ConstraintsSpeakOfKnownNames) {
  const auto job =
      good(kLenet + kRate +
           "constraints: [learning_rate > dropout, 'batch_size % cores == 0', memory > 1GiB, speed < 1]");
  EXPECT_EQ(job.hyper.constraints.size(), 4u);
  EXPECT_EQ(job.hyper.constraints[1].text(), "batch_size % cores == 0");
  EXPECT_EQ(good(kLenet + kRate + "constraints: cores > 1").hyper.constraints.size(), 1u);
  EXPECT_TRUE(good(kLenet + kRate + "constraints: []").hyper.constraints.empty());
  const auto refuse = [](const std::string& constraints, const std::string& issue) {
    expect_issue(kLenet + kRate + "constraints: " + constraints, issue);
  };
  refuse("[batchsize > 1]",
         "4:15: constraints[0]: batchsize is neither a hyperparameter nor cores, memory or speed (did you "
         "mean 'batch_size'?); words are written in quotes");
  refuse("[optimizer == sgd or a]", "4:15: constraints[0]: a, sgd are neither hyperparameters nor cores");
  refuse("[epochs > 1]", "4:15: constraints[0]: epochs is neither");
  refuse("[cores > 1, batch_size % cores]", "4:26: constraints[1]: is a number, not a condition");
  refuse("[true]", "4:15: constraints[0]: must be a word, not 'true'");
  refuse("[3]", "4:15: constraints[0]: must be a word");
  refuse("{a: b}", "4:14: constraints: must be a word, not a map");
  refuse("[[cores > 1]]", "4:15: constraints[0]: must be a word, not a list");
  refuse("['']", "4:15: constraints[0]: is empty");
  refuse("['" + std::string(100'000, '(') + "']",
         "4:15: constraints[0]: has 100000 bytes; a condition has at most 4096");
  std::string many = "cores > 0";
  for (int i = 0; i < 100; ++i) many += ", cores > 0";
  refuse("[" + many + "]", "4:14: constraints: are 101; at most 100 are allowed");
  const std::string half = "cores > " + std::string(4080, '1');
  refuse("['" + half + "', '" + half + "', 'cores > 0', 'cores > 11']",
         "4:14: constraints: have 8195 bytes together; at most 8192 are allowed");
  EXPECT_TRUE(
      good(kCommand +
           "hyper: {x: {int: [1, 2]}, gone: {int: [1, 2], when: {f: 2}}, f: 1}\nconstraints: [gone > 1]")
          .hyper.constraints[0]
          .holds({{"x", whole(1)}, {"f", whole(1)}}))
      << "what does not exist limits nothing";
}

TEST(HyperSpace, AnUnknownModelMakesNoNoise) {
  expect_issue(
      "kind: tune\nprogram: {model: lenet, dataset: digits}\nhyper: {dropout: {range: [0, 1], when: "
      "{optimizer: "
      "sgd}}}\nconstraints: [batch_size > 1]\n",
      "2:18: program.model: 'lenet' is not one of");
}

}  // namespace
}  // namespace tandem::spec::testing
