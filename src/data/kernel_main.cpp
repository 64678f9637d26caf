// tandem-kernel: runs one of the small computations and says how long it took.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/units.h"
#include "data/kernels.h"

namespace {

using tandem::data::Kernel;

struct Choice {
  const Kernel* kernel = nullptr;
  std::vector<std::int64_t> settings;
  CLI::App* command = nullptr;
};

constexpr const char* kExamples =
    "Examples:\n"
    "  tandem-kernel jacobi --size 256 --iterations 50 --threads 2\n"
    "  tandem-kernel kmeans --points 20000 --clusters 8 --json -\n"
    "  tandem-kernel bfs --vertices 50000 --degree 8 --sources 4\n"
    "  tandem-kernel matrix --size 512 --products 8\n";

void write_json(const Choice& choice, const tandem::data::KernelResult& result, const std::string& to) {
  nlohmann::json settings;
  for (std::size_t i = 0; i < choice.settings.size(); ++i) {
    settings[choice.kernel->settings[i].name] = choice.settings[i];
  }
  const nlohmann::json document = {{"kernel", choice.kernel->name},
                                   {"settings", settings},
                                   {"seconds", result.seconds},
                                   {"checksum", result.checksum}};
  if (to == "-") {
    std::cout << document.dump(2) << std::endl;
    if (!std::cout) tandem::throw_errno("writing to stdout");
    return;
  }
  std::ofstream file(to);
  file << document.dump(2) << '\n';
  file.close();
  if (!file) tandem::throw_errno("writing " + to);
}

int run(const Choice& choice, const std::string& json) {
  const auto result = tandem::data::run_kernel(*choice.kernel, choice.settings);
  if (json != "-") {
    fmt::print("{}: {} (checksum {})\n", choice.kernel->name, tandem::text(tandem::Seconds{result.seconds}),
               result.checksum);
  }
  if (!json.empty()) write_json(choice, result, json);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs a small computation and says how long it took.", "tandem-kernel");
  app.footer(kExamples);
  app.require_subcommand(1);
  std::string json;
  std::vector<Choice> choices(tandem::data::kernels().size());
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const Kernel& kernel = tandem::data::kernels()[i];
    Choice& choice = choices[i];
    choice.kernel = &kernel;
    choice.command = app.add_subcommand(kernel.name, kernel.description)->footer(kExamples);
    choice.settings.resize(kernel.settings.size());
    for (std::size_t s = 0; s < choice.settings.size(); ++s) {
      choice.settings[s] = kernel.settings[s].fallback;
      choice.command
          ->add_option("--" + kernel.settings[s].name, choice.settings[s], kernel.settings[s].description)
          ->capture_default_str();
    }
    choice.command->add_option("--json", json, "write the result as JSON; - is standard output")
        ->type_name("FILE|-");
  }
  try {
    app.parse(argc, argv);
    for (const Choice& choice : choices) {
      if (choice.command->parsed()) return run(choice, json);
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const tandem::UserError& error) {
    fmt::print(stderr, "tandem-kernel: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tandem-kernel: {}\n", error.what());
  }
  return 1;
}
