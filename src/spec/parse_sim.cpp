#include "spec/parse_sim.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "spec/checks.h"
#include "spec/field.h"
#include "spec/into.h"
#include "spec/reading.h"
#include "spec/ready_clusters.h"
#include "spec/sim_checks.h"

namespace tandem::spec {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestBase = 56;  // leaves room for a number after a name

bool is_file_name(const std::string& word) {
  const bool one_line = word.find_first_of("\n\t") == std::string::npos;
  return one_line &&
         (word.find('/') != std::string::npos || word.ends_with(".yaml") || word.ends_with(".yml"));
}

std::string unknown_cluster(const std::string& word) {
  const auto known = names(ready_clusters());
  return quote(word) + " is not a ready cluster: there are " + join(known) + did_you_mean(word, known) +
         "; a file of your own ends in .yaml";
}

void tidy(Cluster& cluster) {
  if (cluster.name.empty()) cluster.name = "cluster";
  for (auto& device : cluster.devices) {
    std::sort(device.clocks.begin(), device.clocks.end());
    device.clocks.erase(std::unique(device.clocks.begin(), device.clocks.end()), device.clocks.end());
  }
}

// The cluster that one word stands for. What is wrong in a file of its own goes to `elsewhere`.
Cluster cluster_called(const Node& word, const ReadBeside& read, Issues& issues,
                       std::vector<Issue>& elsewhere) {
  if (const auto* ready = find(ready_clusters(), word.text)) return ready->cluster;
  if (!is_file_name(word.text) || !read) {
    issues.add(word.at, "cluster", unknown_cluster(word.text));
    return {};
  }
  try {
    const FileText file = read(word.text);
    auto result = parse_cluster(file.text, file.name);
    elsewhere = std::move(result.issues);
    return result.cluster.value_or(Cluster{});
  } catch (const UserError& error) {
    issues.add(word.at, "cluster", printable(error.what()));
    return {};
  }
}

template <class Predicate>
bool none(const Issues& issues, Predicate predicate) {
  const auto found = issues.in_order();
  return std::none_of(found.begin(), found.end(), [&](const Issue& issue) { return predicate(issue.path); });
}

bool cluster_is_good(const Issues& issues) {
  return none(issues, [](const std::string& path) {
    return path.empty() || path == "cluster" || path.starts_with("cluster.");
  });
}

// A word that stands for a cluster, and has not been found to be something else.
bool is_cluster_word(const Node* cluster, const Issues& issues) {
  return cluster != nullptr && cluster->kind == Node::Kind::scalar &&
         none(issues, [](const std::string& path) { return path == "cluster"; });
}

// The cluster by itself first: nothing is said of workloads on a cluster that could not be read.
void check_whole(const SimJob& job, const Node& root, bool cluster_known, Issues& issues) {
  SimJob judged;
  judged.cluster = job.cluster;
  report(problems(judged), root, issues);
  judged.workloads = job.workloads;
  if (!cluster_known || !cluster_is_good(issues)) judged.cluster = {};
  report(problems(judged), root, issues);
}

void name_what_has_none(SimJob& job) {
  std::map<std::string, int> taken;
  for (const auto& workload : job.workloads)
    if (!workload.name.empty()) taken[workload.name] = 1;
  for (auto& workload : job.workloads) {
    if (!workload.name.empty()) continue;
    const bool file = workload.model.empty();
    std::string base = file_name_as_name(file ? workload.model_file : workload.model).substr(0, kLongestBase);
    if (file && base.size() > 5 && base.ends_with(".json")) base.resize(base.size() - 5);
    if (base.empty()) base = "workload";
    workload.name = base;
    while (taken.contains(workload.name)) workload.name = base + "-" + std::to_string(++taken[base]);
    taken[workload.name] = 1;
  }
  if (job.name.empty()) job.name = (job.workloads[0].name + "-" + job.cluster.name).substr(0, kLongestName);
}

}  // namespace

SimResult parse_sim(std::string_view text, const std::string& file_name, const Catalogue& catalogue,
                    const ReadBeside& read) {
  Issues issues(file_name);
  std::vector<Issue> elsewhere;
  SimResult result;
  if (const auto root = read_kind(text, "sim", issues)) {
    SimJob& job = result.job.emplace();
    read_table(sim_fields(catalogue), false, *root, "", &job, issues);
    if (const Node* cluster = root->find("cluster"); is_cluster_word(cluster, issues))
      job.cluster = cluster_called(*cluster, read, issues, elsewhere);
    tidy(job.cluster);
    check_whole(job, *root, elsewhere.empty(), issues);
  }
  result.issues = issues.in_order();
  result.issues.insert(result.issues.end(), elsewhere.begin(), elsewhere.end());
  if (result.issues.empty())
    name_what_has_none(*result.job);
  else
    result.job.reset();
  return result;
}

ClusterResult parse_cluster(std::string_view text, const std::string& file_name) {
  Issues issues(file_name);
  ClusterResult result;
  if (const auto root = read_kind(text, "cluster", issues)) {
    Cluster& cluster = result.cluster.emplace();
    read_table(cluster_file_fields(), false, *root, "", &cluster, issues);
    tidy(cluster);
    report(problems(cluster), *root, issues);
  }
  if (!issues.empty()) result.cluster.reset();
  result.issues = issues.in_order();
  return result;
}

SimJob require_sim(std::string_view text, const std::string& file_name, const Catalogue& catalogue) {
  auto result = parse_sim(text, file_name, catalogue);
  if (!result.job) refuse(result.issues);
  return *std::move(result.job);
}

SimJob load_sim(const fs::path& path, const Catalogue& catalogue) {
  const fs::path folder = path.parent_path();
  const auto beside = [&](const std::string& file) {
    return FileText{(folder / file).string(), read_file(folder / file)};
  };
  auto result = parse_sim(read_file(path), path.string(), catalogue, beside);
  if (!result.job) refuse(result.issues);
  for (auto& workload : result.job->workloads)
    if (!workload.model_file.empty()) workload.model_file = (folder / workload.model_file).string();
  return *std::move(result.job);
}

Cluster load_cluster(const std::string& name_or_file) {
  if (const auto* ready = find(ready_clusters(), name_or_file)) return ready->cluster;
  if (!is_file_name(name_or_file)) throw UserError(unknown_cluster(name_or_file));
  auto result = parse_cluster(read_file(name_or_file), name_or_file);
  if (!result.cluster) refuse(result.issues);
  return *std::move(result.cluster);
}

void set_key(Workload& workload, const std::string& key, const std::string& value,
             const Catalogue& catalogue) {
  auto fields = workload_fields(catalogue);
  for (auto& field : fields) field.required = false;  // one key is given, the others are there
  Node written;
  written.kind = Node::Kind::scalar;
  written.text = value;
  Node map;
  map.kind = Node::Kind::map;
  map.entries.push_back({key, {}, std::move(written)});
  Issues issues("");
  read_table(fields, false, map, "", &workload, issues);
  if (issues.empty()) return;
  const Issue issue = issues.in_order()[0];
  throw UserError(issue.path + ": " + issue.message);
}

void check(const SimJob& job) {
  std::vector<std::string> lines;
  for (const auto& problem : problems(job)) lines.push_back(path_text(problem.at) + ": " + problem.message);
  if (!lines.empty()) throw UserError(join(lines, "\n"));
}

}  // namespace tandem::spec
