#include "server/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <semaphore>

#include "app/job_json.h"
#include "app/job_prediction.h"
#include "app/job_view.h"
#include "app/kinds.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "server/http/json_body.h"
#include "server/ownership.h"
#include "server/submission_keys.h"
#include "spec/parse.h"

namespace tandem::server {

using namespace app;
namespace {

using nlohmann::json;

constexpr std::size_t kMostJobs = 1'000'000;  // in memory

class Api {
 public:
  explicit Api(const ApiParts& parts) : parts_(parts) {}

  // Beside the scheduler, on a thread of its own: what a submission leaves open is chosen, and predicted. All
  // of it by a store of its own. {spec, folder, file, notes, predicted}
  json settle(const Request& request) const {
    json out = submission_of(request);
    out["owner"] = owner_for(request.who, out["folder"]);
    out["key"] = submission_key(request.key, out["spec"], out["folder"]);
    out["repeated"] = keys_.find(owner_in(out), out["key"]).has_value();
    if (out["repeated"]) return out;
    if (!needs_advice(out["spec"], out["file"])) return out;
    // One at a time, another may wait: the other readers are for those who read.
    const bool may_wait = advised_.try_acquire();
    const auto leave = std::shared_ptr<void>(nullptr, [&](void*) {
      if (may_wait) advised_.release();
    });
    std::unique_lock one(advising_, std::defer_lock);
    if (!may_wait || !one.try_lock_for(std::chrono::seconds(10)))
      throw Refusal(503, "the server is choosing values for others; try again");
    store::Store store(parts_.store.folder(), &parts_.stopping);
    const std::string file = out["file"];
    const auto settled = settle_choices(store, out["spec"], file, teachers_of(owner_in(out)));
    if (!settled.unmet.empty()) throw Refusal(kUnmet, fmt::format("{}: {}", file, settled.unmet));
    out["spec"] = settled.spec;
    if (!settled.words.empty()) out["notes"].push_back(settled.words);
    add_prediction(store, out);
    return out;
  }

  Response submit(const Request& request) const {
    const json& settled = request.prepared;
    if (const auto made = keys_.find(owner_in(settled), settled["key"])) return repeated(*made);
    if (settled["repeated"]) throw Refusal(503, "its key was forgotten just now, and nothing done; try again");
    if (view().jobs.present() >= kMostJobs)
      throw Refusal(507, "this server has a million jobs that are not archived: start one of another name");
    std::vector<std::string> notes;
    const JobId id = submit(settled, notes);
    for (const auto& note : settled["notes"]) notes.push_back(note);
    const auto& name = view().jobs[static_cast<std::size_t>(id)].base().name;
    parts_.log.info("job submitted", {{"job", id}, {"name", name}, {"user", owner_in(settled).user}});
    parts_.publish();
    auto answer = job_json(view(), view().jobs[static_cast<std::size_t>(id)]);
    answer["notes"] = notes;
    if (settled.contains("predicted")) {
      answer["predicted"] = settled["predicted"];
      if (!settled["predicted"].is_null()) keep_prediction_of(id, answer["predicted"]);
    }
    auto response = json_response(answer, 201);
    response.headers["Location"] = fmt::format("/v1/jobs/{}", id);
    return response;
  }

  Response cancel(const Request& request) const {
    const JobId id = find(request);
    if (const auto state = view().jobs[static_cast<std::size_t>(id)].state; state != JobState::running)
      throw Refusal(409, fmt::format("job {} is over: it has {}", id, name(state)));
    durably([&] { parts_.loop.cancel(id, "cancelled"); });
    parts_.publish();
    parts_.log.info("job cancelled", {{"job", id}});
    return json_response(job_json(view(), view().jobs[static_cast<std::size_t>(id)]), 202);
  }

 private:
  const View& view() const { return parts_.loop.view(); }

  // What is decided and cannot be written now is written later, unless the server ends before: nobody is told
  // that it did not happen.
  void durably(const std::function<void()>& change) const {
    try {
      change();
    } catch (const SystemError& why) {
      parts_.log.error("journal not written", {{"why", why.what()}});
      throw Refusal(503,
                    "accepted, but not yet on disk: it takes effect as soon as it is, and never if the server "
                    "ends before; repeat it with the same Idempotency-Key, or look, to find out");
    }
  }

  Response repeated(JobId id) const {
    durably([&] { parts_.loop.flush(); });
    json answer;
    if (view().jobs.contains(id))
      answer = job_json(view(), view().jobs[static_cast<std::size_t>(id)]);
    else if (const auto archived = parts_.store.archived_job(parts_.run, id))
      answer = parse_json(archived->row);
    answer["notes"] = json::array();
    answer["repeated"] = true;
    auto response = json_response(answer);
    response.headers["Location"] = fmt::format("/v1/jobs/{}", id);
    return response;
  }

  // What cannot be predicted runs all the same.
  void add_prediction(store::Store& store, json& out) const {
    try {
      const auto prediction = predict_job(store, out["spec"], out["file"], teachers_of(owner_in(out)));
      if (!prediction) return;
      out["notes"].push_back(prediction->words);
      out["predicted"] = prediction->predicted ? to_json(*prediction->predicted) : json();
    } catch (const std::exception& why) {
      out["notes"].push_back(fmt::format("nobody can tell whether it meets its deadline: {}", why.what()));
    }
  }

  static json submission_of(const Request& request) {
    const json body = parse_json_body(request.body);
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
    const std::string spec = word("spec"), folder = word("folder"), file = word("file");
    if (spec.empty()) throw Refusal(400, "a submission needs \"spec\": the YAML of a job");
    if (!folder.empty() && (folder.front() != '/' || folder.size() > 4096))
      throw Refusal(400, "\"folder\" must be an absolute path");
    return {{"spec", spec},
            {"folder", folder},
            {"file", printable(file.empty() ? "spec" : file, 200)},
            {"notes", json::array()}};
  }

  // From whose jobs one's own may learn.
  store::Owners teachers_of(const Owner& owner) const {
    return parts_.share_knowledge ? store::Owners{} : own(owner.user, parts_.user);
  }

  // A family of jobs is told apart by whose they are, in everything that learns from families.
  void keep_family_apart(spec::Job& job, const Owner& owner) const {
    auto& family = spec::base_of(job).place.family;
    if (parts_.share_knowledge || family.empty() || owner.user == static_cast<std::int64_t>(parts_.user)) return;
    family = fmt::format("{}/{}", owner.user, family);
  }

  void keep_prediction_of(JobId id, const json& predicted) const {
    try {  // the job is queued, whatever becomes of this
      auto kept = predicted_run_from_json(predicted);
      kept.job = id;
      kept.owner = view().jobs[static_cast<std::size_t>(id)].owner.user;
      keep_prediction(parts_.store, parts_.run, kept);
    } catch (const std::exception& why) {
      parts_.log.warning("prediction not kept", {{"job", id}, {"why", why.what()}});
    }
  }

  // Whose a job becomes that is submitted by them from this folder, {"user", "name"}.
  json owner_for(const Identity& who, const std::string& folder) const {
    if (!who.user) throw Refusal(403, who.name + " is nobody's: whose would the job be?");
    const json owner{{"user", *who.user}, {"name", platform::user_name(*who.user)}};
    if (*who.user == parts_.user || !parts_.take_in) return owner;
    const auto user = platform::Credentials::of(*who.user);
    parts_.take_in(user);
    if (!folder.empty() && !platform::may_enter(user, folder))
      throw Refusal(400, fmt::format("user {} may not enter the folder {}, where the job would run", user.name,
                                     printable(folder, 200)));
    return owner;
  }

  JobId find(const Request& request) const {
    const std::string& written = request.parameters.at("job");
    const auto number = job_number(written);
    if (number && static_cast<std::size_t>(*number) < view().jobs.size() && !view().jobs.contains(*number))
      throw Refusal(409, fmt::format("job {} is over, and archived", *number));
    const auto& jobs = view().jobs;
    if (number && jobs.contains(*number)) {
      check_manages(request.who, jobs[static_cast<std::size_t>(*number)].owner, parts_.user, *number);
      return *number;
    }
    const auto newest = [&](const auto& is_theirs) -> std::optional<JobId> {
      for (auto job = jobs.rbegin(); job != jobs.rend(); ++job)
        if (job->base().name == written && is_theirs(job->owner)) return job->id;
      return std::nullopt;
    };
    const auto& who = request.who;
    auto meant = newest([&](const Owner& owner) { return is_own(who, owner, parts_.user); });
    if (!meant && who.role == Role::operate) meant = newest([](const Owner&) { return true; });
    if (meant) return *meant;
    throw Refusal(404, fmt::format("there is no job {} here", printable(written, 60)));
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

  JobId submit(const json& settled, std::vector<std::string>& notes) const {
    const std::string text = settled["spec"];
    // Of a kind that is not queued the first one's reader says so.
    const Kind* kind = find_kind(spec::kind_of(text));
    if (kind == nullptr || !kind->queued) kind = &kinds().front();
    auto job = kind->parse(text, settled["file"], parts_.catalogue);
    notes = check_gpus(job);
    if (kind->require_possible && !view().nodes.empty()) kind->require_possible(job, view());
    if (auto& program = spec::base_of(job).program; program.folder.empty()) program.folder = settled["folder"];
    const auto owner = owner_in(settled);
    keep_family_apart(job, owner);
    std::optional<KnowledgeArrived> known;
    if (kind->uses_knowledge) {
      const std::string machine = view().nodes.empty() ? "" : view().nodes.front().type;
      known = KnowledgeArrived{"store", parts_.store.knowledge(machine, teachers_of(owner))};
    }
    const auto id = static_cast<JobId>(view().jobs.size());
    keys_.add(owner, settled["key"], id, view().now);
    durably([&] { parts_.loop.submit(job, std::move(known), owner, settled["key"]); });
    return id;
  }

  ApiParts parts_;
  mutable SubmissionKeys keys_{parts_.loop.view()};
  mutable std::counting_semaphore<2> advised_{2};
  mutable std::timed_mutex advising_;
};

}  // namespace

void add_changes(Router& router, const ApiParts& parts) {
  const auto api = std::make_shared<Api>(parts);
  router.add(
      "POST", "/v1/jobs", Need::change, [api](const Request& request) { return api->submit(request); },
      [api](const Request& request) { return api->settle(request); });
  router.add("DELETE", "/v1/jobs/{job}", Need::change,
             [api](const Request& request) { return api->cancel(request); });
}

}  // namespace tandem::server
