#include "place/policy/policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "base/text.h"

namespace tandem::place {
namespace {
using Options = std::vector<std::pair<std::string, std::string>>;

double number(const std::string& name, const std::string& text, double low, double high) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size() || !(out >= low) || !(out <= high))
    throw UserError(
        fmt::format("{}={} must be a number from {:g} to {:g}", name, printable(text, 30), low, high));
  return out;
}

Policy ordered(const char* order) {
  Policy out;
  out.order = &find_order(order);
  return out;
}

Policy with_kit(const char* filters, const char* weighers, NodeRule nodes) {
  Policy out = ordered("first-fit");
  out.kit = Kit{parse_filters(filters), parse_weighers(weighers), nodes};
  return out;
}

Policy heats(const Options& options) {
  Policy out = ordered("to-the-end");
  out.kit = Kit{parse_filters("architecture+accelerator+affinity"), {}, NodeRule::first};
  HeatsOptions heats;
  for (const auto& [name, value] : options) {
    if (name == "H" && value == "random")
      heats.random_h = true;
    else if (name == "H")
      heats.h = number(name, value, 0, 1);
    else if (name == "x")
      heats.every = number(name, value, 0, 1e9);
    else if (name == "filter")
      out.kit->filters = parse_filters(value);
    else if (name == "idle" && (value == "share" || value == "none"))
      heats.idle = value == "share";
    else if (name == "idle")
      throw UserError(fmt::format("idle={} must be share or none", printable(value, 30)));
    else if (name == "cost")
      heats.cost = number(name, value, 0, 1e6);
    else if (value == "none" || value == "stateless" || value == "stateful")
      heats.moves = value == "none"        ? HeatsOptions::Moves::none
                    : value == "stateless" ? HeatsOptions::Moves::stateless
                                           : HeatsOptions::Moves::stateful;
    else
      throw UserError(fmt::format("move={} must be none, stateless or stateful", printable(value, 30)));
  }
  out.heats = heats;
  return out;
}

Policy infra(const Options& options) {
  Policy out = ordered("first-fit");
  out.kit = Kit{parse_filters("architecture+accelerator+affinity"), {}, NodeRule::first};
  out.infra.emplace();
  for (const auto& [name, value] : options) {
    if (name == "tolerated")
      out.infra->thresholds.tolerated = number(name, value, 0.01, 10);
    else if (name == "overloaded")
      out.infra->pick.stragglers.overloaded = number(name, value, 0.01, 1);
    else if (value == "yes" || value == "no")
      out.infra->pick.readmit = value == "yes";
    else
      throw UserError(fmt::format("readmit={} must be yes or no", printable(value, 30)));
  }
  return out;
}

Policy from_parts(const Options& options) {
  Policy out = ordered("first-fit");
  out.kit = Kit{parse_filters("resources+accelerator"), {}, NodeRule::first};
  for (const auto& [name, value] : options) {
    if (name == "filter") out.kit->filters = parse_filters(value);
    if (name == "weigh") out.kit->weighers = parse_weighers(value);
    if (name == "nodes") out.kit->nodes = parse_nodes(value);
    if (name == "order") out.order = &find_order(value);
  }
  return out;
}

Policy priority_policy(Preemption preemption) {
  Policy out = ordered("priority");
  out.preemption = preemption;
  return out;
}

// "10@8.5+20@15": percent dropped and percent of accuracy lost.
AccuracyCurve parse_curve(const std::string& text) {
  std::vector<AccuracyCurve::Point> points;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, '+');) {
    const auto at = word.find('@');
    if (at == std::string::npos)
      throw UserError(fmt::format("curve={}: write DROP@LOSS in percent, with +, as in 10@8.5+20@15",
                                  printable(text, 60)));
    points.push_back({number("curve", word.substr(0, at), 0, 100) / 100,
                      number("curve", word.substr(at + 1), 0, 100) / 100});
  }
  return AccuracyCurve(std::move(points));
}

Policy dias(const Options& options) {
  Policy out = ordered("priority");
  out.dropping = Dropping{parse_curve("10@8.5+20@15+40@32")};  // measured by the paper, table 4.2
  for (const auto& [name, value] : options)
    if (name == "curve")
      out.dropping->curve = parse_curve(value);
    else
      out.dropping->recently = number(name, value, 0, 1e9);
  return out;
}

std::vector<PolicyEntry> make_table() {
  std::string filter_names, weigher_names;
  for (const auto& entry : filters()) filter_names += (filter_names.empty() ? "" : ", ") + entry.name;
  for (const auto& entry : weighers()) weigher_names += (weigher_names.empty() ? "" : ", ") + entry.name;
  return {
      {"fifo", find_order("fifo").description, {}, [](const Options&) { return ordered("fifo"); }},
      {"first-fit",
       find_order("first-fit").description,
       {},
       [](const Options&) { return ordered("first-fit"); }},
      {"least-work",
       find_order("least-work").description,
       {},
       [](const Options&) { return ordered("least-work"); }},
      {"shortest",
       find_order("shortest").description,
       {},
       [](const Options&) { return ordered("shortest"); }},
      {"backfill",
       "first come, first served, but who delays nobody in front may pass; run times are known",
       {},
       [](const Options&) {
         Policy out = ordered("first-fit");
         out.backfill = true;
         return out;
       }},
      {"random",
       "in the order they came, on any node with room",
       {},
       [](const Options&) { return with_kit("resources+accelerator", "random", NodeRule::random); }},
      {"spread",
       "as Kubernetes does: the node with most free, cores and memory used alike",
       {},
       [](const Options&) { return with_kit("resources+accelerator", "free+balance", NodeRule::most_free); }},
      {"binpack",
       "as Kubernetes can: the node with least free that has room",
       {},
       [](const Options&) { return with_kit("resources+accelerator", "full", NodeRule::least_free); }},
      {"priority",
       find_order("priority").description,
       {},
       [](const Options&) { return priority_policy(Preemption::none); }},
      {"preempt-restart",
       "as priority; who is lower makes room and begins again",
       {},
       [](const Options&) { return priority_policy(Preemption::restart); }},
      {"preempt-resume",
       "as priority; who is lower makes room and goes on later where it was",
       {},
       [](const Options&) { return priority_policy(Preemption::resume); }},
      {"dias",
       "as priority, and nobody is evicted: lower jobs that tolerate a loss (place.loss) do less instead",
       {{"curve", "measured loss of accuracy by share dropped, percent (10@8.5+20@15+40@32)"},
        {"recently", "seconds for which somebody above is expected to come again (600)"}},
       dias},
      {"heats",
       "HEATS: the best machine type by predicted energy and time; moves tasks when it pays",
       {{"H", "weight of energy against time, 0 to 1, or random for each task (1)"},
        {"x", "seconds between reschedulings, 0: never (30)"},
        {"move", "none, stateless or stateful (stateless)"},
        {"cost", "seconds a move takes (2)"},
        {"idle", "share: energy counts a task's share of what its idle machine draws; or none (none)"},
        {"filter", "as of kit (architecture+accelerator+affinity)"}},
       heats},
      {"infra",
       "infrastructure-aware: no stragglers, no nodes busy with others' work, the most free first",
       {{"readmit", "where no node is fit: yes, take a busy one or a straggler; no, wait (yes)"},
        {"tolerated", "slowing by one resource that a family of jobs bears; sets its thresholds (0.25)"},
        {"overloaded", "share in use, now and mostly, from which a node is a straggler (0.9)"}},
       infra},
      {"kit",
       "put together from filters and weighers",
       {{"filter", "with +, NAME or NAME@NUMBER, of: " + filter_names},
        {"weigh", "with +, NAME or NAME@WEIGHT, of: " + weigher_names},
        {"nodes", "which node of a machine type: first, most, least (free), random"},
        {"order", "of the queue (first-fit)"}},
       from_parts},
  };
}

// Whoever looks ahead must know how long tasks will take as they are, and these change.
void make_malleable(Policy& policy, const std::string& name) {
  const char* why = policy.backfill || policy.order->by_time || policy.heats
                        ? "it goes by how long tasks take, which changes with their cores"
                    : policy.preemption != Preemption::none || policy.dropping
                        ? "it makes room its own way, by evicting or leaving out work"
                    : policy.infra ? "it chooses nodes for tasks of one size"
                                   : nullptr;
  if (why)
    throw UserError(fmt::format(
        "policy {} cannot be malleable: {}; fifo, priority, spread, binpack and kit can", name, why));
  policy.malleable.emplace();
}

}  // namespace

const std::vector<PolicyEntry>& policies() {
  static const std::vector<PolicyEntry> table = make_table();
  return table;
}

const PolicyOption& malleable_option() {
  static const PolicyOption option{"malleable",
                                   "tasks that leave their cores open get more or fewer whenever they "
                                   "report, on every node; nobody passes "
                                   "the first that finds no room"};
  return option;
}

Policy parse_policy(const std::string& text) {
  std::istringstream in(text);
  std::string name;
  std::getline(in, name, ':');
  std::vector<std::string> names;
  const PolicyEntry* found = nullptr;
  for (const auto& entry : policies()) {
    if (entry.name == name) found = &entry;
    names.push_back(entry.name);
  }
  if (!found)
    throw UserError(fmt::format("there is no policy '{}'{}; there are: {}", printable(name, 60),
                                did_you_mean(name, names), join(names)));
  Options options;
  bool malleable = false;
  std::vector<std::string> known;
  for (const auto& option : found->options) known.push_back(option.name);
  for (std::string word; std::getline(in, word, ':');) {
    if (word == malleable_option().name) {
      malleable = true;
      continue;
    }
    const auto equals = word.find('=');
    const std::string option = word.substr(0, equals);
    if (equals == std::string::npos || std::find(known.begin(), known.end(), option) == known.end())
      throw UserError(fmt::format(
          "policy {} has no option '{}'{}; {}", name, printable(option, 60), did_you_mean(option, known),
          known.empty() ? "it takes none" : "write NAME=VALUE with one of: " + join(known)));
    options.emplace_back(option, word.substr(equals + 1));
  }
  Policy out = found->make(options);
  if (malleable) make_malleable(out, name);
  out.name = text, out.description = found->description;
  return out;
}

Policy policy_of(const OrderEntry& order) {
  Policy out;
  out.name = order.name, out.description = order.description, out.order = &order;
  return out;
}

}  // namespace tandem::place
