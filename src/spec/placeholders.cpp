#include "spec/placeholders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <utility>

#include "base/text.h"
#include "spec/checks.h"

namespace tandem::spec {
namespace {

constexpr std::size_t kLongestPattern = 500, kMostPatternWork = 50'000;

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool in_name(char c) {
  return begins_name(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

// The name in braces that begins here; empty: none does.
std::string_view name_at(std::string_view text) {
  if (text.size() < 3 || text[0] != '{' || !begins_name(text[1])) return {};
  std::size_t end = 1;
  while (end < text.size() && in_name(text[end])) ++end;
  return end < text.size() && text[end] == '}' ? text.substr(1, end - 1) : std::string_view();
}

class AdaptedCheck {
 public:
  AdaptedCheck(const Node& program, TuneJob& job, Issues& issues)
      : node_(program), job_(job), program_(job.base.program), issues_(issues) {
    for (const auto& [name, value] : job.base.hyper) hyper_.insert(name);
    for (const auto& parameter : job.hyper.parameters) hyper_.insert(parameter.name);
    hyper_.insert(job.base.groups.begin(), job.base.groups.end());
  }

  void check(bool judged) {
    if (const Node* command = node_.find("command"))
      for (std::size_t i = 0; i < command->items.size() && i < program_.command.size(); ++i)
        check_text(program_.command[i], command->items[i].at, fmt::format("program.command[{}]", i));
    const bool in_command = program_.placeholders;
    const Node* file = node_.find("metrics_file");
    if (is_map(file) && !program_.metrics_file.empty())
      check_text(program_.metrics_file, file->at, "program.metrics_file.path");
    if (const Node* suffix = node_.find("parameter_file"); suffix && !used_.contains(kParameterFile))
      issues_.add(suffix->at, "program.parameter_file",
                  "is given to nobody: write {file} in the command where the program takes it");
    if (in_command) check_reached();
    check_metrics();
    if (judged && program_.reads_metrics()) check_objective();
  }

 private:
  void check_text(const std::string& text, Place at, const std::string& path) {
    for (const auto& piece : pieces_of(text)) {
      program_.placeholders |= piece.placeholder || text.find("{{") != std::string::npos;
      if (!piece.placeholder) continue;
      used_.insert(piece.text);
      std::vector<std::string> known = own_placeholders();
      if (hyper_.contains(piece.text) || std::find(known.begin(), known.end(), piece.text) != known.end())
        continue;
      known.insert(known.end(), hyper_.begin(), hyper_.end());
      issues_.add(
          at, path,
          fmt::format(
              "{{{0}}} is neither a hyperparameter nor one of {1}{2}; for the text itself write {{{{{0}}}}}",
              piece.text, join(own_placeholders()), did_you_mean(piece.text, known)));
    }
  }

  // Who names one hyperparameter takes them from the command line: one that is left out would be searched in
  // vain.
  void check_reached() {
    if (used_.contains(kParameterFile)) return;
    const auto reached = [&](const std::string& name) {
      return used_.contains(name) || std::any_of(used_.begin(), used_.end(), [&](const std::string& group) {
               return name.starts_with(group + ".");
             });
    };
    const bool takes_any = std::any_of(used_.begin(), used_.end(),
                                       [&](const std::string& name) { return hyper_.contains(name); });
    std::vector<std::string> missing;
    for (const auto& parameter : job_.hyper.parameters)
      if (!reached(parameter.name)) missing.push_back("{" + parameter.name + "}");
    if (takes_any && !missing.empty())
      issues_.add(node_.find("command")->at, "program.command",
                  "does not give the program all that is searched: write " + join(missing) +
                      " where it takes them, or {file} for a file with all of them");
  }

  // The counts in braces multiplied, as if each stood inside the others; 1 where there are none.
  static std::size_t most_repeats(const std::string& pattern) {
    std::size_t product = 1;
    for (auto open = pattern.find('{'); open != std::string::npos; open = pattern.find('{', open + 1)) {
      std::size_t count = 1, number = 0;
      for (auto i = open + 1; i < pattern.size() && pattern[i] != '}'; ++i) {
        number = std::isdigit(static_cast<unsigned char>(pattern[i])) != 0
                     ? std::min<std::size_t>(number * 10 + static_cast<std::size_t>(pattern[i] - '0'), kMostPatternWork)
                     : 0;
        count = std::max(count, number);
      }
      product = std::min(product * count, kMostPatternWork);
    }
    return product;
  }

  void check_metrics() {
    const Node* metrics = node_.find("metrics");
    const Node* epoch = node_.find("epoch");
    const Node* file = node_.find("metrics_file");
    for (const Node* node : {metrics, epoch, file})
      if (node != nullptr && program_.command.empty())
        issues_.add(node->at, "program", "metrics are read of a command; a model reports its own");
    if (program_.plain && program_.reads_metrics())
      issues_.add(node_.at, "program.plain", "a plain command reports nothing: leave metrics out, or plain");
    if (epoch != nullptr && (metrics == nullptr || file != nullptr))
      issues_.add(epoch->at, "program.epoch",
                  "goes with program.metrics, which says what is read of the output");
    if (epoch != nullptr && !program_.epoch.empty())
      check_pattern(program_.epoch, epoch->at, "program.epoch");
    if (!is_map(metrics) || file != nullptr) return;
    for (const auto& entry : metrics->entries)
      if (const auto found = program_.metrics.find(entry.key); found != program_.metrics.end())
        check_pattern(found->second, entry.value.at, "program.metrics." + entry.key);
  }

  // Compiling one takes time and memory by its length times how often its parts are repeated, and a server reads
  // what others write.
  void check_pattern(const std::string& pattern, Place at, const std::string& path) {
    try {
      pattern_work_ += pattern.size() * most_repeats(pattern);
      if (pattern.size() > kLongestPattern)
        issues_.add(at, path,
                    fmt::format("has {} bytes; at most {} are allowed", pattern.size(), kLongestPattern));
      else if (std::exchange(too_much_, pattern_work_ > kMostPatternWork))
        return;  // said once
      else if (too_much_)
        issues_.add(at, path,
                    fmt::format("repeats too much: bytes times counted repetitions ({{n,m}}, multiplied) of all patterns "
                                "together may be {} at most",
                                kMostPatternWork));
      else if (std::regex(pattern).mark_count() != 1)
        issues_.add(at, path, "must have one group in parentheses, around the number: 'acc[=: ]+([0-9.]+)'");
    } catch (const std::regex_error& error) {
      issues_.add(at, path, "is no regular expression (ECMAScript): " + std::string(error.what()));
    }
  }

  void check_objective() {
    if (program_.metrics.empty()) return;
    std::vector<std::string> known;
    for (const auto& [name, pattern] : program_.metrics) known.push_back(name);
    for (const auto& goal : job_.objective.goals) {
      const bool measured = goal.metric == "train_time" || goal.metric == "energy" || goal.metric == kCost;
      if (!measured && !program_.metrics.contains(goal.metric))
        issues_.add(node_.find("metrics") ? node_.find("metrics")->at : node_.at, "program.metrics",
                    fmt::format("does not say how to read '{}', which is an objective{}",
                                printable(goal.metric, 80), did_you_mean(goal.metric, known)));
    }
  }

  const Node& node_;
  TuneJob& job_;
  Program& program_;
  Issues& issues_;
  std::set<std::string> hyper_, used_;
  std::size_t pattern_work_ = 0;
  bool too_much_ = false;
};

}  // namespace

std::vector<Piece> pieces_of(std::string_view written) {
  std::vector<Piece> out;
  const auto add = [&](std::string_view text) {
    if (out.empty() || out.back().placeholder) out.push_back({});
    out.back().text += text;
  };
  for (std::size_t i = 0; i < written.size();) {
    const auto rest = written.substr(i);
    const auto quoted = rest.starts_with("{{") ? name_at(rest.substr(1)) : std::string_view();
    const bool of_shell = i > 0 && written[i - 1] == '$';
    if (!quoted.empty() && rest.substr(quoted.size() + 3).starts_with('}')) {
      add(rest.substr(1, quoted.size() + 2));
      i += quoted.size() + 4;
    } else if (const auto name = name_at(rest); !name.empty() && !of_shell) {
      out.push_back({true, std::string(name)});
      i += name.size() + 2;
    } else {
      add(rest.substr(0, 1));
      ++i;
    }
  }
  return out;
}

const std::vector<std::string>& own_placeholders() {
  static const std::vector<std::string> names{"folder", "file",  "epochs", "seed",   "cores",
                                              "memory", "speed", "gpus",   "attempt"};
  return names;
}

void check_adapted(const Node* program, TuneJob& job, bool judged, Issues& issues) {
  if (is_map(program)) AdaptedCheck(*program, job, issues).check(judged);
}

}  // namespace tandem::spec
