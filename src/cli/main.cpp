// `tandem`: parses the command line, runs one command, turns trouble into messages and exit codes.
#include <csignal>
#include <iostream>

#include "base/error.h"
#include "cli/command.h"

int main(int argc, char** argv) {
  using namespace tandem;
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
  cli::Action action;
  for (auto add :
       {cli::add_train,   cli::add_tune,      cli::add_characterize, cli::add_knowledge, cli::add_sim,
        cli::add_serve,   cli::add_submit,    cli::add_queue,        cli::add_cancel,    cli::add_nodes,
        cli::add_explain, cli::add_output,    cli::add_probe,        cli::add_resume,    cli::add_runs,
        cli::add_show,    cli::add_report,    cli::add_logs,         cli::add_stop,      cli::add_rm,
        cli::add_predict, cli::add_infer,     cli::add_data,         cli::add_doctor,    cli::add_tell,
        cli::add_schema,  cli::add_completion})
    add(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? cli::kDone : cli::kUserCanFix;
  }
  try {
    return action();
  } catch (const UserError& e) {
    std::cerr << "tandem: " << e.what() << "\n";
    return cli::kUserCanFix;
  } catch (const std::exception& e) {
    std::cerr << "tandem: " << e.what() << "\n";
    return cli::kTrouble;
  }
}
