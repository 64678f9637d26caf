#include "app/runs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "app/installation.h"
#include "base/error.h"
#include "base/json.h"
#include "control/loop.h"
#include "data/files.h"
#include "event/consistency.h"
#include "place/engine/scheduler.h"
#include "platform/nvml.h"
#include "platform/topology.h"
#include "runtime/local/machine_gpus.h"

namespace tandem::app {
namespace {

std::vector<std::unique_ptr<Policy>> server_policies(const store::RunInfo& run) {
  const auto spec = parse_json(run.spec);
  if (spec.is_discarded()) throw SystemError("the spec of run " + run.id + " is damaged in the store");
  std::vector<std::unique_ptr<Policy>> out;
  for (const auto& kind : kinds())
    if (kind.queued) out.push_back(kind.controller());
  out.push_back(std::make_unique<place::Scheduler>(place::parse_policy(spec.value("policy", "")),
                                                   spec.value("seed", std::uint64_t{1})));
  return out;
}

}  // namespace

bool is_server(const store::RunInfo& run) {
  return run.kind == "serve";
}

spec::Job job_of(const store::RunInfo& run) {
  const auto spec = parse_json(run.spec);
  if (spec.is_discarded()) throw SystemError("the spec of run " + run.id + " is damaged in the store");
  return spec::job_from_json(spec);
}

std::vector<std::unique_ptr<Policy>> policies_of(const store::RunInfo& run) {
  return is_server(run) ? server_policies(run) : policies_for(job_of(run));
}

NodeView this_machine(bool gpus_too) {
  const auto topology = platform::Topology::detect();
  NodeView node;
  node.capacity = {static_cast<int>(topology.cpus.size()), topology.memory, 1.0};
  node.type = fmt::format("{}, {} cores", topology.model, topology.cpus.size());  // as the local world has it
  std::string why;
  if (const auto nvml = gpus_too ? platform::Nvml::open(why) : nullptr) {
    const auto gpus = local::gpus_of(*nvml);
    local::add_gpus(gpus, node.capacity);
    node.type = local::type_with(node.type, gpus);
  }
  node.largest = node.capacity;
  return node;
}

void require_possible_here(const spec::Job& job) {
  const auto possible = row_of(job).require_possible;
  if (possible == nullptr) return;
  View here;
  here.nodes.push_back(this_machine(local::gpus_asked_by(job).gpus > 0));
  possible(job, here);
}

measure::SensorOptions sensor_options(const spec::EnergySpec& energy) {
  measure::SensorOptions options{.energy = energy};
  options.around.cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return options;
}

View replayed(store::Store& store, const store::RunInfo& run, std::optional<JobId> job) {
  View view;
  view.keeps_all = !job;
  if (job) view.keeps = {*job};
  store.journal(run.id)->replay([&](control::Entry&& entry) {
    apply_checked(view, entry.event, entry.decisions);
  });
  return view;
}

store::RunInfo find_own_run(store::Store& store, const std::string& written) {
  auto run = store.find(written);
  if (is_server(run))
    throw UserError(
        fmt::format("run {0} is the server '{1}', not a job: start it with `{2} serve --name {1}` and its "
                    "other options, see its jobs with `{2} show {0}` or `{2} queue --name {1} --all`, and "
                    "one of them with "
                    "`{2} show {1}/JOB`",
                    run.id, run.name, own_command()));
  return run;
}

std::function<void(const store::RunInfo&)> kept_files(const std::vector<std::string>& files,
                                                      const store::Store& store) {
  std::map<std::string, std::string> kept;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(in), {});
    if (!in || std::filesystem::is_directory(file)) throw UserError("'" + file + "' cannot be read");
    if (!kept.emplace(std::filesystem::path(file).filename(), std::move(text)).second)
      throw UserError("two files to be kept have the name of '" + file + "'");
  }
  return [kept = std::move(kept), &store](const store::RunInfo& run) {
    // Apart from what is Tandem's own, and on disk before the run is in its journal.
    for (const auto& [name, text] : kept) data::write_atomically(store.run_folder(run.id) / "kept" / name, text);
  };
}

store::RunInfo with_real_state(const store::Store& store, store::RunInfo run) {
  if (is_server(run)) {  // its jobs end, it does not
    run.state = store::RunLock::owner(store.run_folder(run.id)) ? "running" : "stopped";
    run.reason.clear();
    return run;
  }
  if (run.state == "running" && !store::RunLock::owner(store.run_folder(run.id))) {
    run.state = "interrupted";
    if (run.reason.empty()) run.reason = "Tandem ended while it ran";
  }
  return run;
}

}  // namespace tandem::app
