#include "report/server_tables.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/counted.h"
#include "base/resources.h"
#include "base/text.h"
#include "report/text_table.h"

namespace tandem::report {
using nlohmann::json;
namespace {

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

// "2 cores", "1 to 2 cores, 2 GiB", "2 cores on each of 3 nodes".
std::string asks_for(const json& job) {
  std::string each = text(resources_from_json(job["resources"]));
  if (const auto range = job.find("cores_asked"); range != job.end() && range->is_array() && (*range)[0] != (*range)[1])
    each = fmt::format("{} to {} cores{}", (*range)[0].get<int>(), (*range)[1].get<int>(),
                       each.find(',') == std::string::npos ? "" : each.substr(each.find(',')));
  return job.contains("on_nodes") ? fmt::format("{} on each of {} nodes", each, job["on_nodes"].get<int>())
                                  : each;
}

// Now, all its tasks together.
std::string has(const json& job) {
  const int cores = job.value("cores_held", 0);
  return cores > 0 ? counted(cores, "core") : "-";
}

// "3/9", in what the kind of the job counts; "4 trials" where nobody knows how many there will be.
std::string progress_of(const json& job) {
  const json at = job.value("progress", json());
  if (!at.is_object()) return "-";
  const auto done = at["done"].get<std::int64_t>();
  if (at["of"].is_number()) return fmt::format("{}/{}", done, at["of"].get<std::int64_t>());
  return done > 0 ? fmt::format("{} {}", done, word(at["unit"])) : "-";
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

}  // namespace

std::string clock_time(const json& at) {
  if (!at.is_number()) return "-";
  return fmt::format("{:%m-%d %H:%M:%S}", fmt::localtime(static_cast<std::time_t>(at.get<double>())));
}

std::string queue_table(const json& answer) {
  const double now = answer["now"].get<double>();
  std::vector<std::vector<std::string>> rows{
      {"JOB", "NAME", "STATE", "PRIO", "ASKS FOR", "HAS", "NODE", "SUBMITTED", "RUNS", "PROGRESS", ""}};
  for (const auto& job : answer["jobs"]) {
    const bool ran = job["started"].is_number();
    const double end = job["ended"].is_number() ? job["ended"].get<double>() : now;
    rows.push_back(
        {std::to_string(job["job"].get<int>()), word(job["name"]), word(job["state"]),
         std::to_string(job["priority"].get<int>()), asks_for(job), has(job), where_is(job),
         clock_time(job["submitted"]),
         ran ? text(Seconds{std::max(0.0, end - job["started"].get<double>())}) : "-", progress_of(job),
         job["drop"].get<double>() > 0 ? fmt::format("drops {:.0f} %", 100 * job["drop"].get<double>())
                                       : word(job["reason"])});
  }
  return columns(rows);
}

std::string nodes_table(const json& nodes) {
  std::vector<std::vector<std::string>> rows{{"NODE", "TYPE", "STATE", "CORES FREE", "MEMORY FREE",
                                              "GPUS FREE", "PACE", "POWER", "USED BY OTHERS", "JOBS"}};
  for (const auto& node : nodes) {
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
  return columns(rows);
}

std::string explanation_text(const json& answer) {
  const auto& why = answer["explanation"];
  const std::string reason = word(answer["reason"]), verdict = word(why["verdict"]), note = word(why["start_note"]);
  std::string out = fmt::format("Job {} ({}) is {}{}.\n", answer["job"].get<int>(), word(answer["name"]),
                                word(answer["state"]),
                                answer["node"].is_string() ? ", last on " + word(answer["node"]) : "");
  if (!reason.empty()) out += "It ended because: " + reason + "\n";
  const json& weight = why["energy_weight"];
  out += fmt::format("Policy {}{}; {}:\n\n{}\n", word(why["policy"]),
                     weight.is_number() ? fmt::format(", energy weight {:g}", weight.get<double>()) : "",
                     word(answer["explains"]), considered(why));
  if (!verdict.empty()) out += "So " + verdict + ".\n";
  if (const int ahead = why["ahead"].get<int>(); ahead > 0)
    out += fmt::format("{} {} tried before it.\n", ahead, ahead == 1 ? "job is" : "jobs are");
  if (why["expected_start"].is_number())
    out += fmt::format("Expected start: {} ({}).\n", clock_time(why["expected_start"]), note);
  else if (!note.empty())
    out += "When it starts cannot be told: " + note + ".\n";
  return out;
}

std::string past_jobs_table(const json& jobs) {
  std::vector<std::vector<std::string>> rows{{"JOB", "NAME", "STATE", "NODE", "ATTEMPTS", "RAN", ""}};
  for (const auto& job : jobs) {
    const bool ran = job["started"].is_number() && job["ended"].is_number();
    rows.push_back({std::to_string(job["job"].get<int>()), word(job["name"]), word(job["state"]), word(job["node"]),
                    std::to_string(job["attempts"].get<int>()),
                    ran ? text(Seconds{job["ended"].get<double>() - job["started"].get<double>()}) : "-",
                    word(job["reason"])});
  }
  return columns(rows);
}

}  // namespace tandem::report
