#include "data/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace tandem::data {
namespace {

using Rules = std::vector<HyperRule>;

HyperRule whole(std::string name, std::int64_t fallback, double low, double high, std::string description) {
  return {std::move(name), std::move(description), HyperRule::Kind::whole, fallback, low, high, {}};
}

HyperRule real(std::string name, double fallback, double low, double high, std::string description) {
  return {std::move(name), std::move(description), HyperRule::Kind::real, fallback, low, high, {}};
}

// How every network learns; the defaults differ by network.
Rules gradient(std::int64_t batch, double rate, std::string optimizer) {
  return {
      whole("batch_size", batch, 1, 65536, "samples a step learns from"),
      real("learning_rate", rate, 1e-6, 10, "length of a step"),
      {"optimizer", "how steps are made", HyperRule::Kind::word, std::move(optimizer), 0, 0, {"adam", "sgd"}},
      real("momentum", 0.9, 0, 0.999,
           "share of the last step kept (sgd), or of the last mean gradient (adam)"),
      real("weight_decay", 0, 0, 1, "pull of the weights towards zero"),
  };
}

Rules operator+(Rules left, const Rules& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

HyperRule dropout(double fallback) {
  return real("dropout", fallback, 0, 0.95, "share of activations silenced while training");
}

HyperRule embedding() {
  return whole("embedding_size", 64, 4, 1024, "numbers a word is described by");
}

HyperRule hidden(std::int64_t fallback, const char* description) {
  return whole("hidden_size", fallback, 1, 8192, description);
}

Rules trees(double rate, std::int64_t depth, double regularisation) {
  return {
      whole("rounds", 10, 1, 1000, "rounds of boosting, or trees of a forest, an epoch adds"),
      real("learning_rate", rate, 1e-4, 1, "weight of a new tree"),
      whole("max_depth", depth, 1, 20, "depth of a tree"),
      real("subsample", 0.8, 0.01, 1, "share of the samples a tree sees"),
      real("column_sample", 0.8, 0.01, 1, "share of the features a split chooses from"),
      real("regularisation", regularisation, 0, 1000, "L2 pull on the leaves"),
  };
}

Rules forest_rules() {
  Rules rules = trees(1, 12, 0);
  std::erase_if(rules, [](const HyperRule& rule) { return rule.name == "learning_rate"; });
  return rules;
}

std::vector<ModelEntry> table() {
  return {
      {"lenet5", "LeNet-5: two convolutions, three dense layers", "image",
       gradient(64, 0.03, "sgd") + Rules{dropout(0.25)}},
      {"mlp", "two dense hidden layers", "image",
       gradient(64, 0.05, "sgd") + Rules{dropout(0.1), hidden(256, "units in each hidden layer")}},
      {"textcnn", "convolutions of 3, 4 and 5 words over word embeddings", "text",
       gradient(64, 0.001, "adam") + Rules{dropout(0.5), embedding(), hidden(64, "filters of each width")}},
      {"lstm", "long short-term memory over word embeddings", "text",
       gradient(64, 0.003, "adam") + Rules{dropout(0.3), embedding(), hidden(64, "size of the memory")}},
      {"gru", "gated recurrent units over word embeddings", "text",
       gradient(64, 0.003, "adam") + Rules{dropout(0.3), embedding(), hidden(64, "size of the memory")}},
      {"jacobinet", "small regression network, one hidden layer: time of a Jacobi kernel from its settings",
       "table", gradient(32, 0.01, "adam") + Rules{dropout(0.0), hidden(32, "units of the hidden layer")}},
      {"kmeansnet", "small regression network, two hidden layers: time of a k-means kernel from its settings",
       "table",
       gradient(32, 0.005, "adam") + Rules{dropout(0.0), hidden(64, "units of the first hidden layer")}},
      {"bfsnet",
       "small regression network, three hidden layers: time of a breadth-first search from its settings",
       "table", gradient(32, 0.005, "adam") + Rules{dropout(0.0), hidden(24, "units of each hidden layer")}},
      {"forest", "random forest (XGBoost); an epoch adds trees", "table", forest_rules()},
      {"boosting", "gradient-boosted trees (XGBoost); an epoch adds rounds", "table", trees(0.1, 5, 1)},
      {"linear",
       "regularised linear model (XGBoost); an epoch is some sweeps over the coefficients",
       "table",
       {whole("rounds", 10, 1, 1000, "sweeps over the coefficients an epoch makes"),
        real("learning_rate", 0.5, 1e-4, 1, "length of a step"),
        real("regularisation", 0.01, 0, 1000, "L2 pull on the coefficients")}},
  };
}

template <class Entry>
std::vector<std::string> names(const std::vector<Entry>& entries) {
  std::vector<std::string> all;
  for (const auto& entry : entries) all.push_back(entry.name);
  return all;
}

std::string range(const HyperRule& rule) {
  return fmt::format("{} to {}", rule.low, rule.high);
}

// The value in the rule's own type, or what is wrong with it.
std::variant<Value, std::string> checked(const HyperRule& rule, const Value& given) {
  if (rule.kind == HyperRule::Kind::flag) {
    if (std::holds_alternative<bool>(given)) return Value(given);
    return std::string("must be true or false");
  }
  if (rule.kind == HyperRule::Kind::word) {
    const auto* word = std::get_if<std::string>(&given);
    if (word && std::find(rule.words.begin(), rule.words.end(), *word) != rule.words.end())
      return Value(given);
    return "must be one of " + join(rule.words) + (word ? did_you_mean(*word, rule.words) : "");
  }
  const auto number = as_number(given);
  const bool is_whole = rule.kind == HyperRule::Kind::whole;
  if (!number || (is_whole && *number != std::floor(*number)))
    return fmt::format("must be a {}number from {}", is_whole ? "whole " : "", range(rule));
  if (!(*number >= rule.low && *number <= rule.high)) return "must be from " + range(rule);
  if (is_whole) return Value(static_cast<std::int64_t>(*number));
  return Value(*number);
}

}  // namespace

const std::vector<ModelEntry>& models() {
  static const std::vector<ModelEntry> all = table();
  return all;
}

const ModelEntry& model(const std::string& name) {
  for (const ModelEntry& entry : models())
    if (entry.name == name) return entry;
  const auto known = names(models());
  throw UserError(fmt::format("there is no model '{}'{}; the models are {}", printable(name, 80),
                              did_you_mean(name, known), join(known)));
}

Values with_defaults(const ModelEntry& entry, const Values& given) {
  Values complete;
  std::vector<std::string> issues;
  for (const HyperRule& rule : entry.hyper) {
    const auto found = given.find(rule.name);
    if (found == given.end()) {
      complete[rule.name] = rule.fallback;
      continue;
    }
    const auto result = checked(rule, found->second);
    if (const auto* issue = std::get_if<std::string>(&result))
      issues.push_back(
          fmt::format("{} is {}, it {}", rule.name, printable(tandem::text(found->second), 80), *issue));
    else
      complete[rule.name] = std::get<Value>(result);
  }
  const auto known = names(entry.hyper);
  for (const auto& [name, value] : given)
    if (!complete.contains(name) && std::find(known.begin(), known.end(), name) == known.end())
      issues.push_back(fmt::format("{} has no hyperparameter '{}'{}", entry.name, printable(name, 80),
                                   did_you_mean(name, known)));
  if (!issues.empty()) throw UserError("hyperparameters of " + entry.name + ": " + join(issues, "; "));
  return complete;
}

}  // namespace tandem::data
