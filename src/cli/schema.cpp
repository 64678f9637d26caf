// tandem schema, tandem completion SHELL: what editors and shells complete with
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "spec/parse.h"

namespace tandem::cli {
namespace {

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_run(const CLI::App& command) {
  for (const auto* option : command.get_options())
    if (option->get_name() == "RUN") return true;
  return false;
}

std::string bash(const CLI::App& app) {
  std::vector<std::string> commands;
  std::string cases;
  for (const auto* command : app.get_subcommands({})) {
    commands.push_back(command->get_name());
    std::vector<std::string> words = option_names(*command);
    for (const auto* verb : command->get_subcommands({})) words.push_back(verb->get_name());
    cases += fmt::format("    {}) words=\"{}\"{} ;;\n", command->get_name(), join(words, " "),
                         takes_run(*command) ? "; words+=\" last $(tandem runs -q 2>/dev/null)\"" : "");
  }
  return fmt::format(
      R"(# bash completion for tandem; put it into ~/.local/share/bash-completion/completions/tandem
_tandem() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words="{}"
  else case ${{COMP_WORDS[1]}} in
{}  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ ${{#COMPREPLY[@]}} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}}
complete -o filenames -F _tandem tandem
)",
      join(commands, " "), cases);
}

std::string zsh(const CLI::App& app) {
  return "autoload -U +X bashcompinit && bashcompinit\n" + bash(app);
}

std::string fish(const CLI::App& app) {
  std::string out = "# fish completion for tandem; put it into ~/.config/fish/completions/tandem.fish\n";
  for (const auto* command : app.get_subcommands({})) {
    out += fmt::format("complete -c tandem -n __fish_use_subcommand -a {} -d '{}'\n", command->get_name(),
                       command->get_description());
    const std::string seen = fmt::format("'__fish_seen_subcommand_from {}'", command->get_name());
    for (const auto& option : option_names(*command))
      out += fmt::format("complete -c tandem -n {} -l {}\n", seen, option.substr(2));
    for (const auto* verb : command->get_subcommands({}))
      out += fmt::format("complete -c tandem -n {} -a {}\n", seen, verb->get_name());
    if (takes_run(*command)) out += fmt::format("complete -c tandem -n {} -f -a '(tandem runs -q)'\n", seen);
  }
  return out;
}

}  // namespace

void add_schema(CLI::App& app, Action& action) {
  CLI::App* command = add_command(app, "schema", "Print the JSON Schema of a spec, for editors",
                                  "  tandem schema > tandem.schema.json\n  # first line of a spec:\n"
                                  "  # yaml-language-server: $schema=tandem.schema.json");
  auto as_json = std::make_shared<JsonOption>();
  as_json->add_to(*command);
  command->callback([as_json, &action] {
    action = [as_json] {
      const auto schema = spec::schema(catalogue());
      as_json->answer(schema, schema.dump(2) + "\n");
      return kDone;
    };
  });
}

void add_completion(CLI::App& app, Action& action) {
  auto shell = std::make_shared<std::string>();
  auto as_json = std::make_shared<JsonOption>();
  CLI::App* command = add_command(app, "completion", "Print shell completion for bash, zsh or fish",
                                  "  source <(tandem completion bash)");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  as_json->add_to(*command);
  command->callback([shell, as_json, &app, &action] {
    action = [shell, as_json, &app] {
      const std::string script = *shell == "bash" ? bash(app) : *shell == "zsh" ? zsh(app) : fish(app);
      as_json->answer({{"shell", *shell}, {"script", script}}, script);
      return kDone;
    };
  });
}

}  // namespace tandem::cli
