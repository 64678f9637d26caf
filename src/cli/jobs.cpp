// tandem queue, cancel, nodes, output: what people ask of a server (cli/serve.cpp)
#include "cli/jobs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "app/offline.h"
#include "base/error.h"
#include "base/resources.h"
#include "cli/printing.h"

namespace tandem::cli {
namespace {

using nlohmann::json;

// "n1", of a gang "n1 and 2 more", with GPUs "n1, GPU 0 and 3".
std::string where_is(const json& job) {
  std::string out = word(job["node"]);
  if (job.contains("nodes")) out += fmt::format(" and {} more", job["nodes"].size() - 1);
  std::string before = ", GPU ";
  for (const auto& gpu : job.value("gpus", json::array())) {
    out += before + std::to_string(gpu.get<int>());
    before = " and ";
  }
  return out;
}

std::string asks_for(const json& job) {
  const std::string each = text(resources_from_json(job["resources"]));
  return job.contains("on_nodes") ? fmt::format("{} on each of {} nodes", each, job["on_nodes"].get<int>())
                                  : each;
}

// "3/9", in what the kind of the job counts; "4 trials" where nobody knows how many there will be.
std::string progress_of(const json& job) {
  const json at = job.value("progress", json());
  if (!at.is_object()) return "-";
  const auto done = at["done"].get<std::int64_t>();
  if (at["of"].is_number()) return fmt::format("{}/{}", done, at["of"].get<std::int64_t>());
  return done > 0 ? fmt::format("{} {}", done, word(at["unit"])) : "-";
}

constexpr int kListed = 1000;  // jobs that `tandem queue` shows

int show_queue(const JobsOptions& options) {
  ServerClient client(options.server);
  const json answer = client.ask(
      "GET", fmt::format("/v1/jobs?limit={}{}", kListed, options.all ? "" : "&state=" + options.state));
  options.json.write(answer);
  if (options.json.alone()) return kDone;
  const double now = answer["now"].get<double>();
  std::vector<std::vector<std::string>> rows{
      {"JOB", "NAME", "STATE", "PRIO", "ASKS FOR", "NODE", "SUBMITTED", "RUNS", "PROGRESS", ""}};
  for (const auto& job : answer["jobs"]) {
    const bool ran = job["started"].is_number();
    const double end = job["ended"].is_number() ? job["ended"].get<double>() : now;
    rows.push_back(
        {std::to_string(job["job"].get<int>()), word(job["name"]), word(job["state"]),
         std::to_string(job["priority"].get<int>()), asks_for(job), where_is(job),
         clock_time(job["submitted"]),
         ran ? text(Seconds{std::max(0.0, end - job["started"].get<double>())}) : "-", progress_of(job),
         job["drop"].get<double>() > 0 ? fmt::format("drops {:.0f} %", 100 * job["drop"].get<double>())
                                       : word(job["reason"])});
  }
  if (rows.size() == 1)
    std::cout << (options.all ? "No jobs yet; `tandem submit SPEC` makes one.\n"
                              : "Nothing waits or runs; `tandem queue --all` shows what is over.\n");
  else
    std::cout << columns(rows);
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

// "CPU 12 %, memory 40 %": what others use, as far as it is known.
std::string load_text(const json& load) {
  if (!load.is_object()) return "not known";
  std::string out;
  using Names = std::initializer_list<std::pair<const char*, const char*>>;
  for (const auto& [key, name] : Names{{"cpu", "CPU"},
                                       {"memory", "memory"},
                                       {"network", "network"},
                                       {"gpu", "GPU"},
                                       {"gpu_memory", "GPU memory"}})
    if (load[key].is_number())
      out += fmt::format("{}{} {:.0f} %", out.empty() ? "" : ", ", name, 100 * load[key].get<double>());
  return out.empty() ? "not known" : out;
}

int nodes(const JobsOptions& options) {
  ServerClient client(options.server);
  const json answer = client.ask("GET", "/v1/nodes");
  options.json.write(answer);
  if (options.json.alone()) return kDone;
  std::vector<std::vector<std::string>> rows{{"NODE", "TYPE", "STATE", "CORES FREE", "MEMORY FREE",
                                              "GPUS FREE", "PACE", "POWER", "USED BY OTHERS", "JOBS"}};
  for (const auto& node : answer["nodes"]) {
    std::string jobs;
    for (const auto& job : node["jobs"]) jobs += (jobs.empty() ? "" : " ") + std::to_string(job.get<int>());
    rows.push_back({word(node["node"]), word(node["type"]), word(node["state"]),
                    fmt::format("{} of {}", node["free_cores"].get<int>(), node["cores"].get<int>()),
                    fmt::format("{} of {}", text_bytes(node["free_memory"].get<Bytes>()),
                                text_bytes(node["memory"].get<Bytes>())),
                    fmt::format("{} of {}", node["free_gpus"].get<int>(), node["gpus"].get<int>()),
                    fmt::format("{:.2f}", node["pace"].get<double>()),
                    node["idle_watts"].is_number()
                        ? fmt::format("{:g} to {:g} W", node["idle_watts"].get<double>(),
                                      node["busy_watts"].get<double>())
                        : "not known",
                    load_text(node.value("load", json())), jobs.empty() ? "-" : jobs});
  }
  std::cout << columns(rows);
  return kDone;
}

int output(const JobsOptions& options) {
  print_output(ServerClient(options.server).text("GET", job_target(options.what.front(), "/output")));
  return kDone;
}

}  // namespace

std::string clock_time(const json& at) {
  if (!at.is_number()) return "-";
  return fmt::format("{:%m-%d %H:%M:%S}", fmt::localtime(static_cast<std::time_t>(at.get<double>())));
}

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
      "  tandem cancel 12\n  tandem cancel lenet5-digits\n  tandem cancel --offline 12", cancel);
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
