// tandem queue, cancel, nodes, output: what people ask of a server (cli/serve.cpp)
#include "cli/jobs.h"

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "app/offline.h"
#include "base/error.h"
#include "cli/printing.h"
#include "report/server_tables.h"

namespace tandem::cli {
namespace {

using nlohmann::json;

constexpr int kListed = 1000;  // jobs that `tandem queue` shows

int show_queue(const JobsOptions& options) {
  ServerClient client(options.server);
  const json answer = client.ask(
      "GET", fmt::format("/v1/jobs?limit={}{}", kListed, options.all ? "" : "&state=" + options.state));
  options.json.write(answer);
  if (options.json.alone()) return kDone;
  if (answer["jobs"].empty())
    std::cout << (options.all ? "No jobs yet; `tandem submit SPEC` makes one.\n"
                              : "Nothing waits or runs; `tandem queue --all` shows what is over.\n");
  else
    std::cout << queue_table(answer);
  if (answer.value("more", false))
    std::cout << fmt::format("These are the newest {}; `GET /v1/jobs?before={}` has those before them.\n",
                             kListed, answer["jobs"].front()["job"].get<std::int64_t>());
  return kDone;
}

int cancel_offline(const JobsOptions& options) {
  auto store = options.server.store.open();
  json jobs = json::array();
  for (const auto& job : app::cancel_offline(store, options.server.name, options.what)) {
    const bool over = job.state != JobState::running;
    jobs.push_back({{"job", job.id}, {"state", over ? name(job.state) : "stopping"}, {"reason", "cancelled"}});
    if (!options.json.alone())
      std::cout << fmt::format("Job {} is {}.\n", job.id,
                               over ? name(job.state) : "cancelled; it ends when the server starts");
  }
  options.json.write({{"jobs", jobs}});
  return kDone;
}

int cancel(const JobsOptions& options) {
  if (options.offline) return cancel_offline(options);
  ServerClient client(options.server);
  json jobs = json::array();
  for (const auto& job : options.what) {
    jobs.push_back(client.ask("DELETE", job_target(job)));
    if (!options.json.alone()) std::cout << fmt::format("Job {} is {}.\n", job, word(jobs.back()["state"]));
  }
  options.json.write({{"jobs", jobs}});
  return kDone;
}

int nodes(const JobsOptions& options) {
  ServerClient client(options.server);
  const json answer = client.ask("GET", "/v1/nodes");
  options.json.write(answer);
  if (!options.json.alone()) std::cout << nodes_table(answer["nodes"]);
  return kDone;
}

int output(const JobsOptions& options) {
  const auto printed = ServerClient(options.server).text("GET", job_target(options.what.front(), "/output"));
  options.json.write({{"job", options.what.front()}, {"output", printed}});
  if (!options.json.alone()) print_output(printed);
  return kDone;
}

}  // namespace

CLI::App* add_question(CLI::App& app, Action& action, const std::shared_ptr<JobsOptions>& options,
                       const char* name, const char* what, const char* examples,
                       int (*answer)(const JobsOptions&)) {
  CLI::App* command = add_command(app, name, what, examples);
  options->add_to(*command);
  command->callback([options, answer, &action] { action = [options, answer] { return answer(*options); }; });
  return command;
}

void add_queue(CLI::App& app, Action& action) {
  auto options = std::make_shared<JobsOptions>();
  CLI::App* command = add_question(
      app, action, options, "queue", "Show the jobs of a server",
      "  tandem queue\n  tandem queue --all\n  tandem queue --state failed --json -", show_queue);
  command->add_flag("-a,--all", options->all, "also those that are over");
  command->add_option("--state", options->state, "only these")
      ->check(CLI::IsMember(
          {"open", "queued", "starting", "running", "stopping", "finished", "stopped", "failed"}));
}

void add_cancel(CLI::App& app, Action& action) {
  auto options = std::make_shared<JobsOptions>();
  CLI::App* command = add_question(
      app, action, options, "cancel", "Cancel jobs of a server",
      "  tandem cancel 12\n  tandem cancel lenet-digits\n  tandem cancel --offline 12", cancel);
  command->add_option("job", options->what, "its number, or its name (the newest)")
      ->required()
      ->type_name("JOB...");
  command->add_flag("--offline", options->offline, "of a server that is not running: in its journal");
}

void add_nodes(CLI::App& app, Action& action) {
  auto options = std::make_shared<JobsOptions>();
  add_question(app, action, options, "nodes", "Show the nodes of a server, and what is free there",
               "  tandem nodes\n  tandem nodes --json -", nodes);
}

void add_output(CLI::App& app, Action& action) {
  auto options = std::make_shared<JobsOptions>();
  add_question(app, action, options, "output", "What a job of a server printed last", "  tandem output 12",
               output)
      ->add_option("job", options->what, "its number, or its name")
      ->required()
      ->expected(1)
      ->type_name("JOB");
}

}  // namespace tandem::cli
