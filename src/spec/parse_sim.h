// From what a planner writes to a simulation: YAML in, either a complete job or all that is wrong with it.
//
// The cluster of a simulation is written out, or one word: a ready one (spec/ready_clusters.h), or a file of
// its own (`kind: cluster`). Either way it is whole in the job. Models and strategies are checked against
// `zoo` and `strategies` of the catalogue. Pure functions, except `load_*`, which read files.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/catalogue.h"
#include "spec/cluster.h"
#include "spec/issue.h"

namespace tandem::spec {

// Either a job (a cluster), or at least one issue; issues come in the order of the file, those of a cluster's
// file last.
struct SimResult {
  std::optional<SimJob> job;
  std::vector<Issue> issues;
};
struct ClusterResult {
  std::optional<Cluster> cluster;
  std::vector<Issue> issues;
};

// A file that a spec names: what messages call it, and what is in it.
struct FileText {
  std::string name, text;
};
// Throws UserError where it cannot be read.
using ReadBeside = std::function<FileText(const std::string& file)>;

// Without `read`, a cluster cannot be a file.
SimResult parse_sim(std::string_view text, const std::string& file_name, const Catalogue&,
                    const ReadBeside& read = {});
ClusterResult parse_cluster(std::string_view text, const std::string& file_name);

// The job, or one UserError that lists all issues, one a line.
SimJob require_sim(std::string_view text, const std::string& file_name, const Catalogue&);

// The same from a file; UserError when it cannot be read. Files it names are relative to its folder; those of
// models are left in the job as paths from here.
SimJob load_sim(const std::filesystem::path&, const Catalogue&);
// A ready cluster, or one from a file.
Cluster load_cluster(const std::string& name_or_file);

// Sets one key of a workload as if it had been written ("workers", "8"), for a sweep. UserError for a key
// that is not there, with the nearest one, and for a bad value. Follow it by check().
void set_key(Workload&, const std::string& key, const std::string& value, const Catalogue&);

// UserError that lists what is wrong with a job that a program made or changed; parsed ones are good.
void check(const SimJob&);

// The job as a spec again: parse_sim() makes the same job of it. The cluster is written out; what has its
// default value is left out.
std::string to_yaml(const SimJob&);

}  // namespace tandem::spec
