// tandem ask SPEC: trials for a program that tries them itself
#include <iostream>
#include <memory>

#include "app/ask_tell.h"
#include "base/error.h"
#include "cli/command.h"

namespace tandem::cli {

void add_ask(CLI::App& app, Action& action) {
  struct Options {
    std::string spec, resumed;
    StoreOption store;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(app, "ask", "Ask and tell over lines of JSON: for programs that try the trials themselves",
                  "  tandem ask job.yaml              then, on standard input, a line each:\n"
                  "    {\"ask\": true}\n    {\"tell\": 0, \"attempt\": 1, \"metrics\": {\"accuracy\": 0.9}}\n"
                  "    {\"result\": true}\n  tandem ask --resume last\n\nIn Python: tandem.Study (docs/python.md).");
  command->add_option("SPEC", options->spec, "a YAML file with kind: tune; its program is not used");
  command->add_option("--resume", options->resumed, "goes on with this run")->type_name("RUN");
  options->store.add_to(*command);
  command->callback([options, &action] {
    action = [options] {
      if (options->spec.empty() == options->resumed.empty())
        throw UserError("say what to search (SPEC), or which run goes on (--resume RUN)");
      auto store = options->store.open();
      app::serve_questions(store, options->spec, options->resumed, std::cin, std::cout);
      return kDone;
    };
  });
}

}  // namespace tandem::cli
