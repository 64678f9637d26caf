#include "cli/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"

namespace tandem::cli {
namespace fs = std::filesystem;
namespace {

fs::path default_store() {
  if (const char* folder = std::getenv("TANDEM_STORE"); folder && *folder) return folder;
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data) return fs::path(data) / "tandem";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".local/share/tandem";
  throw UserError("neither HOME nor XDG_DATA_HOME is set; say where runs are kept with --store DIR");
}

}  // namespace

void StoreOption::add_to(CLI::App& app) {
  app.add_option("--store", folder,
                 "folder with the runs (default: $TANDEM_STORE, else ~/.local/share/tandem)")
      ->type_name("DIR");
}

store::Store StoreOption::open() const {
  store::Store store(folder.empty() ? default_store() : fs::path(folder));
  if (auto warning = store.warning()) std::cerr << "tandem: warning: " << *warning << "\n";
  return store;
}

void JsonOption::add_to(CLI::App& app) {
  app.add_option("--json", target, "write the result as JSON to FILE; '-' is standard output")
      ->type_name("FILE|-");
}

void JsonOption::write(const nlohmann::json& result) const {
  // Text from programs may not be UTF-8; it is replaced, never a reason to lose a result.
  const std::string text = result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (alone()) {
    std::cout << text << std::flush;
  } else if (wanted()) {
    std::ofstream out(target);
    out << text << std::flush;
    if (!out) throw_errno("writing " + target);
  }
}

void JsonOption::say(const std::string& text) const {
  if (!alone()) std::cout << text << std::flush;
}

void DataOption::add_to(CLI::App& app) {
  app.add_option("--data", folder, "folder with the datasets (default: $TANDEM_DATA)")->type_name("DIR");
}

void DataOption::apply() const {
  if (!folder.empty()) ::setenv("TANDEM_DATA", fs::absolute(folder).c_str(), 1);
}

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& what,
                      const std::string& examples) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer("\nExamples:\n" + examples);
  return command;
}

}  // namespace tandem::cli
