#include "sim/step/step_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace tandem::sim {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

using Score = std::vector<double> (*)(const TrainingGraph&, const std::vector<double>& seconds,
                                      const std::vector<std::uint32_t>& device);

struct Scheduler {
  ChoiceEntry entry;
  Score score;
};

void connect_steps(TrainingGraph& graph, std::uint32_t earlier, std::uint32_t later) {
  auto& inputs = graph.passes[later].inputs;
  if (std::find(inputs.begin(), inputs.end(), earlier) != inputs.end()) return;
  inputs.push_back(earlier);
  graph.passes[earlier].outputs.push_back(later);
}

std::vector<std::uint32_t> waiting_counts(const TrainingGraph& graph) {
  std::vector<std::uint32_t> out;
  for (const Pass& pass : graph.passes) out.push_back(static_cast<std::uint32_t>(pass.inputs.size()));
  return out;
}

std::vector<std::uint32_t> depth_first(const TrainingGraph& graph) {
  auto waits = waiting_counts(graph);
  std::vector<std::uint32_t> ready, out;
  for (auto i = static_cast<std::uint32_t>(graph.passes.size()); i-- > 0;)
    if (waits[i] == 0) ready.push_back(i);
  while (!ready.empty()) {
    const std::uint32_t at = ready.back();
    ready.pop_back();
    out.push_back(at);
    const auto& outputs = graph.passes[at].outputs;
    for (auto next = outputs.rbegin(); next != outputs.rend(); ++next)
      if (--waits[*next] == 0) ready.push_back(*next);
  }
  return out;
}

// Nothing but the tie-break, which is depth-first.
std::vector<double> score_depth(const TrainingGraph& graph, const std::vector<double>&,
                                const std::vector<std::uint32_t>&) {
  return std::vector<double>(graph.passes.size(), 0);
}

std::vector<double> score_path(const TrainingGraph& graph, const std::vector<double>& seconds,
                               const std::vector<std::uint32_t>&) {
  std::vector<double> longest(graph.passes.size(), 0);
  for (std::size_t i = graph.passes.size(); i-- > 0;) {
    for (const std::uint32_t next : graph.passes[i].outputs) longest[i] = std::max(longest[i], longest[next]);
    longest[i] += seconds[i];
  }
  return longest;
}

std::vector<double> score_successors(const TrainingGraph& graph, const std::vector<double>&,
                                     const std::vector<std::uint32_t>& device) {
  std::vector<double> count(graph.passes.size(), 0);
  for (std::size_t i = 0; i < graph.passes.size(); ++i)
    for (const std::uint32_t next : graph.passes[i].outputs) count[i] += device[next] == device[i] ? 1 : 2;
  return count;
}

const std::vector<Scheduler>& scheduler_table() {
  static const std::vector<Scheduler> all{
      {{"depth-first", "what became ready last runs first, as TensorFlow's executor does"}, score_depth},
      {{"path-time", "highest path computation time: the longest computing left to the end goes first"},
       score_path},
      {{"successors", "maximum successor rank: what most others wait for goes first"}, score_successors},
  };
  return all;
}

const Scheduler& find_scheduler(const std::string& name) {
  std::vector<std::string> known;
  for (const Scheduler& scheduler : scheduler_table()) {
    if (scheduler.entry.name == name) return scheduler;
    known.push_back(scheduler.entry.name);
  }
  throw UserError(fmt::format("there is no scheduler '{}'{}; there are: {}", printable(name, 80),
                              did_you_mean(name, known), join(known)));
}

}  // namespace

TrainingGraph training_graph(const graph::Model& model) {
  const auto count = static_cast<std::uint32_t>(model.operations.size());
  TrainingGraph out;
  std::vector<std::uint32_t> backward(count, kNone);
  std::vector<bool> gradient(count, false);
  for (std::uint32_t i = 0; i < count; ++i) {
    const graph::Operation& op = model.operations[i];
    out.passes.push_back({i, false});
    gradient[i] = op.parameters > 0;
    for (const std::uint32_t input : op.inputs) {
      connect_steps(out, input, i);  // the forward pass of an operation has its number
      if (gradient[input]) gradient[i] = true;
    }
  }
  for (std::uint32_t i = count; i-- > 0;) {
    if (!gradient[i]) continue;
    backward[i] = static_cast<std::uint32_t>(out.passes.size());
    out.passes.push_back({i, true});
    const auto readers = out.passes[i].outputs;
    for (const std::uint32_t reader : readers) connect_steps(out, backward[reader], backward[i]);
    if (readers.empty()) connect_steps(out, i, backward[i]);
  }
  return out;
}

const std::vector<ChoiceEntry>& schedulers() {
  static const std::vector<ChoiceEntry> all = [] {
    std::vector<ChoiceEntry> out;
    for (const Scheduler& scheduler : scheduler_table()) out.push_back(scheduler.entry);
    return out;
  }();
  return all;
}

std::vector<std::uint32_t> ranks(const TrainingGraph& graph, const std::string& scheduler,
                                 const std::vector<double>& seconds,
                                 const std::vector<std::uint32_t>& device) {
  const auto scores = find_scheduler(scheduler).score(graph, seconds, device);
  auto best_first = depth_first(graph);
  std::stable_sort(best_first.begin(), best_first.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return scores[a] > scores[b]; });
  std::vector<std::uint32_t> out(best_first.size());
  for (std::size_t i = 0; i < best_first.size(); ++i)
    out[best_first[i]] = static_cast<std::uint32_t>(best_first.size() - 1 - i);
  return out;
}

std::vector<std::uint32_t> order_on_one(const TrainingGraph& graph, const std::vector<std::uint32_t>& ranks) {
  auto waits = waiting_counts(graph);
  std::priority_queue<std::pair<std::uint32_t, std::uint32_t>> ready;  // rank, pass
  for (std::uint32_t i = 0; i < graph.passes.size(); ++i)
    if (waits[i] == 0) ready.emplace(ranks[i], i);
  std::vector<std::uint32_t> out;
  while (!ready.empty()) {
    const std::uint32_t at = ready.top().second;
    ready.pop();
    out.push_back(at);
    for (const std::uint32_t next : graph.passes[at].outputs)
      if (--waits[next] == 0) ready.emplace(ranks[next], next);
  }
  return out;
}

}  // namespace tandem::sim
