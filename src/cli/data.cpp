// tandem data list|get|check
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/printable_stream.h"
#include "base/text.h"
#include "cli/command.h"
#include "data/dataset.h"

namespace tandem::cli {
namespace {

using nlohmann::json;

struct DataOptions {
  std::vector<std::string> names;
  JsonOption json;
  DataOption data;

  std::vector<std::string> names_or_all() const {
    if (!names.empty()) return names;
    std::vector<std::string> all;
    for (const auto& entry : data::datasets()) all.push_back(entry.name);
    return all;
  }
};

int list(const DataOptions& options) {
  const auto folders = data::folders_from_environment();
  auto rows = json::array();
  std::string table = fmt::format("{:<14} {:<6} {:<5} {}\n", "DATASET", "KIND", "HERE", "WHAT");
  for (const auto& entry : data::datasets()) {
    const auto [available, detail, can_be_made] = data::availability(entry.name, folders);
    rows.push_back({{"name", entry.name},
                    {"kind", entry.kind},
                    {"available", available},
                    {"detail", detail},
                    {"can_be_made", can_be_made},
                    {"description", entry.description}});
    table += fmt::format("{:<14} {:<6} {:<5} {}\n{:<27} {}\n", entry.name, entry.kind,
                         available ? "yes" : "no", entry.description, "", detail);
  }
  options.json.write({{"datasets", rows}});
  if (!options.json.alone()) std::cout << table;
  return kDone;
}

int get(const DataOptions& options) {
  const auto folders = data::folders_from_environment();
  const bool live = ::isatty(STDERR_FILENO);
  auto rows = json::array();
  for (const auto& name : options.names) {
    const auto done = data::prepare(name, folders, [&](double fraction) {
      if (live) write_as_it_is(std::cerr, fmt::format("\r{}: {:3.0f} %", printable_line(name), fraction * 100));
    });
    if (live) write_as_it_is(std::cerr, "\r\x1b[2K");
    rows.push_back({{"name", name}, {"detail", done}});
    if (!options.json.alone()) std::cout << name << ": " << done << "\n";
  }
  options.json.write({{"datasets", rows}});
  return kDone;
}

json summary_json(const data::Summary& summary) {
  return {{"name", summary.name},
          {"kind", data::text(summary.kind)},
          {"shape", summary.shape},
          {"classes", summary.classes},
          {"train", summary.train},
          {"test", summary.test},
          {"class_names", summary.class_names},
          {"train_balance", summary.train_balance},
          {"test_balance", summary.test_balance},
          {"source", summary.source}};
}

void print(const data::Summary& summary) {
  std::cout << fmt::format(
      "{}: good. {} train, {} test samples, shape {}, {}; {}\n", summary.name, summary.train, summary.test,
      fmt::join(summary.shape, "x"),
      summary.classes > 0 ? fmt::format("{} classes", summary.classes) : "a number to predict",
      summary.source);
  for (std::size_t c = 0; c < summary.train_balance.size() && c < summary.class_names.size(); ++c)
    std::cout << fmt::format("  {:<20} {:>7} train {:>7} test\n", summary.class_names[c],
                             summary.train_balance[c], summary.test_balance[c]);
}

int check(const DataOptions& options) {
  const auto folders = data::folders_from_environment();
  auto rows = json::array();
  for (const auto& name : options.names_or_all()) {
    if (options.names.empty() && !data::availability(name, folders).available) {
      if (!options.json.alone()) std::cout << name << ": not here\n";
      continue;
    }
    const auto summary = data::check(name, folders);
    rows.push_back(summary_json(summary));
    if (!options.json.alone()) print(summary);
  }
  options.json.write({{"datasets", rows}});
  return kDone;
}

}  // namespace

void add_data(CLI::App& app, Action& action) {
  CLI::App* command =
      add_command(app, "data", "List, make and check datasets",
                  "  tandem data list\n  tandem data get jacobi\n  tandem data check mnist --data DIR");
  command->require_subcommand(1);
  struct Verb {
    const char *name, *what;
    int (*run)(const DataOptions&);
    bool names, names_required;
  };
  for (const auto& verb : {Verb{"list", "what there is, and what is here", list, false, false},
                           Verb{"get", "make a dataset, or say how to bring it", get, true, true},
                           Verb{"check", "read a dataset whole and say what is in it", check, true, false}}) {
    auto options = std::make_shared<DataOptions>();
    CLI::App* sub = command->add_subcommand(verb.name, verb.what);
    if (verb.names) {
      auto* names = sub->add_option("NAME", options->names, "datasets (see `tandem data list`)");
      if (verb.names_required) names->required();
    }
    options->json.add_to(*sub);
    options->data.add_to(*sub);
    sub->callback([options, run = verb.run, &action] {
      action = [options, run] {
        options->data.apply();
        return run(*options);
      };
    });
  }
}

}  // namespace tandem::cli
