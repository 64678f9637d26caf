#include "spec/domains.h"

#include "spec/tune_testing.h"

namespace tandem::spec::testing {
namespace {

TEST(Domains, DomainsOfACommandAreItsOwnBusiness) {
  EXPECT_EQ(of_command("{range: [-1, 2.5]}"), between(Kind::real, -1, 2.5));
  EXPECT_EQ(of_command("{log: [1, 1000]}"), between(Kind::log_real, 1, 1000));
  EXPECT_EQ(of_command("{int: [-3, 3]}"), between(Kind::whole, -3, 3));
  EXPECT_EQ(of_command("{choice: [3, 0.5, fast, '3', true]}"),
            choice({whole(3), 0.5, word("fast"), word("3"), true}));
  EXPECT_EQ(of_command("{range: [-1e300, 1e300]}"), between(Kind::real, -1e300, 1e300));
  EXPECT_EQ(of_command("{int: [0, 9007199254740992]}"), between(Kind::whole, 0, 9007199254740992));
  const auto job = good(kCommand + "hyper: {a-b.c: {int: [1, 2]}, mode: fast, n: 3, r: 1.0, deep: true}\n");
  EXPECT_EQ(job.base.hyper, (Values{{"mode", word("fast")}, {"n", whole(3)}, {"r", 1.0}, {"deep", true}}));
  EXPECT_EQ(order(job), (std::vector<std::string>{"a-b.c"}));
}

TEST(Domains, WholeNumbersOfACommandMayBeLogarithmic) {
  EXPECT_EQ(of_command("{log: [16, 512], int: true}"), between(Kind::log_whole, 16, 512));
  EXPECT_EQ(of_command("{int: true, log: [16, 512]}"), between(Kind::log_whole, 16, 512));
  EXPECT_EQ(of_command("{log: [16, 512], int: false}"), between(Kind::log_real, 16, 512));
  const auto refuse = [](const std::string& domain, const std::string& issue) {
    expect_issue(kCommand + "hyper: {x: " + domain + "}", issue);
  };
  refuse("{log: [0.5, 512], int: true}", "3:19: hyper.x.log[0]: must be a whole number, not '0.5'");
  refuse("{log: [0, 512], int: true}", "3:18: hyper.x.log: a logarithmic domain begins above 0");
  refuse("{log: [1, 512], int: yes}", "3:33: hyper.x.int: must be true or false, not 'yes'");
  refuse("{range: [1, 512], int: true}", "3:30: hyper.x: is either {range: ...} or {int: ...}, not both");
  expect_issue(kLenet + "hyper: {learning_rate: {log: [0.1, 1], int: true}}",
               "3:40: hyper.learning_rate.int: does not fit a number");
}

TEST(Domains, NumbersMayGoInSteps) {
  const auto in_steps = [](Domain domain, double step) {
    domain.step = step;
    return domain;
  };
  EXPECT_EQ(of_command("{range: [0, 1], step: 0.1}"), in_steps(between(Kind::real, 0, 1), 0.1));
  EXPECT_EQ(of_command("{int: [16, 256], step: 16}"), in_steps(between(Kind::whole, 16, 256), 16));
  EXPECT_EQ(good(kLenet + kRate + "system: {cores: {int: [2, 8], step: 2}}").system.cores,
            (std::vector<int>{2, 4, 6, 8}));
  const auto refuse = [](const std::string& domain, const std::string& issue) {
    expect_issue(kCommand + "hyper: {x: " + domain + "}", issue);
  };
  refuse("{range: [0, 1], step: 0.3}",
         "3:34: hyper.x.step: does not lead from 0 to 1: its last value before that is 0.9; write that");
  refuse("{int: [1, 8], step: 2}",
         "3:32: hyper.x.step: does not lead from 1 to 8: its last value before that is 7");
  refuse("{int: [0, 8], step: 0.5}", "3:32: hyper.x.step: must be a whole number, not '0.5'");
  refuse("{int: [0, 8], step: 0}", "3:32: hyper.x.step: must be above 0, not '0'");
  refuse("{range: [0, 8], step: 9}", "3:34: hyper.x.step: must be at most 8 from end to end");
  refuse("{range: [0, 1], step: 1e-12}", "3:34: hyper.x.step: must be at most 1 from end to end");
  refuse("{log: [1, 8], step: 1}", "3:32: hyper.x.step: goes with {range: [a, b]} or {int: [a, b]}");
  refuse("{choice: [1, 8], step: 1}", "3:35: hyper.x.step: goes with {range: [a, b]} or {int: [a, b]}");
}

TEST(Domains, ChoicesOfACommandMayBeNullListsAndMaps) {
  const auto structure = [](const char* json) { return Value(Structure{json}); };
  EXPECT_EQ(of_command("{choice: [null, [64, 64], {units: 32, deep: [a, 0.5]}, 3]}"),
            choice({structure("null"), structure("[64,64]"), structure(R"({"deep":["a",0.5],"units":32})"),
                    whole(3)}));
  const auto refuse = [](const std::string& domain, const std::string& issue) {
    expect_issue(kCommand + "hyper: {x: " + domain + "}", issue);
  };
  refuse("{choice: [[64], [64]]}", "3:28: hyper.x.choice[1]: '[64]' is given twice");
  refuse("{choice: [[.inf], 1]}", "3:23: hyper.x.choice[0][0]: infinity and not-a-number");
  refuse("{choice: [{int: [1, 2]}, 3]}",
         "3:22: hyper.x.choice[0]: must be one value, and is a domain ({int: ...})");
  expect_issue(kLenet + "hyper: {batch_size: {choice: [null, 64]}}",
               "3:31: hyper.batch_size.choice[0]: must be a whole number, not nothing");
  const auto job = good(kCommand + "hyper: {a: {choice: [null, [1]]}, b: {int: [1, 2], when: {a: [[1]]}}}");
  EXPECT_EQ(job.hyper.parameters[1].when, (Condition{"a", {structure("[1]")}}));
}

TEST(Domains, DomainsNeedTwoNumbersInOrder) {
  const auto refuse = [](const std::string& domain, const std::string& issue) {
    expect_issue(kCommand + "hyper: {x: " + domain + "}", issue);
  };
  refuse("{range: 3}", "3:20: hyper.x.range: must be two numbers, [lowest, highest], not '3'");
  refuse("{range: }", "3:13: hyper.x.range: must be two numbers, [lowest, highest], not nothing");
  refuse("{log: [1]}", "3:18: hyper.x.log: must be two numbers, [lowest, highest], not 1 items");
  refuse("{int: [1, 2, 3]}", "3:18: hyper.x.int: must be two numbers, [lowest, highest], not 3 items");
  refuse("{range: {low: 1, high: 2}}",
         "3:20: hyper.x.range: must be two numbers, [lowest, highest], not a map");
  refuse("{range: [a, 2]}", "3:21: hyper.x.range[0]: must be a number, not 'a'");
  refuse("{range: [1, '2']}", "3:24: hyper.x.range[1]: must be a number, not '2'");
  refuse("{range: [1, .inf]}", "3:24: hyper.x.range[1]: infinity and not-a-number");
  refuse("{int: [1, 2.0]}", "3:22: hyper.x.int[1]: must be a whole number, not '2.0'");
  refuse("{range: [2, 1]}",
         "3:20: hyper.x.range: the first number must be below the second, but '2' is not below '1'");
  refuse("{int: [5, 5]}", "3:18: hyper.x.int: the first number must be below the second");
  refuse("{range: [1, 1.0]}", "3:20: hyper.x.range: the first number must be below the second");
  refuse("{log: [0, 1]}", "3:18: hyper.x.log: a logarithmic domain begins above 0, not at '0'");
  refuse("{log: [-1, 1]}", "3:18: hyper.x.log: a logarithmic domain begins above 0");
  refuse("{range: [-1.7e308, 1.7e308]}", "3:20: hyper.x.range: is too wide");
  refuse("{int: [-1, 9007199254740992]}",
         "3:18: hyper.x.int: is too wide: whole numbers must lie within 2^53");
  refuse("{int: [0, 9007199254740993]}", "3:18: hyper.x.int: is too wide");
  refuse("{int: [-9223372036854775808, 9223372036854775807]}", "3:18: hyper.x.int: is too wide");
  refuse("{int: [0, 9223372036854775808]}", "3:22: hyper.x.int[1]: the number is too large");
}

TEST(Domains, ChoicesAreManyAndDifferent) {
  const auto refuse = [](const std::string& domain, const std::string& issue) {
    expect_issue(kCommand + "hyper: {x: " + domain + "}", issue);
  };
  refuse("{choice: 3}", "3:21: hyper.x.choice: must be a list of 1 to 10000 values, not '3'");
  refuse("{choice: []}", "3:21: hyper.x.choice: must be a list of 1 to 10000 values, not 0 items");
  refuse("{choice: [1, 2, 1]}", "3:28: hyper.x.choice[2]: '1' is given twice");
  refuse("{choice: [1, 1.0]}", "3:25: hyper.x.choice[1]: '1.0' is given twice");
  std::string items = "0";
  for (int i = 1; i < 10'000; ++i) items += ", " + std::to_string(i);
  EXPECT_EQ(of_command("{choice: [" + items + "]}").choices.size(), 10'000u);
  refuse("{choice: [" + items + ", x]}",
         "3:21: hyper.x.choice: must be a list of 1 to 10000 values, not 10001 items");
  EXPECT_EQ(of_command("{choice: [1, '1', true, 'true']}").choices.size(), 4u);
}

TEST(Domains, AMapThatIsNoDomainSaysWhatOneIs) {
  const auto refuse = [](const std::string& domain, const std::string& issue) {
    expect_issue(kCommand + "hyper: {x: " + domain + "}", issue);
  };
  refuse("{}",
         "3:12: hyper.x: must be one value: true or false, a number or a word, or a domain: {int: [a, b]}, "
         "{range: [a, b]}, {log: [a, b]} or {choice: [...]}");
  EXPECT_TRUE(mentions(parse(kCommand + "hyper: {x: {when: {y: 1}}, y: 1}"), "must be one value"));
  refuse("{int: [1, 2], log: [1, 2]}", "3:26: hyper.x: is either {int: ...} or {log: ...}, not both");
  refuse("{ints: [1, 2]}",
         "3:13: hyper.x.ints: is not part of a domain; known are choice, range, log, int, step, when (did "
         "you mean 'int'?)");
  refuse("{choice: &a [1, 2]}", "3:21: anchors");
  refuse("!!map {choice: [1, 2]}", "3:12: tags");
  EXPECT_TRUE(mentions(parse(kCommand + "hyper: {x: [1, 2]}"), "for one of these write {choice: [...]}"));
}

TEST(Domains, DomainsOfAModelLieInsideItsRules) {
  const auto domain = [](const std::string& written) {
    const auto job = good(kLenet + "hyper: {" + written + "}");
    return job.hyper.parameters.empty() ? Domain{} : job.hyper.parameters[0].domain;
  };
  EXPECT_EQ(domain("batch_size: {int: [1, 65536]}"), between(Kind::whole, 1, 65536));
  EXPECT_EQ(domain("batch_size: {log: [16, 1024]}"), between(Kind::log_whole, 16, 1024));
  EXPECT_EQ(domain("dropout: {range: [0, 0.9]}"), between(Kind::real, 0, 0.9));
  EXPECT_EQ(domain("learning_rate: {log: [0.001, 1]}"), between(Kind::log_real, 0.001, 1));
  EXPECT_EQ(domain("learning_rate: {choice: [1, 0.5]}"), choice({1.0, 0.5})) << "reals stay reals";
  EXPECT_EQ(domain("nesterov: {choice: [true, false]}"), choice({true, false}));
  const auto refuse = [](const std::string& hyper, const std::string& issue) {
    expect_issue(kLenet + "hyper: {" + hyper + "}", issue);
  };
  refuse("batch_size: {int: [0, 8]}",
         "3:28: hyper.batch_size.int[0]: must be at least 1 and at most 65536, not '0'");
  refuse("batch_size: {log: [1, 65537]}",
         "3:31: hyper.batch_size.log[1]: must be at least 1 and at most 65536");
  refuse("batch_size: {range: [1, 8]}",
         "3:22: hyper.batch_size.range: does not fit a whole number: write {int: [a, b]}, "
         "{log: [a, b]} or {choice: [...]}");
  refuse("batch_size: {log: [1.5, 8]}", "3:28: hyper.batch_size.log[0]: must be a whole number");
  refuse("batch_size: {choice: [32, 0, 64]}", "3:35: hyper.batch_size.choice[1]: must be at least 1");
  refuse("batch_size: {choice: [32, 64.0]}",
         "3:35: hyper.batch_size.choice[1]: must be a whole number, not '64.0'");
  refuse("dropout: {range: [0, 0.95]}", "3:30: hyper.dropout.range[1]: must be at least 0 and at most 0.9");
  refuse("dropout: {log: [0, 0.5]}", "3:24: hyper.dropout.log: a logarithmic domain begins above 0");
  refuse("dropout: {int: [0, 1]}",
         "3:19: hyper.dropout.int: does not fit a number: write {range: [a, b]}, {log: [a, b]} or "
         "{choice: [...]}");
  refuse("optimizer: {choice: [sgd, adm]}",
         "3:35: hyper.optimizer.choice[1]: 'adm' is not one of: sgd, adam (did you mean "
         "'adam'?)");
  refuse("optimizer: {range: [0, 1]}",
         "3:21: hyper.optimizer.range: does not fit one of sgd, adam: write {choice: [...]}");
  refuse("nesterov: {int: [0, 1]}",
         "3:20: hyper.nesterov.int: does not fit true or false: write {choice: [...]}");
  refuse("batchsize: {int: [1, 8]}",
         "3:9: hyper.batchsize: model 'lenet5' has no such hyperparameter; it has batch_size, learning_rate");
}

TEST(Domains, SystemTakesOneValueOrFew) {
  const auto system = [](const std::string& written) {
    return good(kLenet + kRate + "system: {" + written + "}").system;
  };
  EXPECT_EQ(system("cores: 2, memory: 2GiB, speed: 80%"), (SystemSpace{{2}, {2 * kGiB}, {0.8}}));
  EXPECT_EQ(system("cores: {int: [1, 4]}"), (SystemSpace{{1, 2, 3, 4}, {}, {}}));
  EXPECT_EQ(system("cores: {choice: [8, 1, 4]}"), (SystemSpace{{1, 4, 8}, {}, {}}));
  EXPECT_EQ(system("memory: {choice: [2GiB, 512MiB]}"), (SystemSpace{{}, {512 * kMiB, 2 * kGiB}, {}}));
  EXPECT_EQ(system("speed: {choice: [1, 70%, 0.5]}"), (SystemSpace{{}, {}, {0.5, 0.7, 1}}));
  EXPECT_EQ(system("cores: {int: [1, 65536]}").cores.size(), 65536u);
  const auto refuse = [](const std::string& written, const std::string& issue) {
    expect_issue(kLenet + kRate + "system: {" + written + "}", issue);
  };
  refuse("cores: {int: [0, 4]}", "4:24: system.cores.int[0]: must be at least 1 and at most 65536");
  refuse("cores: {int: [4, 1]}", "4:23: system.cores.int: the first number must be below");
  refuse("cores: {range: [1, 4]}",
         "4:18: system.cores.range: does not fit a whole number: write {int: [a, b]} or {choice: [...]}");
  refuse("cores: {log: [1, 4]}", "4:18: system.cores.log: does not fit a whole number");
  refuse("cores: {int: [1, 4], when: {x: 1}}",
         "4:31: system.cores.when: is not part of a domain; known are choice, range, log, int");
  refuse("cores: [1, 2]",
         "4:17: system.cores: must be a whole number, not a list; for one of these write {choice: [...]}");
  refuse("memory: {choice: [1GiB, 2]}", "4:34: system.memory.choice[1]: '2' needs a unit");
  refuse("memory: {choice: [1GiB, 1024MiB]}", "4:34: system.memory.choice[1]: '1024MiB' is given twice");
  refuse("memory: {range: [1GiB, 2GiB]}",
         "4:19: system.memory.range: does not fit a size such as 2GiB: write {choice: [...]}");
  refuse("memory: {int: [1, 2]}", "4:19: system.memory.int: does not fit a size");
  refuse("speed: {choice: [50%, 0.5]}", "4:32: system.speed.choice[1]: '0.5' is given twice");
  refuse("speed: {choice: [50%, 2]}", "4:32: system.speed.choice[1]: must be above 0% and at most 100%");
  refuse("speed: {range: [0.1, 1]}", "4:18: system.speed.range: does not fit a share");
}

TEST(Domains, DomainsAreForHyperAndSystemOnly) {
  expect_issue(kLenet + kRate + "search: {max_epochs: {int: [1, 9]}}",
               "4:22: search.max_epochs: must be a whole number, not a map");
  expect_issue(kLenet + kRate + "budget: {time: {choice: [1s, 2s]}}",
               "4:16: budget.time: must be a time such as 90s, 10min or 2h, not a map");
  expect_issue(kLenet + kRate + "limits: {retries: {int: [1, 9]}}",
               "4:19: limits.retries: must be a whole number, not a map");
}

}  // namespace
}  // namespace tandem::spec::testing
