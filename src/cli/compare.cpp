// tandem compare RUN RUN..., tandem label RUN...
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/run_list.h"
#include "base/counted.h"
#include "base/error.h"
#include "cli/command.h"
#include "report/run_tables.h"

namespace tandem::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> runs, add, remove;
  std::optional<std::string> note;
  StoreOption store;
  JsonOption json;
};

int label(store::Store& store, const CompareOptions& options) {
  if (options.add.empty() && options.remove.empty() && !options.note)
    throw UserError("nothing to do: give --add TAG, --remove TAG or --note TEXT");
  for (const auto& tag : options.add) require_tag(tag);
  std::vector<std::string> ids;
  for (const auto& written : options.runs) ids.push_back(store.find(written).id);
  for (const auto& id : ids) store.label(id, options.add, options.remove, options.note);
  options.json.write({{"runs", ids}});
  if (!options.json.alone()) std::cout << "Labelled " << counted(ids.size(), "run") << ".\n";
  return kDone;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = add_command(app, "compare", "Put runs side by side: scores, time, energy, parameters",
                                  "  tandem compare last 20261115-043000\n"
                                  "  tandem compare lenet-a lenet-b --json - | jq '.runs[].score'");
  command->add_option("RUN", options->runs, "ids, their beginnings, names, 'last', or SERVER/JOB")
      ->required()
      ->expected(2, 100);
  options->store.add_to(*command);
  options->json.add_to(*command);
  command->callback([options, &action] {
    action = [options] {
      auto store = options->store.open();
      std::vector<JobRun> runs;
      for (const auto& written : options->runs) runs.push_back(find_job_run(store, written));
      const auto found = comparison(store, runs);
      options->json.write(found);
      if (!options->json.alone()) std::cout << comparison_table(found);
      return kDone;
    };
  });
}

void add_label(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = add_command(app, "label", "Give runs tags and a note, to find them again",
                                  "  tandem label last --add paper --note 'the one of figure 3'\n"
                                  "  tandem runs --tag paper\n  tandem label last --remove paper --note ''");
  command->add_option("RUN", options->runs, "ids, their beginnings, names, or 'last'")->required();
  options->store.add_to(*command);
  options->json.add_to(*command);
  command->add_option("--add", options->add, "a tag; may be given several times")->take_all();
  command->add_option("--remove", options->remove, "a tag to take away")->take_all();
  command->add_option("--note", options->note, "a note; '' takes it away");
  command->callback([options, &action] {
    action = [options] {
      auto store = options->store.open();
      return label(store, *options);
    };
  });
}

}  // namespace tandem::cli
