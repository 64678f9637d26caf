#include "server/api.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "app/job_json.h"
#include "app/job_view.h"
#include "app/kinds.h"
#include "app/results.h"
#include "base/error.h"
#include "base/text.h"
#include "platform/descriptor.h"
#include "server/http/json_body.h"
#include "server/placement_explanation.h"
#include "spec/parse.h"

namespace tandem::server {

using namespace app;
namespace {

using nlohmann::json;

constexpr std::size_t kMostJobs = 1'000'000;  // in one journal
constexpr off_t kTail = 64 * 1024;

class Api {
 public:
  explicit Api(const ApiParts& parts) : parts_(parts) {}

  Response submit(const Request& request) const {
    const json body = parse_json(request.body);
    if (!body.is_object())
      throw Refusal(400, "a submission is an object: {\"spec\": YAML, \"folder\": PATH}");
    const auto word = [&](const char* key) {
      if (!body.contains(key)) return std::string();
      if (!body[key].is_string()) throw Refusal(400, fmt::format("'{}' must be a text", key));
      return body[key].get<std::string>();
    };
    for (const auto& [key, value] : body.items())
      if (key != "spec" && key != "folder" && key != "file")
        throw Refusal(400, fmt::format("there is no key '{}' in a submission: give spec, folder and file",
                                       printable(key, 40)));
    const std::string spec = word("spec"), folder = word("folder");
    if (spec.empty()) throw Refusal(400, "a submission needs \"spec\": the YAML of a job");
    if (!folder.empty() && (folder.front() != '/' || folder.size() > 4096))
      throw Refusal(400, "\"folder\" must be an absolute path");
    if (parts_.loop.view().jobs.size() >= kMostJobs)
      throw Refusal(507, "this server's journal holds a million jobs: start one of another name");
    std::vector<std::string> notes;
    const JobId id =
        submit(spec, folder, printable(word("file").empty() ? "spec" : word("file"), 200), notes);
    const auto& name = view().jobs[static_cast<std::size_t>(id)].base().name;
    parts_.log.info("job submitted", {{"job", id}, {"name", name}});
    auto answer = job_json(view(), view().jobs[static_cast<std::size_t>(id)]);
    answer["notes"] = notes;
    auto response = json_response(answer, 201);
    response.headers["Location"] = fmt::format("/v1/jobs/{}", id);
    return response;
  }

  Response list(const Request& request) const {
    std::string state;
    std::size_t last = 1000;
    for (const auto& [key, value] : request.query)
      if (key == "state")
        state = value;
      else if (key == "last")
        last = number(value);
      else
        throw Refusal(400,
                      fmt::format("there is no '{}' to ask jobs by: use state and last", printable(key, 40)));
    json jobs = json::array();
    const auto& all = view().jobs;
    for (auto job = all.rbegin(); job != all.rend() && jobs.size() < last; ++job)
      if (const auto is = state_of(view(), *job);
          state.empty() || is == state || (state == "open" && job->state == JobState::running))
        jobs.push_back(job_json(view(), *job));
    std::reverse(jobs.begin(), jobs.end());
    return json_response({{"jobs", std::move(jobs)}, {"all", all.size()}, {"now", view().now.value}});
  }

  Response show(const Request& request) const { return json_response(whole_job_json(view(), find(request))); }

  Response cancel(const Request& request) const {
    const auto& job = find(request);
    if (job.state != JobState::running)
      throw Refusal(409, fmt::format("job {} is over: it has {}", job.id, name(job.state)));
    parts_.loop.cancel(job.id, "cancelled");
    parts_.log.info("job cancelled", {{"job", job.id}});
    return json_response(job_json(view(), view().jobs[static_cast<std::size_t>(job.id)]), 202);
  }

  Response explain(const Request& request) const {
    const auto& job = find(request);
    if (job.tasks.empty())
      throw Refusal(409, fmt::format("job {} never asked to run: {}", job.id, job.reason));
    const auto& task = view().tasks[static_cast<std::size_t>(job.tasks.front())];
    json out = job_json(view(), job);
    const bool waits = job.state == JobState::running && !task.alive;
    if (waits || task.attempt == 0) {
      out["explanation"] = explanation_json(parts_.scheduler.explain(view(), task.id));
      out["explains"] = "why it waits";
    } else {
      out["explanation"] = explanation_json(placed_because(*parts_.store.journal(parts_.run),
                                                           parts_.scheduler.policy(), task.id, task.attempt));
      out["explains"] =
          fmt::format("why attempt {} was put on {}", task.attempt, out["node"].get<std::string>());
    }
    return json_response(out);
  }

  Response output(const Request& request) const {
    const auto& job = find(request);
    if (job.tasks.empty()) throw Refusal(404, "it printed nothing: it never ran");
    return tail_of(TaskFolders(parts_.folder).output_of(job.tasks.front()));
  }

  // What it came to, as `tandem show --json -` says it of a run.
  Response result(const Request& request) const {
    const auto job = job_run(request);
    return json_response(result_json(job.run, job.view, job.folders));
  }

  Response trials(const Request& request) const {
    auto whole = result_json_of_trials(job_run(request));
    return json_response({{"trials", std::move(whole)}});
  }

  Response trial_log(const Request& request) const {
    const auto job = job_run(request);
    const auto trial = number(request.parameters.at("trial"));
    if (trial >= job.view.tasks.size())
      throw Refusal(
          404, fmt::format("job {} has no trial {}: it has {}", job.run.id, trial, job.view.tasks.size()));
    return tail_of(job.folders.output_of(static_cast<TaskId>(trial)));
  }

  Response nodes(const Request&) const {
    json out = json::array();
    for (const auto& node : view().nodes) out.push_back(node_json(view(), node));
    return json_response({{"nodes", std::move(out)}});
  }

  Response status(const Request&) const {
    return json_response({{"run", parts_.run},
                          {"world", parts_.world},
                          {"policy", parts_.policy},
                          {"pid", ::getpid()},
                          {"started", parts_.started.value},
                          {"now", view().now.value},
                          {"events", view().events},
                          {"jobs", jobs_by_state()},
                          {"nodes", view().nodes.size()}});
  }

  Response metrics(const Request&) const {
    for (const auto& [state, count] : jobs_by_state())
      parts_.metrics.gauge("tandem_jobs", "Jobs of this server by state", {{"state", state}})
          .set(static_cast<double>(count));
    double cores = 0, free = 0, up = 0, gpus = 0, free_gpus = 0;
    for (const auto& node : view().nodes) {
      cores += node.capacity.cores, free += std::max(0, node.free_cores);
      gpus += node.capacity.gpus, free_gpus += std::max(0, node.free_gpus);
      up += node.capacity.cores > 0;
    }
    const auto set = [&](const char* name, const char* help, double value) {
      parts_.metrics.gauge(name, help).set(value);
    };
    set("tandem_nodes_up", "Nodes that can run something", up);
    set("tandem_cores", "Cores of the nodes that are up", cores);
    set("tandem_cores_free", "Of these, free", free);
    set("tandem_gpus", "GPUs of the nodes that are up", gpus);
    set("tandem_gpus_free", "Of these, free", free_gpus);
    set("tandem_events", "Events in the journal", static_cast<double>(view().events));
    Response out;
    out.content_type = Metrics::kContentType;
    out.body = parts_.metrics.text();
    return out;
  }

 private:
  const View& view() const { return parts_.loop.view(); }

  JobRun job_run(const Request& request) const {
    return job_of_server(parts_.store.find(parts_.run), view(), find(request).id, parts_.folder);
  }

  // A list with one object a trial; of a training its one task.
  static json result_json_of_trials(const JobRun& job) {
    const auto result = result_json(job.run, job.view, job.folders);
    return result.contains("trials") ? result["trials"] : json::array({result});
  }

  // The last kTail bytes; nothing where nothing was printed yet. A task's file is a task's: it is not
  // followed elsewhere, and never waited for.
  static Response tail_of(const std::filesystem::path& file) {
    Response out;
    out.content_type = "text/plain; charset=utf-8";
    platform::Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat about {};
    if (!in || ::fstat(in.get(), &about) != 0 || !S_ISREG(about.st_mode)) return out;
    const off_t from = std::max<off_t>(0, about.st_size - kTail);
    std::string bytes(static_cast<std::size_t>(about.st_size - from), '\0');
    const ssize_t got = ::pread(in.get(), bytes.data(), bytes.size(), from);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    out.body = std::move(bytes);
    return out;
  }

  static std::size_t number(const std::string& text) {
    std::size_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc{} || end != text.data() + text.size())
      throw Refusal(400, fmt::format("'{}' is no number", printable(text, 40)));
    return out;
  }

  // What cannot be had here is said before the job is in the journal. UserError; notes of what it runs
  // without.
  std::vector<std::string> check_gpus(const spec::Job& job) const {
    const auto asked = local::gpus_asked_by(job);
    if (asked.gpu_memory > 0)
      throw UserError(
          "system.gpu_memory: a server hands out whole GPUs, which nobody shares; leave it out, or "
          "share them among the trials of one search with `tandem tune` on that machine");
    if (asked.gpus > 0 && spec::base_of(job).nodes > 1 && !parts_.can.gang_gpus)
      throw UserError(
          fmt::format("system.nodes: jobs of several nodes get no GPUs {}; leave system.gpus or "
                      "system.nodes out",
                      parts_.can.here ? "on this machine (--world local)" : "in the world " + parts_.world));
    if (parts_.gpus) return parts_.gpus->check(asked);
    if (asked.gpu_power.empty() && asked.gpu_clock.empty()) return {};
    return {fmt::format(
        "its GPUs stay as they are: system.gpu_power and gpu_clock are not set {}",
        parts_.can.here ? "where NVML shows none (`tandem doctor`)" : "in the world " + parts_.world)};
  }

  JobId submit(const std::string& text, const std::string& folder, const std::string& file,
               std::vector<std::string>& notes) const {
    // Of a kind that is not queued the first one's reader says so.
    const Kind* kind = find_kind(spec::kind_of(text));
    if (kind == nullptr || !kind->queued) kind = &kinds().front();
    auto job = kind->parse(text, file, parts_.catalogue);
    notes = check_gpus(job);
    if (auto& program = spec::base_of(job).program; program.folder.empty()) program.folder = folder;
    if (!kind->uses_knowledge) return parts_.loop.submit(job);
    std::string machine;
    if (!view().nodes.empty()) machine = view().nodes.front().type;
    return parts_.loop.submit(job, KnowledgeArrived{"store", parts_.store.knowledge(machine)});
  }

  const JobView& find(const Request& request) const {
    const std::string& written = request.parameters.at("job");
    const auto& jobs = view().jobs;
    if (std::all_of(written.begin(), written.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      if (written.size() < 10 && number(written) < jobs.size()) return jobs[number(written)];
    } else {
      for (auto job = jobs.rbegin(); job != jobs.rend(); ++job)
        if (job->base().name == written) return *job;
    }
    throw Refusal(404, fmt::format("there is no job {} here", printable(written, 60)));
  }

  std::map<std::string, std::size_t> jobs_by_state() const {
    std::map<std::string, std::size_t> out{{"queued", 0},   {"starting", 0}, {"running", 0}, {"stopping", 0},
                                           {"finished", 0}, {"stopped", 0},  {"failed", 0}};
    for (const auto& job : view().jobs) ++out[state_of(view(), job)];
    return out;
  }

  ApiParts parts_;
};

}  // namespace

Router make_router(const ApiParts& parts) {
  const auto api = std::make_shared<Api>(parts);
  Router router;
  const auto add = [&](const char* method, const char* pattern, Need need,
                       Response (Api::*answer)(const Request&) const) {
    router.add(method, pattern, need,
               [api, answer](const Request& request) { return ((*api).*answer)(request); });
  };
  add("POST", "/v1/jobs", Need::change, &Api::submit);
  add("GET", "/v1/jobs", Need::read, &Api::list);
  add("GET", "/v1/jobs/{job}", Need::read, &Api::show);
  add("DELETE", "/v1/jobs/{job}", Need::change, &Api::cancel);
  add("GET", "/v1/jobs/{job}/explain", Need::read, &Api::explain);
  add("GET", "/v1/jobs/{job}/output", Need::read, &Api::output);
  add("GET", "/v1/jobs/{job}/result", Need::read, &Api::result);
  add("GET", "/v1/jobs/{job}/trials", Need::read, &Api::trials);
  add("GET", "/v1/jobs/{job}/trials/{trial}/log", Need::read, &Api::trial_log);
  add("GET", "/v1/nodes", Need::read, &Api::nodes);
  add("GET", "/v1/status", Need::read, &Api::status);
  add("GET", "/metrics", Need::read, &Api::metrics);
  return router;
}

}  // namespace tandem::server
