// Preloaded processes (docs/preload.md): for each kind of Python program a template, a process that has imported what
// the program imports, computes nothing, and forks its next trials in milliseconds.
//
// A kind is a script with its interpreter, folder and environment, but for what differs from one start to the next.
// What to import is learned from a program of the kind after its first epoch (`loaded` of its report). A template says
// itself whether it can be forked (python/tandem/_preload.py): one that cannot is not asked again, and why is kept.
// Whatever goes wrong, the program starts cold. Not thread-safe: it belongs to its world.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/process.h"
#include "spec/job.h"

namespace tandem::local {

// A Python script as a command names it; none: the command is something else, or has options that change how a
// script begins.
struct PythonScript {
  std::vector<std::string> interpreter;  // with its options
  std::string script;
  std::vector<std::string> arguments;
};
std::optional<PythonScript> python_script(const std::vector<std::string>& command);

struct TemplateOptions {
  std::string run;
  std::filesystem::path folder;  // the run's
  std::filesystem::path keeper;  // the program tandem-keeper; empty: nothing is preloaded
  std::vector<int> cpus;         // all that programs may ever have
};

class Templates {
 public:
  explicit Templates(TemplateOptions);
  Templates(const Templates&) = delete;
  ~Templates();  // ends them

  // "": programs like this start cold.
  std::string kind_of(const platform::Launch&, const spec::Program&);
  // Nothing is known yet of what programs of this kind load.
  bool wants_to_learn(const std::string& kind) const;
  // `loaded` is the JSON object of a report.
  void learned(const std::string& kind, const std::string& loaded);
  // nullopt: start it cold, this time at least.
  std::optional<platform::Child> fork(const std::string& kind, const platform::Launch&);
  // Why programs of this kind start cold for good, once; "" otherwise.
  std::string news_of(const std::string& kind);

 private:
  struct Known {
    PythonScript script;
    std::vector<std::string> modules;         // that were asked for; none: what was learned
    platform::Launch example;                 // of a program of this kind
    std::string loaded;                       // none: not learned yet
    std::string why_cold;                     // for good
    bool said = false;                        // and its user was told
    int begun = 0;                            // templates so far
    std::optional<platform::Child> process;   // its template
    platform::Descriptor socket;
    std::string record, heard;
    bool ready = false;
  };

  void begin(Known&);
  void launch(Known&);
  void listen(Known&);
  void end(Known&);

  TemplateOptions options_;
  std::map<std::string, Known> known_;
  int begun_ = 0;
};

}  // namespace tandem::local
