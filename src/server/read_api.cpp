#include "server/read_api.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "app/job_json.h"
#include "app/job_view.h"
#include "app/results.h"
#include "app/runs.h"
#include "app/task_output.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "place/engine/placement_reason.h"
#include "platform/credentials.h"
#include "server/archive.h"
#include "server/http/json_body.h"
#include "server/job_rows.h"
#include "server/ownership.h"

namespace tandem::server {

using namespace app;
namespace {

using nlohmann::json;

constexpr std::size_t kDefaultLimit = 100, kMostListed = 10'000;
constexpr std::size_t kTail = 64 * 1024;
constexpr int kFoldsAtOnce = 2;

std::size_t number_in(const std::string& text) {
  std::size_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size())
    throw Refusal(400, fmt::format("'{}' is no number", printable(text, 40)));
  return out;
}

// With the permissions of who ran it: what they put in its place is theirs to read, and nobody else's.
std::optional<platform::Credentials> reader_of(std::int64_t owner) {
  if (owner < 0 || owner == static_cast<std::int64_t>(::geteuid())) return std::nullopt;
  return platform::Credentials::of(static_cast<uid_t>(owner));
}

Response tail_of(const TaskFolders& folders, TaskId task, std::int64_t owner) {
  Response out;
  out.content_type = "text/plain; charset=utf-8";
  try {
    const platform::FilesAs files(reader_of(owner));
    out.body = output_tail(folders.run, folders.output_of(task), kTail);
  } catch (const SystemError& error) {  // the task has put something else there
    throw Refusal(409, error.what());
  }
  return out;
}

// Which jobs are listed, as the query says it.
struct Asked {
  std::string state{};
  std::size_t limit = kDefaultLimit;
  std::optional<std::int64_t> before{}, after{};

  explicit Asked(const Request& request) {
    for (const auto& [key, value] : request.query)
      if (key == "state")
        state = value;
      else if (key == "limit" || key == "last")
        limit = number_in(value);
      else if (key == "before")
        before = static_cast<std::int64_t>(std::min<std::size_t>(number_in(value), INT32_MAX));
      else if (key == "after")
        after = static_cast<std::int64_t>(std::min<std::size_t>(number_in(value), INT32_MAX));
      else
        throw Refusal(400, fmt::format("there is no '{}' to ask jobs by: use state, limit, before and after",
                                       printable(key, 40)));
    if (limit > kMostListed)
      throw Refusal(400,
                    fmt::format("at most {} jobs are told at once: go on with after or before", kMostListed));
  }
  bool wants(const View& view, const JobView& job) const {
    return state.empty() || (state == "open" ? job.state == JobState::running : state_of(view, job) == state);
  }
  bool wants_archived() const {
    return state.empty() || state == "finished" || state == "stopped" || state == "failed";
  }
};

class ReadApi {
 public:
  explicit ReadApi(const ReadParts& parts) : parts_(parts) {}

  // A page of jobs, oldest first: the newest ones, those before one, or those after one.
  Response list(const Request& request) const {
    const Asked asked(request);
    const auto now = parts_.published.get();
    const View& view = now->view;
    std::map<std::int64_t, std::string> rows;                     // as JSON texts
    const auto full = [&] { return rows.size() > asked.limit; };  // one more says that there are more
    if (asked.after) {
      for (auto job = view.jobs.from(static_cast<std::size_t>(*asked.after + 1));
           job != view.jobs.end() && !full() && job->id < asked.before.value_or(INT64_MAX); ++job)
        if (asked.wants(view, *job)) rows[job->id] = row(request.who, view, *job);
    } else {
      auto job = view.jobs.rbegin();
      if (asked.before)
        job = std::make_reverse_iterator(view.jobs.from(static_cast<std::size_t>(*asked.before)));
      for (; job != view.jobs.rend() && !full(); ++job)
        if (asked.wants(view, *job)) rows[job->id] = row(request.who, view, *job);
    }
    if (asked.wants_archived() && archived_count(view) > 0)
      for (auto& job : store().archived(parts_.run.id, {asked.before, asked.after, asked.state,
                                                        static_cast<std::int64_t>(asked.limit) + 1}))
        if (!view.jobs.contains(job.job)) rows[job.job] = row(request.who, std::move(job.row));
    const bool more = rows.size() > asked.limit;
    while (rows.size() > asked.limit) rows.erase(asked.after ? std::prev(rows.end()) : rows.begin());
    std::string jobs;
    for (auto& [id, row] : rows) jobs += (jobs.empty() ? "" : ",") + row;
    Response out;
    out.body = fmt::format("{{\"all\":{},\"jobs\":[{}],\"more\":{},\"now\":{}}}\n", view.jobs.size(), jobs,
                           more, json(view.now.value).dump());
    return out;
  }

  Response show(const Request& request) const {
    const auto now = parts_.published.get();
    const auto found = find(*now, request);
    if (found.job) return json_response(whole_job_json(now->view, *found.job));
    auto whole = parsed(found.archived->whole);
    whole.erase("explained");
    return json_response(whole);
  }

  Response explain(const Request& request) const {
    const auto now = parts_.published.get();
    const auto found = find(*now, request);
    json out = found.job ? job_json(now->view, *found.job) : parsed(found.archived->row);
    const auto told = found.job ? explained(*now, *found.job) : parsed(found.archived->whole).at("explained");
    if (told.is_null())
      throw Refusal(409, fmt::format("job {} never asked to run: {}", out["job"].dump(),
                                     out["reason"].get<std::string>()));
    out.update(told);
    return json_response(out);
  }

  Response output(const Request& request) const {
    const auto now = parts_.published.get();
    const auto found = find(*now, request);
    std::vector<TaskId> tasks;
    if (found.job) tasks = found.job->tasks;
    const auto whole = found.archived ? parsed(found.archived->whole) : json{{"tasks", json::array()}};
    for (const auto& task : whole.at("tasks")) tasks.push_back(task.at("task"));
    if (tasks.empty()) throw Refusal(404, "it printed nothing: it never ran");
    const Owner owner = found.job ? found.job->owner : owner_in(parsed(found.archived->row));
    return tail_of(TaskFolders(parts_.folder), tasks.front(), owner.user);
  }

  // What it came to, as `tandem show --json -` says it of a run.
  Response result(const Request& request) const {
    const auto job = job_run(request);
    return json_response(result_json(job.run, job.view, job.folders));
  }

  // A list with one object a trial; of a training its one task.
  Response trials(const Request& request) const {
    const auto job = job_run(request);
    const auto result = result_json(job.run, job.view, job.folders);
    return json_response({{"trials", result.contains("trials") ? result["trials"] : json::array({result})}});
  }

  Response trial_log(const Request& request) const {
    const auto job = job_run(request);
    const auto trial = number_in(request.parameters.at("trial"));
    if (trial >= job.view.tasks.size())
      throw Refusal(
          404, fmt::format("job {} has no trial {}: it has {}", job.run.id, trial, job.view.tasks.size()));
    return tail_of(job.folders, static_cast<TaskId>(trial), job.view.jobs.front().owner.user);
  }

  Response nodes(const Request&) const {
    const auto now = parts_.published.get();
    json out = json::array();
    for (const auto& node : now->view.nodes) out.push_back(node_json(now->view, node));
    return json_response({{"nodes", std::move(out)}});
  }

  Response status(const Request&) const {
    const auto now = parts_.published.get();
    return json_response({{"run", parts_.run.id},
                          {"world", parts_.world},
                          {"policy", parts_.policy},
                          {"pid", ::getpid()},
                          {"started", parts_.started.value},
                          {"now", now->view.now.value},
                          {"events", now->view.events},
                          {"jobs", jobs_by_state(now->view)},
                          {"archived", archived_count(now->view)},
                          {"nodes", now->view.nodes.size()},
                          {"snapshot", snapshot_json()}});
  }

  Response metrics(const Request&) const {
    const auto now = parts_.published.get();
    for (const auto& [state, count] : jobs_by_state(now->view))
      parts_.metrics.gauge("tandem_jobs", "Jobs of this server by state", {{"state", state}})
          .set(static_cast<double>(count));
    double cores = 0, free = 0, up = 0, gpus = 0, free_gpus = 0;
    for (const auto& node : now->view.nodes) {
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
    set("tandem_events", "Events in the journal", static_cast<double>(now->view.events));
    set("tandem_jobs_archived", "Jobs that ended and were archived",
        static_cast<double>(archived_count(now->view)));
    set("tandem_snapshot_events", "Events that the newest snapshot of this session holds; 0: none was kept",
        static_cast<double>(parts_.snapshots.events().value_or(0)));
    set("tandem_snapshot_prevented", "1: none can be kept now, as some job's controller cannot be saved",
        parts_.snapshots.prevented() ? 1 : 0);
    Response out;
    out.content_type = Metrics::kContentType;
    out.body = parts_.metrics.text();
    return out;
  }

 private:
  // One of them.
  struct Found {
    const JobView* job = nullptr;  // of what was published
    std::optional<store::ArchivedJob> archived{};
  };

  store::Store store() const { return store::Store(parts_.store, &parts_.stopping); }

  // What a start would begin from: the events before it need not be read again.
  json snapshot_json() const {
    const auto events = parts_.snapshots.events();
    return {{"events", events ? json(*events) : json(nullptr)}, {"prevented", parts_.snapshots.prevented()}};
  }

  static json parsed(const std::string& text) {
    auto out = parse_json(text);
    if (out.is_discarded()) throw SystemError("an archived job is damaged in the store");
    return out;
  }

  static std::string row_text(const json& row) {
    return row.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  // Whoever may not see what it is sees that it is there.
  std::string row(const Identity& who, const View& view, const JobView& job) const {
    return may_manage(who, job.owner, parts_.user) ? rows_.row(view, job)
                                                   : row_text(anonymous_row(job_json(view, job)));
  }
  std::string row(const Identity& who, std::string archived) const {
    auto whole = parsed(archived);
    return may_manage(who, owner_in(whole), parts_.user) ? archived : row_text(anonymous_row(std::move(whole)));
  }

  static std::int64_t archived_count(const View& view) {
    std::int64_t sum = 0;
    for (const auto& [state, count] : view.archived) sum += count;
    return sum;
  }

  // Of jobs by their name only those one may see are looked through.
  Found find(const Published& now, const Request& request) const {
    const std::string& written = request.parameters.at("job");
    const auto& jobs = now.view.jobs;
    const auto visible = [&](const Owner& owner) { return may_manage(request.who, owner, parts_.user); };
    Found out;
    std::optional<std::int64_t> archived = job_number(written);
    if (archived) {
      if (jobs.contains(*archived)) out.job = &jobs[static_cast<std::size_t>(*archived)];
    } else {
      for (auto job = jobs.rbegin(); job != jobs.rend() && !out.job; ++job)
        if (job->base().name == written && visible(job->owner)) out.job = &*job;
      if (archived_count(now.view) > 0)
        archived = store().archived_called(parts_.run.id, written, [&](const std::string& row) {
          return visible(owner_in(parsed(row)));
        });
      const std::int64_t newest = archived.value_or(-1);  // of both the newest is meant
      if (out.job && newest > out.job->id && !jobs.contains(newest)) out.job = nullptr;
    }
    if (!out.job && archived && static_cast<std::size_t>(*archived) < jobs.size())
      out.archived = store().archived_job(parts_.run.id, *archived);
    const bool named = !job_number(written);
    const auto owner = [&] { return out.job ? out.job->owner : owner_in(parsed(out.archived->row)); };
    if ((!out.job && !out.archived) || (named && !visible(owner())))
      throw Refusal(404, fmt::format("there is no job {} here", printable(written, 60)));
    check_manages(request.who, owner(), parts_.user, out.job ? out.job->id : out.archived->job);
    return out;
  }

  // As if it had a run of its own.
  JobRun job_run(const Request& request) const {
    const auto now = parts_.published.get();
    const auto found = find(*now, request);
    if (found.job) return job_of_server(parts_.run, now->view, found.job->id, parts_.folder);
    if (!folds_.try_acquire())
      throw Refusal(503, "the server looks up other archived jobs just now; try again in a moment");
    const std::unique_ptr<std::counting_semaphore<kFoldsAtOnce>,
                          void (*)(std::counting_semaphore<kFoldsAtOnce>*)>
        done(&folds_, [](auto* folds) { folds->release(); });
    auto own = store();
    const auto id = static_cast<JobId>(found.archived->job);
    return job_of_server(parts_.run, replayed(own, parts_.run, id), id, parts_.folder);
  }

  static std::map<std::string, std::size_t> jobs_by_state(const View& view) {
    std::map<std::string, std::size_t> out{{"queued", 0},   {"starting", 0}, {"running", 0}, {"stopping", 0},
                                           {"finished", 0}, {"stopped", 0},  {"failed", 0}};
    auto ended = view.archived;
    for (const auto& job : view.jobs)
      if (job.state == JobState::running)
        ++out[state_of(view, job)];
      else
        ++ended[job.state];
    for (const auto& [state, count] : ended) out[name(state)] += static_cast<std::size_t>(count);
    return out;
  }

  ReadParts parts_;
  mutable JobRows rows_;
  mutable std::counting_semaphore<kFoldsAtOnce> folds_{kFoldsAtOnce};
};

}  // namespace

void add_reads(Router& router, const ReadParts& parts) {
  const auto api = std::make_shared<ReadApi>(parts);
  const auto add = [&](const char* pattern, Response (ReadApi::*answer)(const Request&) const,
                       Need need = Need::read) {
    router.add("GET", pattern, need,
               [api, answer](const Request& request) { return ((*api).*answer)(request); });
  };
  add("/v1/jobs", &ReadApi::list);
  add("/v1/jobs/{job}", &ReadApi::show);
  add("/v1/jobs/{job}/explain", &ReadApi::explain);
  add("/v1/jobs/{job}/output", &ReadApi::output);
  add("/v1/jobs/{job}/result", &ReadApi::result);
  add("/v1/jobs/{job}/trials", &ReadApi::trials);
  add("/v1/jobs/{job}/trials/{trial}/log", &ReadApi::trial_log);
  add("/v1/nodes", &ReadApi::nodes);
  add("/v1/status", &ReadApi::status);
  add("/metrics", &ReadApi::metrics, parts.open_metrics ? Need::nothing : Need::read);
}

}  // namespace tandem::server
