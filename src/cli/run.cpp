#include "cli/run.h"

#include <algorithm>
#include <csignal>
#include <iostream>

#include "base/error.h"
#include "base/text.h"
#include "base/printable_stream.h"
#include "cli/command.h"

namespace tandem::cli {
namespace {

// The first word that should be a command and is none; CLI11 only says that one is required.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  std::string path;
  for (int i = 1; i < argc && at->get_require_subcommand_min() > 0; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("-")) return "";
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const CLI::App* command : at->get_subcommands({})) {
      names.push_back(command->get_name());
      if (command->get_name() == word) next = command;
    }
    if (next == nullptr) {
      const auto meant = nearest(word, names);
      return "there is no command '" + path + printable(word, 60) + "'" +
             (meant ? ": did you mean " + *meant + "?" : ";") + " `tandem " + path + "--help` lists them";
    }
    at = next;
    path += word + " ";
  }
  return "";
}

// The command that the words name, as it is written: "tandem data get".
const CLI::App* named(const CLI::App& app, int argc, char** argv, std::string& path) {
  const CLI::App* at = &app;
  path = app.get_name();
  for (int i = 1; i < argc; ++i)
    for (const CLI::App* command : at->get_subcommands({}))
      if (command->get_name() == argv[i]) {
        at = command;
        path += " " + command->get_name();
        break;
      }
  return at;
}

// The first option that the command does not have; CLI11 only says that something was not expected.
std::string unknown_option(const CLI::App& command, const std::string& path, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if (!word.starts_with("--") || std::find(names.begin(), names.end(), word) != names.end()) continue;
    const auto meant = nearest(word, names);
    return path + " has no option " + printable(word, 60) + (meant ? ": did you mean " + *meant + "?" : ";") + " `" +
           path + " --help` lists them";
  }
  return "";
}

// `--trace --jobs x`: CLI11 takes what follows an option for its value, whatever it is.
void refuse_options_as_values(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands({})) refuse_options_as_values(*command);
  for (CLI::Option* option : app.get_options())
    if (!option->get_positional() && option->get_items_expected_min() > 0)
      option->check([](const std::string& written) {
        return written.starts_with("--") ? "needs a value, and " + printable(written, 60) + " is an option"
                                         : "";
      });
}

}  // namespace

int run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const PrintableStream output(std::cout), errors(std::cerr);
  CLI::App app("Tandem tunes, places and protects deep-learning jobs, trading accuracy, time and energy.",
               "tandem");
  app.set_version_flag("--version", "tandem " TANDEM_VERSION);
  app.require_subcommand(1);
  app.footer(
      "\nStart with:\n  tandem doctor                             what this machine can do\n"
      "  tandem train examples/lenet-digits.yaml   train a model, with its time and energy\n"
      "  tandem COMMAND --help                     options and examples of a command\n\n"
      "Exit codes: 0 done, 1 trouble, 2 you can fix it, 3 the answer is no, 130 interrupted (resumable).");
  Action action;
  for (auto add :
       {add_train,   add_tune,  add_characterize, add_advise, add_knowledge, add_sim,    add_serve,
        add_submit,  add_queue, add_cancel,       add_nodes,  add_explain,   add_output, add_probe,
        add_resume,  add_runs,  add_show,         add_report, add_logs,      add_stop,   add_rm,
        add_predict, add_infer, add_data,         add_doctor, add_tell,      add_schema, add_completion,
        add_token,   add_compare, add_label,    add_ask})
    add(app, action);
  add_kinds(app, action);
  refuse_options_as_values(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (const auto unknown = unknown_command(app, argc, argv); !unknown.empty()) {
      std::cerr << "tandem: " << unknown << "\n";
      return kUserCanFix;
    }
    std::string path;
    const CLI::App* command = named(app, argc, argv, path);
    if (e.get_exit_code() == 0) return app.exit(e) == 0 ? kDone : kUserCanFix;
    const auto unknown = unknown_option(*command, path, argc, argv);
    std::cerr << "tandem: " << (unknown.empty() ? std::string(e.what()) + "; `" + path + " --help` says more" : unknown)
              << "\n";
    return kUserCanFix;
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
