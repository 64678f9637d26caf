// What runs on this machine now, for advice that knows the load: Tandem's own runs, and whatever else keeps
// cores busy.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advise/advisor.h"
#include "event/view.h"
#include "platform/thread_load.h"
#include "store/store.h"

namespace tandem::app {

// --running auto, none, or a number of other jobs that run all along.
struct RunningOption {
  enum class Kind { automatic, none, number };
  Kind kind = Kind::automatic;
  int number = 0;
};
RunningOption parse_running(const std::string&);  // UserError

struct RunningNow {
  std::vector<advise::RunningJob> jobs;  // Tandem's
  double others = 0;                     // more jobs of which nothing else is known
  double busy_cores = 0;                 // wanted by whoever is not Tandem
  std::vector<std::string> notes;        // where a number was assumed rather than known
  std::vector<std::shared_ptr<const advise::Models>> models{};  // what `jobs` point to
  double count() const { return static_cast<double>(jobs.size()) + others; }
};

// A task at work, and the program it runs.
struct AtWork {
  advise::RunningJob running;
  std::string program;  // as program_name tells it
};
// Tasks of a run that are at work, as its journal tells it. `slos`: what its jobs were promised, those that
// were. Pure.
std::vector<AtWork> at_work(const std::string& run, const View&, Seconds now,
                            const std::map<JobId, Seconds>& slos);

// Cores that others want; 0 for the little that shells and daemons do. Pure.
double busy_with(double cores);
// What was seen of it, in words; `ours`: cores of Tandem's own runs. Pure.
std::string busy_text(double busy_cores, const platform::CoresWanted& seen, double ours);

RunningNow running_now(store::Store&, const RunningOption&, const NodeView& machine);

}  // namespace tandem::app
