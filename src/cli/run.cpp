#include "cli/run.h"

#include <csignal>
#include <iostream>

#include "base/error.h"
#include "cli/command.h"

namespace tandem::cli {

int run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app("Tandem tunes, places and protects deep-learning jobs, trading accuracy, time and energy.",
               "tandem");
  app.set_version_flag("--version", "tandem " TANDEM_VERSION);
  app.require_subcommand(1);
  app.footer(
      "\nStart with:\n  tandem doctor                          what this machine can do\n"
      "  tandem train examples/lenet-digits.yaml   train a model, with its time and energy\n"
      "  tandem COMMAND --help                  options and examples of a command\n\n"
      "Exit codes: 0 done, 1 trouble, 2 you can fix it, 3 the answer is no, 130 interrupted (resumable).");
  Action action;
  for (auto add :
       {add_train,   add_tune,  add_characterize, add_advise, add_knowledge, add_sim,    add_serve,
        add_submit,  add_queue, add_cancel,       add_nodes,  add_explain,   add_output, add_probe,
        add_resume,  add_runs,  add_show,         add_report, add_logs,      add_stop,   add_rm,
        add_predict, add_infer, add_data,         add_doctor, add_tell,      add_schema, add_completion,
        add_token})
    add(app, action);
  add_kinds(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kDone : kUserCanFix;
  }
  try {
    return action();
  } catch (const UserError& e) {
    std::cerr << "tandem: " << e.what() << "\n";
    return kUserCanFix;
  } catch (const std::exception& e) {
    std::cerr << "tandem: " << e.what() << "\n";
    return kTrouble;
  }
}

}  // namespace tandem::cli
