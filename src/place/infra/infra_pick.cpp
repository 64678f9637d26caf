#include "place/infra/infra_pick.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tandem::place {
namespace {

// Judges one node after the other for one job.
class Judge {
 public:
  Judge(const Catalogue& catalogue, const JobClasses& classes, const Demands& demands, Seconds now,
        const PickOptions& options)
      : demands_(demands),
        now_(now),
        options_(options),
        thresholds_(classes.thresholds(demands.job_class)),
        median_latency_(median_latency(catalogue)) {
    for (const auto& [host, node] : catalogue.nodes())
      for (const Resource resource : kAllResources)
        largest_[resource] = std::max(largest_[resource], amount(node.facts, resource));
    for (const Resource resource : kRates)
      if (minds(resource)) loads_.push_back(resource);
  }

  Judgement judge(const std::string& host, const Node& node) const {
    Judgement out{host};
    const auto stands = [&](Standing standing, std::optional<std::string> why) {
      if (!why) return false;
      out.standing = standing;
      out.why = *std::move(why);
      return true;
    };
    if (stands(Standing::unseen, unseen(node))) return out;
    out.score = score(node);
    stands(Standing::lacks, lacking(node.facts)) || stands(Standing::no_room, crowded(node)) ||
        stands(Standing::straggler, straggling(node, median_latency_, options_.stragglers, loads_)) ||
        stands(Standing::busy, busy(node));
    return out;
  }

 private:
  bool concerns(Resource resource) const {
    return demands_.gpus > 0 || (resource != Resource::gpu && resource != Resource::gpu_memory);
  }
  bool minds(Resource resource) const { return concerns(resource) && thresholds_[resource] <= kFull; }

  static double in_use(const Node& node, Resource resource) { return node.seen.back().in_use[resource]; }
  static double free(const Node& node, Resource resource) {
    return amount(node.facts, resource) * std::max(0.0, 1 - in_use(node, resource) - node.held[resource]);
  }

  std::optional<std::string> unseen(const Node& node) const {
    if (node.seen.empty()) return "it was never observed";
    const Seconds age = now_ - node.seen.back().at;
    if (age <= options_.oldest) return std::nullopt;
    return fmt::format("it was last observed {} ago", text(age));
  }

  std::optional<std::string> lacking(const NodeFacts& has) const {
    if (has.cores < demands_.cores)
      return fmt::format("{} cores are demanded, it has {}", demands_.cores, has.cores);
    if (has.memory < demands_.memory)
      return fmt::format("{} of memory is demanded, it has {}", text_bytes(demands_.memory),
                         text_bytes(has.memory));
    if (has.bandwidth < demands_.bandwidth)
      return fmt::format("{} are demanded, its network has {}", text_bandwidth(demands_.bandwidth),
                         text_bandwidth(has.bandwidth));
    if (has.gpus < demands_.gpus)
      return fmt::format("{} GPUs are demanded, it has {}", demands_.gpus, has.gpus);
    if (demands_.gpus > 0 && has.gpu_memory < demands_.gpu_memory)
      return fmt::format("{} of GPU memory is demanded, its GPUs have {}", text_bytes(demands_.gpu_memory),
                         text_bytes(has.gpu_memory));
    return std::nullopt;
  }

  std::optional<std::string> crowded(const Node& node) const {
    const auto tell = [&](Resource resource, Bytes demanded) -> std::optional<std::string> {
      const double left = free(node, resource);
      if (!concerns(resource) || left >= static_cast<double>(demanded)) return std::nullopt;
      return fmt::format("{} of {} is demanded, {} is free", text_bytes(demanded), name(resource),
                         text_bytes(static_cast<Bytes>(left)));
    };
    if (auto why = tell(Resource::memory, demands_.memory)) return why;
    return tell(Resource::gpu_memory, demands_.gpu_memory);
  }

  std::optional<std::string> busy(const Node& node) const {
    for (const Resource resource : kAllResources)
      if (minds(resource) && in_use(node, resource) >= thresholds_[resource])
        return fmt::format("its {} is {:.0f} % in use, the threshold is {:.0f} %", name(resource),
                           100 * in_use(node, resource), 100 * thresholds_[resource]);
    const double others =
        in_use(node, Resource::cpu) > options_.housekeeping ? in_use(node, Resource::cpu) : 0;
    const double cores = node.facts.cores * std::max(0.0, 1 - others - node.held[Resource::cpu]);
    if (cores < demands_.cores)
      return fmt::format("{} cores are demanded, {:.1f} are free", demands_.cores, cores);
    if (free(node, Resource::network) < demands_.bandwidth)
      return fmt::format("{} are demanded, {} are free", text_bandwidth(demands_.bandwidth),
                         text_bandwidth(free(node, Resource::network)));
    return std::nullopt;
  }

  double score(const Node& node) const {
    double sum = 0;
    for (const Resource resource : kAllResources)
      if (minds(resource) && largest_[resource] > 0)
        sum += options_.weights[resource] * free(node, resource) / largest_[resource];
    return sum;
  }

  const Demands& demands_;
  const Seconds now_;
  const PickOptions& options_;
  const Shares thresholds_;
  const Seconds median_latency_;
  Shares largest_{};
  std::vector<Resource> loads_{};
};

// "2 busy (n1: …), 1 without room (n3: …)": of each standing how many, and the first's reason.
std::string tell_excluded(const std::vector<Judgement>& nodes) {
  std::string out;
  for (const Standing standing :
       {Standing::busy, Standing::straggler, Standing::no_room, Standing::lacks, Standing::unseen}) {
    const auto is = [&](const Judgement& node) { return node.standing == standing; };
    const auto first = std::find_if(nodes.begin(), nodes.end(), is);
    if (first == nodes.end()) continue;
    out +=
        fmt::format("{}{} {} ({}: {})", out.empty() ? "" : ", ",
                    std::count_if(nodes.begin(), nodes.end(), is), name(standing), first->host, first->why);
  }
  return out.empty() ? "there are no others" : out;
}

}  // namespace

const char* name(Standing standing) {
  switch (standing) {
    case Standing::fit:
      return "fit";
    case Standing::busy:
      return "busy";
    case Standing::straggler:
      return "straggler";
    case Standing::no_room:
      return "without room";
    case Standing::lacks:
      return "lacking hardware";
    case Standing::unseen:
      return "not seen";
  }
  return "?";
}

std::vector<Judgement> judge_nodes(const Catalogue& catalogue, const JobClasses& classes,
                                   const Demands& demands, Seconds now, const PickOptions& options) {
  const Judge judge(catalogue, classes, demands, now, options);
  std::vector<Judgement> out;
  for (const auto& [host, node] : catalogue.nodes()) out.push_back(judge.judge(host, node));
  return out;
}

std::vector<std::size_t> admitted(const std::vector<Judgement>& nodes, bool readmit) {
  const Standing last = readmit ? Standing::straggler : Standing::fit;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].standing <= last) order.push_back(i);
  // Standings are in the order in which nodes are admitted; hosts already are in theirs.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return nodes[a].standing != nodes[b].standing ? nodes[a].standing < nodes[b].standing
                                                  : nodes[a].score > nodes[b].score;
  });
  return order;
}

Pick pick_workers(const Catalogue& catalogue, const JobClasses& classes, const Demands& demands, Seconds now,
                  const PickOptions& options) {
  Pick out;
  out.nodes = judge_nodes(catalogue, classes, demands, now, options);
  const auto order = admitted(out.nodes, options.readmit);
  const auto fit = std::count_if(out.nodes.begin(), out.nodes.end(),
                                 [](const Judgement& n) { return n.standing == Standing::fit; });
  if (fit < demands.workers)
    out.why = fmt::format("{} workers are wanted and {} nodes are fit; the others: {}", demands.workers, fit,
                          tell_excluded(out.nodes));
  const auto wanted = static_cast<std::size_t>(std::max(demands.workers, 0));
  if (order.size() < wanted) return out;
  for (std::size_t i = 0; i < wanted; ++i) {
    Judgement& node = out.nodes[order[i]];
    node.picked = true;
    out.workers.push_back(node.host);
    if (node.standing != Standing::fit) ++out.readmitted;
  }
  return out;
}

}  // namespace tandem::place
