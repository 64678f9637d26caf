// tandem KIND SPEC, of kinds of jobs that have no command of their own (app/kinds.h)
#include <memory>

#include "app/kinds.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/session.h"
#include "spec/reading.h"

namespace tandem::cli {
namespace {

struct KindOptions {
  std::string spec;
  StoreOption store;
  JsonOption json;
  DataOption data;
  SessionOptions session;
  RunWorld where;
};

int run_kind(const Kind& kind, KindOptions& options) {
  options.data.apply();
  auto store = options.store.open();
  const auto job = kind.parse(spec::read_file(options.spec), options.spec, catalogue());
  options.session.kept = {{"world", json_of(options.where)}};
  return run_new(store, job, options.json, options.session);
}

void add_kind_command(CLI::App& app, Action& action, const Kind& kind) {
  auto options = std::make_shared<KindOptions>();
  CLI::App* command = add_command(app, kind.name, kind.description, "  tandem " + kind.name + " job.yaml");
  command->add_option("SPEC", options->spec, "a YAML file with kind: " + kind.name)->required();
  options->store.add_to(*command);
  options->json.add_to(*command);
  options->data.add_to(*command);
  command
      ->add_option("--world", options->where.world,
                   "where it runs: local, this machine; slurm, a Slurm cluster")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->capture_default_str();
  command->add_option("--partition", options->where.partition, "of every Slurm job");
  command->add_flag("-q,--quiet", options->session.quiet, "no progress on standard error");
  command->callback(
      [&kind, options, &action] { action = [&kind, options] { return run_kind(kind, *options); }; });
}

}  // namespace

void add_kinds(CLI::App& app, Action& action) {
  for (const auto& kind : kinds())
    if (!kind.description.empty()) add_kind_command(app, action, kind);
}

}  // namespace tandem::cli
