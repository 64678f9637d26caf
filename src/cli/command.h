// What every command shares: where the store is, how results are written, and how a command is put on the
// table.
//
// A command is one file with one `add_…` function that describes its options to CLI11 and what to run.
// Commands return their exit code; UserError becomes 2 and everything else 1, in main.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/catalogue.h"
#include "app/installation.h"
#include "report/text_table.h"
#include "store/store.h"

namespace tandem::cli {

using namespace app;  // what commands are about
using namespace report;

enum ExitCode { kDone = 0, kTrouble = 1, kUserCanFix = 2, kAnswerIsNo = 3, kInterrupted = 130 };

// Set by the command that was chosen, run after parsing.
using Action = std::function<int()>;

struct StoreOption {
  std::string folder;  // empty: the default
  void add_to(CLI::App&);
  store::Store open() const;
};

// --json FILE|-: with "-" only JSON goes to standard output.
struct JsonOption {
  std::string target;
  void add_to(CLI::App&);
  bool wanted() const { return !target.empty(); }
  bool alone() const { return target == "-"; }
  void write(const nlohmann::json&) const;
  // What a person reads, unless JSON alone was asked for.
  void say(const std::string& text) const;
  void answer(const nlohmann::json& result, const std::string& text) const { write(result), say(text); }
};

// --data DIR, for commands that read datasets; becomes TANDEM_DATA of this process and its programs.
struct DataOption {
  std::string folder;
  void add_to(CLI::App&);
  void apply() const;
};

// A page to a file, or to standard output (-).
void write_page(const std::string& file, const std::string& page);

CLI::App* add_command(CLI::App&, const std::string& name, const std::string& what,
                      const std::string& examples);

void add_train(CLI::App&, Action&);
void add_tune(CLI::App&, Action&);
void add_advise(CLI::App&, Action&);
void add_characterize(CLI::App&, Action&);
void add_sim(CLI::App&, Action&);
void add_knowledge(CLI::App&, Action&);
void add_resume(CLI::App&, Action&);
void add_runs(CLI::App&, Action&);
void add_show(CLI::App&, Action&);
void add_report(CLI::App&, Action&);
void add_logs(CLI::App&, Action&);
void add_stop(CLI::App&, Action&);
void add_rm(CLI::App&, Action&);
void add_compare(CLI::App&, Action&);
void add_label(CLI::App&, Action&);
void add_predict(CLI::App&, Action&);
void add_infer(CLI::App&, Action&);
void add_data(CLI::App&, Action&);
void add_doctor(CLI::App&, Action&);
void add_tell(CLI::App&, Action&);
void add_schema(CLI::App&, Action&);
void add_completion(CLI::App&, Action&);
void add_serve(CLI::App&, Action&);
void add_submit(CLI::App&, Action&);
void add_queue(CLI::App&, Action&);
void add_cancel(CLI::App&, Action&);
void add_nodes(CLI::App&, Action&);
void add_explain(CLI::App&, Action&);
void add_output(CLI::App&, Action&);
void add_probe(CLI::App&, Action&);
void add_token(CLI::App&, Action&);
void add_ask(CLI::App&, Action&);
// A command for each kind of job that has no file of its own here.
void add_kinds(CLI::App&, Action&);

}  // namespace tandem::cli
