// The table a characterization starts from: runs of a designed experiment, what was set and what came out.
//
// A response may be missing from a run (it failed, or the program does not report it): such a run is not
// part of what is said of that response. Jobs that ran side by side are several runs of one replication; they
// are not independent, so they are averaged into one observation wherever confidence is at stake. Plain
// values; pure.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/value.h"

namespace tandem::characterize {

enum class Side { hyper, system };  // of the model, or of what it runs on

struct Factor {
  std::string name;
  Side side = Side::hyper;
  Value usual{};  // the default, around which one factor is varied at a time
};

struct Response {
  std::string name;
  std::string unit{};
  std::string phase{};   // "load", "training", "inference"; "": the whole run
  bool quality = false;  // of the model (accuracy, R2, silhouette), else performance
  bool more_is_better = false;
};

struct Run {
  Values at;  // every factor's value
  std::size_t replication = 0;
  Metrics responses{};              // by name
  std::string method{}, dataset{};  // of the workload, where a study has several
};

struct Study {
  std::vector<Factor> factors;
  std::vector<Response> responses;
  std::vector<Run> runs;
};

// UserError: no runs, a run without a factor's value, a response that is not finite, a name twice.
void check(const Study&);

// A mean over replications and how far it may be off with 95 % confidence (Student's t); one observation does
// not say.
struct Mean {
  double value = 0;
  std::size_t count = 0;
  std::optional<double> reach{};
};
Mean mean_of(std::span<const double>);

// The distinct settings of a study, each with its observations of a response. Whole numbers are such: 64.0
// is 64.
struct Setting {
  Values at;
  std::vector<double> observations;  // one a replication
};
std::vector<Setting> settings(const Study&, const std::string& response);

// Numbers of more values than this are treated as numbers, not as a set of levels.
inline constexpr std::size_t kMostLevels = 8;

bool before(const Value&, const Value&);                                // numbers by size
bool same(const Value&, const Value&);                                  // 1 and 1.0 are
const Response& response_named(const Study&, const std::string& name);  // UserError: no such

}  // namespace tandem::characterize
