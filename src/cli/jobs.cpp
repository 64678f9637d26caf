// tandem submit, queue, cancel, nodes, explain: what people ask of a server (cli/serve.cpp)
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/job_prediction.h"
#include "base/error.h"
#include "base/resources.h"
#include "cli/progress.h"
#include "cli/server_client.h"
#include "report/advice_text.h"

namespace tandem::cli {
namespace {

using nlohmann::json;

struct JobsOptions {
  ServerOption server;
  JsonOption json;
  std::vector<std::string> what;
  std::string state = "open";
  bool all = false, wait = false;

  void add_to(CLI::App& command) {
    server.add_to(command);
    json.add_to(command);
  }
};

std::string clock_time(const json& at) {
  if (!at.is_number()) return "-";
  return fmt::format("{:%m-%d %H:%M:%S}", fmt::localtime(static_cast<std::time_t>(at.get<double>())));
}

std::string spec_text(const std::string& file) {
  std::ostringstream text;
  if (file == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UserError("cannot read " + file + ": is the path right?");
  text << in.rdbuf();
  return text.str();
}

int submit(const JobsOptions& options) {
  ServerClient client(options.server);
  auto store = options.server.store.open();
  const std::string run = word(client.ask("GET", "/v1/status")["run"]);
  json jobs = json::array();
  bool all_queued = true;
  for (const auto& file : options.what) {
    const auto settled = settle_choices(store, spec_text(file), file);
    if (settled.unmet) {
      std::cerr << "tandem: " << file << " was not queued: nothing is likely enough to meet its deadline\n"
                << advice_text(*settled.unmet, output_width());
      all_queued = false;
      continue;
    }
    if (!settled.words.empty()) std::cerr << "tandem: " << settled.words << "\n";
    const std::string& text = settled.spec;
    jobs.push_back(client.submit(text, std::filesystem::current_path().string(), file));
    auto& job = jobs.back();
    if (!options.json.alone())
      std::cout << fmt::format("Job {} ({}) is {}.\n", job["job"].get<int>(), word(job["name"]),
                               word(job["state"]))
                << std::flush;
    for (const auto& note : job.value("notes", json::array())) std::cerr << "tandem: " << word(note) << "\n";
    if (const auto prediction = predict_job(store, run, text, file, job["job"].get<int>())) {
      std::cerr << "tandem: " << prediction->words << "\n";
      job["predicted"] = prediction->json;
    }
  }
  bool well = true;
  for (auto& job : jobs) {
    if (!options.wait) continue;
    job = client.wait_for(job["job"].get<int>());
    well &= word(job["state"]) == "finished";
    if (!options.json.alone())
      std::cout << fmt::format("Job {} has {}{}\n", job["job"].get<int>(), word(job["state"]),
                               word(job["reason"]).empty() ? "." : ": " + word(job["reason"]));
  }
  options.json.write({{"jobs", jobs}});
  return !well ? kTrouble : all_queued ? kDone : kAnswerIsNo;
}

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

int queue(const JobsOptions& options) {
  ServerClient client(options.server);
  const json answer = client.ask("GET", options.all ? "/v1/jobs" : "/v1/jobs?state=" + options.state);
  options.json.write(answer);
  if (options.json.alone()) return kDone;
  const double now = answer["now"].get<double>();
  std::vector<std::vector<std::string>> rows{
      {"JOB", "NAME", "STATE", "PRIO", "ASKS FOR", "NODE", "SUBMITTED", "RUNS", "PROGRESS", ""}};
  for (const auto& job : answer["jobs"]) {
    const bool ran = job["started"].is_number();
    const double end = job["ended"].is_number() ? job["ended"].get<double>() : now;
    rows.push_back({std::to_string(job["job"].get<int>()), word(job["name"]), word(job["state"]),
                    std::to_string(job["priority"].get<int>()), asks_for(job), where_is(job),
                    clock_time(job["submitted"]),
                    ran ? text(Seconds{std::max(0.0, end - job["started"].get<double>())}) : "-",
                    job["epochs"].get<int>() > 0
                        ? fmt::format("{}/{}", job["reported"].get<int>(), job["epochs"].get<int>())
                        : "-",
                    job["drop"].get<double>() > 0
                        ? fmt::format("drops {:.0f} %", 100 * job["drop"].get<double>())
                        : word(job["reason"])});
  }
  if (rows.size() == 1)
    std::cout << (options.all ? "No jobs yet; `tandem submit SPEC` makes one.\n"
                              : "Nothing waits or runs; `tandem queue --all` shows what is over.\n");
  else
    std::cout << columns(rows);
  return kDone;
}

int cancel(const JobsOptions& options) {
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

// "12.3 s ± 8 %": nine of ten earlier predictions were no further off.
std::string expected_time(const json& considered) {
  if (!considered["expected_seconds"].is_number()) return "not known";
  const std::string time = text(Seconds{considered["expected_seconds"].get<double>()});
  return considered["expected_within"].is_number()
             ? fmt::format("{} ± {:.0f} %", time, 100 * considered["expected_within"].get<double>())
             : time;
}

std::string considered(const json& why) {
  std::vector<std::vector<std::string>> rows{{"MACHINES", "NODES UP", "SCORE", "TIME", "ENERGY", ""}};
  for (const auto& c : why["considered"]) {
    const std::string refused = word(c["refused"]);
    rows.push_back(
        {word(c["type"]), fmt::format("{} of {}", c["up"].get<int>(), c["nodes"].get<int>()),
         refused.empty() || refused == "no room now" ? fmt::format("{:.3f}", c["score"].get<double>()) : "-",
         expected_time(c),
         c["expected_joules"].is_number() ? text(Joules{c["expected_joules"].get<double>()}) : "not known",
         refused.empty()          ? word(c["why"]).empty() ? "has room" : word(c["why"])
                  : word(c["why"]).empty() ? refused
                                  : refused + ": " + word(c["why"])});
  }
  return columns(rows);
}

int explain(const JobsOptions& options) {
  ServerClient client(options.server);
  const json answer = client.ask("GET", job_target(options.what.front(), "/explain"));
  options.json.write(answer);
  if (options.json.alone()) return kDone;
  const auto& why = answer["explanation"];
  std::cout << fmt::format("Job {} ({}) is {}{}.\n", answer["job"].get<int>(), word(answer["name"]),
                           word(answer["state"]),
                           answer["node"].is_string() ? ", last on " + word(answer["node"]) : "");
  if (!word(answer["reason"]).empty()) std::cout << "It ended because: " << word(answer["reason"]) << "\n";
  std::cout << fmt::format("Policy {}{}; {}:\n\n", word(why["policy"]),
                           why["energy_weight"].is_number()
                               ? fmt::format(", energy weight {:g}", why["energy_weight"].get<double>())
                               : "",
                           word(answer["explains"]))
            << considered(why) << "\n";
  if (!word(why["verdict"]).empty()) std::cout << "So " << word(why["verdict"]) << ".\n";
  if (why["ahead"].get<int>() > 0)
    std::cout << fmt::format("{} {} tried before it.\n", why["ahead"].get<int>(),
                             why["ahead"].get<int>() == 1 ? "job is" : "jobs are");
  if (why["expected_start"].is_number())
    std::cout << "Expected start: " << clock_time(why["expected_start"]) << " (" << word(why["start_note"])
              << ").\n";
  else if (!word(why["start_note"]).empty())
    std::cout << "When it starts cannot be told: " << word(why["start_note"]) << ".\n";
  return kDone;
}

int output(const JobsOptions& options) {
  std::cout << ServerClient(options.server).text("GET", job_target(options.what.front(), "/output"));
  return kDone;
}

CLI::App* add_question(CLI::App& app, Action& action, const std::shared_ptr<JobsOptions>& options,
                       const char* name, const char* what, const char* examples,
                       int (*answer)(const JobsOptions&)) {
  CLI::App* command = add_command(app, name, what, examples);
  options->add_to(*command);
  command->callback([options, answer, &action] { action = [options, answer] { return answer(*options); }; });
  return command;
}

}  // namespace

void add_submit(CLI::App& app, Action& action) {
  auto options = std::make_shared<JobsOptions>();
  CLI::App* command = add_question(
      app, action, options, "submit", "Queue jobs at a server (tandem serve)",
      "  tandem submit examples/lenet-digits.yaml\n"
      "  tandem submit job.yaml --wait && echo done\n"
      "  tandem submit - < job.yaml\n\n"
      "What a scheduler should know goes under `place:` in the spec:\n"
      "  place: {priority: 5, energy_weight: 0.8, deadline: 2h, accelerator: V100, takes: 20min}\n"
      "Values that a training spec leaves open (batch_size: {choice: [64, 128]}) are chosen so that it meets "
      "its\n"
      "place.deadline; one for which none is likely to is not queued (exit code 3).\n"
      "Any command can be a job: program: {command: [./work.sh, --fast], plain: true}",
      submit);
  command->add_option("spec", options->what, "job specs (kind train or tune); - is standard input")
      ->required()
      ->type_name("SPEC...");
  command->add_flag("--wait", options->wait, "until they are over; exit code 1 if one did not finish");
}

void add_queue(CLI::App& app, Action& action) {
  auto options = std::make_shared<JobsOptions>();
  CLI::App* command =
      add_question(app, action, options, "queue", "Show the jobs of a server",
                   "  tandem queue\n  tandem queue --all\n  tandem queue --state failed --json -", queue);
  command->add_flag("-a,--all", options->all, "also those that are over");
  command->add_option("--state", options->state, "only these")
      ->check(CLI::IsMember(
          {"open", "queued", "starting", "running", "stopping", "finished", "stopped", "failed"}));
}

void add_cancel(CLI::App& app, Action& action) {
  auto options = std::make_shared<JobsOptions>();
  add_question(app, action, options, "cancel", "Cancel jobs of a server",
               "  tandem cancel 12\n  tandem cancel lenet5-digits", cancel)
      ->add_option("job", options->what, "its number, or its name (the newest)")
      ->required()
      ->type_name("JOB...");
}

void add_nodes(CLI::App& app, Action& action) {
  auto options = std::make_shared<JobsOptions>();
  add_question(app, action, options, "nodes", "Show the nodes of a server, and what is free there",
               "  tandem nodes\n  tandem nodes --json -", nodes);
}

void add_explain(CLI::App& app, Action& action) {
  auto options = std::make_shared<JobsOptions>();
  CLI::App* command =
      add_question(app, action, options, "explain", "Why a job is where it is, or why it waits",
                   "  tandem explain 12\n  tandem explain lenet5-digits --json -", explain);
  command->add_option("job", options->what, "its number, or its name")
      ->required()
      ->expected(1)
      ->type_name("JOB");
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
