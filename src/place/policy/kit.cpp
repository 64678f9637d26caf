#include "place/policy/kit.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "base/text.h"

namespace tandem::place {
namespace {

bool either(const std::string& wanted, const std::string& there) {
  std::istringstream in(wanted);
  for (std::string word; std::getline(in, word, '|');)
    if (word == there) return true;
  return wanted.empty();
}

std::string lacks_labels(const TaskRequirements& task, const MachineType& type, double) {
  for (const auto& label : task.labels) {
    const bool not_there = label.starts_with('!');
    const auto name = not_there ? label.substr(1) : label;
    const bool has = std::find(type.labels.begin(), type.labels.end(), name) != type.labels.end();
    if (has == not_there) return fmt::format("{} {}", has ? "has" : "has no", name);
  }
  return "";
}

std::string too_small(const TaskRequirements& task, const MachineType& type, double) {
  if (Pool::could_ever(type.node, type.count, task.part, task.parts, task.apart)) return "";
  return fmt::format("{} x ({}) do not fit {} nodes of {}", task.parts, text(task.part), type.count,
                     text(type.node));
}

double ratio_of(double part, double all) {
  return all > 0 ? part / all : 0;
}

struct FreeShares {
  double cores = 0, memory = 0, gpus = 0;  // free after the task has its place
  bool has_gpus = false;
  double mean() const { return has_gpus ? (cores + memory + gpus) / 3 : (cores + memory) / 2; }
};

// As Kubernetes sees a node: shares of what it has that are free once the task is there.
FreeShares after(const TaskRequirements& task, const Candidate& at, const MachineType& type) {
  const auto gpu = [](const Amount& a) { return a.gpus + a.gpu_share / 1000.0; };
  const auto left = [](double value) { return std::max(0.0, value); };  // parts may go to other nodes too
  FreeShares out;
  out.cores = left(ratio_of(static_cast<double>(at.free.milli_cores - task.part.milli_cores),
                            static_cast<double>(type.node.milli_cores)));
  out.memory = left(ratio_of(static_cast<double>(at.free.memory - task.part.memory),
                             static_cast<double>(type.node.memory)));
  out.has_gpus = type.node.gpus > 0 && gpu(task.part) > 0;
  out.gpus = left(ratio_of(gpu(at.free) - gpu(task.part), type.node.gpus));
  return out;
}

template <class Value>
void by_shares(const TaskRequirements& task, std::span<const Candidate> at,
               std::span<const MachineType> types, std::span<double> out, Value value) {
  for (std::size_t i = 0; i < at.size(); ++i) out[i] = value(after(task, at[i], types[at[i].type]));
}

template <class Value>
void least_best(std::span<const Candidate> at, std::span<double> out, Value value) {
  double most = 0;
  for (const auto& candidate : at) most = std::max(most, value(candidate));
  for (std::size_t i = 0; i < at.size(); ++i) out[i] = most > 0 ? 1 - value(at[i]) / most : 0;
}

double number_of(const std::string& text, const std::string& whole) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(out) || out < 0)
    throw UserError(
        fmt::format("'{}' in '{}' is no number; write NAME@0.8", printable(text, 30), printable(whole, 100)));
  return out;
}

template <class Entry, class Use>
void parse_list(const std::string& text, const std::vector<Entry>& table, const char* what, Use use) {
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, '+');) {
    const auto at = word.find('@');
    const std::string name = word.substr(0, at);
    std::vector<std::string> names;
    const Entry* found = nullptr;
    for (const auto& entry : table) {
      if (entry.name == name) found = &entry;
      names.push_back(entry.name);
    }
    if (!found)
      throw UserError(fmt::format("there is no {} '{}'{}; there are: {}", what, printable(name, 60),
                                  did_you_mean(name, names), join(names)));
    use(*found, at == std::string::npos ? std::string() : word.substr(at + 1));
  }
}

}  // namespace

const std::vector<FilterEntry>& filters() {
  static const std::vector<FilterEntry> table = {
      {"resources", "machines that could ever hold the task", 0, too_small},
      {"architecture", "machines of the architecture the task was built for", 0,
       [](const TaskRequirements& task, const MachineType& type, double) {
         return either(task.architecture, type.architecture) ? std::string() : "is not " + task.architecture;
       }},
      {"accelerator", "machines with the accelerator the task asks for", 0,
       [](const TaskRequirements& task, const MachineType& type, double) {
         if (task.part.gpus == 0 && task.part.gpu_share == 0) return std::string();
         if (type.node.gpus == 0) return std::string("has no accelerator");
         return either(task.accelerator, type.accelerator) ? std::string() : "has no " + task.accelerator;
       }},
      {"stragglers", "no machines that were measured so many times as slow as expected", 1.5,
       [](const TaskRequirements&, const MachineType& type, double most) {
         return type.slowness <= most ? std::string()
                                      : fmt::format("is {:.2g} times as slow as expected", type.slowness);
       }},
      {"threshold", "no node is used beyond this share of its cores and memory", 0.8,
       [](const TaskRequirements&, const MachineType&, double) { return std::string(); }},
      {"affinity", "machines with the labels the task names, and without those it names with !", 0,
       lacks_labels},
  };
  return table;
}

const std::vector<WeigherEntry>& weighers() {
  using Needs = TaskRequirements;
  using At = std::span<const Candidate>;
  using Types = std::span<const MachineType>;
  using Out = std::span<double>;
  static const std::vector<WeigherEntry> table = {
      {"free", "the most free once the task is there (Kubernetes: least allocated)", false,
       [](const Needs& task, At at, Types types, Out out) {
         by_shares(task, at, types, out, [](const FreeShares& s) { return s.mean(); });
       }},
      {"full", "the least free once the task is there (Kubernetes: most allocated)", false,
       [](const Needs& task, At at, Types types, Out out) {
         by_shares(task, at, types, out, [](const FreeShares& s) { return 1 - s.mean(); });
       }},
      {"balance", "cores and memory used alike (Kubernetes: balanced allocation)", false,
       [](const Needs& task, At at, Types types, Out out) {
         by_shares(task, at, types, out,
                   [](const FreeShares& s) { return 1 - std::abs(s.cores - s.memory); });
       }},
      {"energy", "the least predicted energy of the task", true,
       [](const Needs&, At at, Types, Out out) {
         least_best(at, out, [](const Candidate& c) { return c.predicted.joules; });
       }},
      {"time", "the shortest predicted time", true,
       [](const Needs&, At at, Types, Out out) {
         least_best(at, out, [](const Candidate& c) { return c.predicted.seconds; });
       }},
      {"random", "any, each node alike", false,
       [](const Needs&, At at, Types types, Out out) {  // the largest u^(1/n) is a draw with weights n
         for (std::size_t i = 0; i < at.size(); ++i)
           out[i] = std::pow(at[i].random, 1 / static_cast<double>(types[at[i].type].count));
       }},
  };
  return table;
}

bool Kit::predicts() const {
  return std::any_of(weighers.begin(), weighers.end(), [](const auto& w) { return w.entry->predicts; });
}

std::string Kit::refuses(const TaskRequirements& task, const MachineType& type) const {
  for (const auto& [entry, number] : filters)
    if (const auto reason = entry->refuses(task, type, number); !reason.empty())
      return entry->name + ": " + reason;
  return "";
}

Amount Kit::keeps_free(const MachineType& type) const {
  Amount out;
  for (const auto& [entry, number] : filters) {
    if (entry->name != "threshold") continue;
    const double kept = 1 - number;
    out.milli_cores =
        static_cast<std::int64_t>(std::ceil(kept * static_cast<double>(type.node.milli_cores) - 1e-6));
    out.memory = static_cast<Bytes>(std::ceil(kept * static_cast<double>(type.node.memory) - 1e-6));
  }
  return out;
}

void Kit::score(const TaskRequirements& task, std::span<const Candidate> candidates,
                std::span<const MachineType> types, std::vector<double>& out) const {
  out.assign(candidates.size(), 0.0);
  std::vector<double> one(candidates.size());
  for (const auto& [entry, weight] : weighers) {
    entry->weigh(task, candidates, types, one);
    for (std::size_t i = 0; i < one.size(); ++i) out[i] += weight * one[i];
  }
}

std::vector<Kit::Filter> parse_filters(const std::string& text) {
  std::vector<Kit::Filter> out;
  parse_list(text, filters(), "filter", [&](const FilterEntry& entry, const std::string& number) {
    if (!number.empty() && entry.number == 0)
      throw UserError(fmt::format("filter '{}' takes no number", entry.name));
    out.push_back({&entry, number.empty() ? entry.number : number_of(number, text)});
    if (entry.name == "threshold" && (out.back().number <= 0 || out.back().number > 1))
      throw UserError("filter 'threshold' is a share above 0 and at most 1: write threshold@0.8");
  });
  return out;
}

std::vector<Kit::Weigher> parse_weighers(const std::string& text) {
  std::vector<Kit::Weigher> out;
  parse_list(text, weighers(), "weigher", [&](const WeigherEntry& entry, const std::string& number) {
    out.push_back({&entry, number.empty() ? 1 : number_of(number, text)});
  });
  return out;
}

NodeRule parse_nodes(const std::string& name) {
  const std::vector<std::string> names{"first", "most", "least", "random"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw UserError(fmt::format("nodes={} is no rule{}; there are: {} (free)", printable(name, 60),
                                did_you_mean(name, names), join(names)));
  return static_cast<NodeRule>(found - names.begin());
}

}  // namespace tandem::place
