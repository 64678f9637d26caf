#include "server/daemon.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "app/job_json.h"
#include "app/leftovers.h"
#include "app/runs.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "platform/sandbox.h"
#include "server/api.h"
#include "server/archive.h"
#include "server/http/http_server.h"
#include "server/read_api.h"
#include "server/snapshot_keeper.h"
#include "server/user_jobs.h"
#include "tune/train.h"
#include "tune/tune.h"

namespace tandem::server {

using namespace app;
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPublishEvery{20}, kKnowledgeEvery{1000};
constexpr int kReaders = 5;  // two may fold a journal, two be about advice: one is always for who reads

Seconds wall() {
  return {std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

json spec_of(const DaemonOptions& options) {
  return {{"kind", "serve"},
          {"world", options.world.world},
          {"policy", options.policy},
          {"nodes", options.world.nodes},
          {"seed", options.seed}};
}

// The run of this name, or a new one.
store::RunInfo run_of(store::Store& store, const DaemonOptions& options) {
  const auto policy = place::parse_policy(options.policy);  // a wrong one is told before there is a run
  if (policy.infra && !capabilities_of(options.world.world).load)
    throw UserError(fmt::format(
        "policy infra places by what others use of each node, and of {}'s nodes nobody watches that yet: "
        "use it with --world local or sim, or another policy here",
        options.world.world));
  const json wanted = spec_of(options);
  for (const auto& run : store.runs()) {
    if (!app::is_server(run) || run.name != options.name) continue;
    const auto had = parse_json(run.spec);
    for (const auto& [key, value] : wanted.items())
      if (had.is_discarded() || had.value(key, json()) != value)
        throw UserError(fmt::format(
            "the server '{}' was started with {} {}, and its jobs were placed by it; give --name another "
            "name for one with {}, or remove the old one with `tandem rm {}`",
            options.name, key, had.is_discarded() ? "?" : had.value(key, json()).dump(), value.dump(),
            run.id));
    return run;
  }
  return store.create_run("serve", options.name, wanted.dump(), wall());
}

// Tells the log what becomes of jobs and nodes.
class Reporter final : public control::Observer {
 public:
  Reporter(Log& log, Metrics& metrics) : log_(log), metrics_(metrics) {}

  void saw(const View& view, const control::Entry& entry) override {
    if (const auto* node = std::get_if<NodeJoined>(&entry.event.body))
      log_.info(node->capacity.cores > 0 ? "node is up" : "node is down", {{"node", node->name}});
    if (const auto* failed = std::get_if<TaskFailed>(&entry.event.body))
      log_.warning("attempt failed", {{"job", view.tasks[static_cast<std::size_t>(failed->task)].job},
                                      {"attempt", failed->attempt},
                                      {"what", name(failed->failure)},
                                      {"detail", failed->detail}});
    for (const auto& decision : entry.decisions) decided(view, decision);
  }

 private:
  void decided(const View& view, const Decision& decision) {
    if (const auto* start = std::get_if<Start>(&decision.body)) {
      const auto& task = view.tasks[static_cast<std::size_t>(start->task)];
      metrics_.counter("tandem_starts_total", "Attempts started").add();
      log_.info("job placed", {{"job", task.job},
                               {"attempt", start->attempt},
                               {"node", view.nodes[static_cast<std::size_t>(start->node)].name}});
    } else if (const auto* stop = std::get_if<Stop>(&decision.body)) {
      log_.info("attempt stopped", {{"job", view.tasks[static_cast<std::size_t>(stop->task)].job},
                                    {"attempt", stop->attempt},
                                    {"why", stop->reason}});
    } else if (const auto* finish = std::get_if<FinishJob>(&decision.body)) {
      metrics_
          .counter("tandem_jobs_ended_total", "Jobs that came to their end", {{"state", name(finish->state)}})
          .add();
      log_.info("job ended",
                {{"job", finish->job}, {"state", name(finish->state)}, {"reason", finish->reason}});
    }
  }

  Log& log_;
  Metrics& metrics_;
};

}  // namespace

std::filesystem::path socket_file(const store::Store& store, const std::string& name) {
  return store.folder() / ("serve-" + name + ".sock");
}

std::filesystem::path token_file(const store::Store& store) {
  return store.folder() / "serve-token";
}

std::filesystem::path tokens_folder(const store::Store& store) {
  return store.folder() / "tokens";
}

std::filesystem::path audit_file(const store::Store& store) {
  return store.folder() / "serve-audit.log";
}

class Daemon::Impl {
 public:
  Impl(store::Store& store, DaemonOptions options)
      : options_(std::move(options)),
        run_(run_of(store, options_)),
        lock_(store::RunLock::take(store.run_folder(run_.id))),
        journal_(store.journal(run_.id, [this](const std::string& why) { return waits_for_store(why); })),
        log_(Log::to_descriptor(STDERR_FILENO), {.from = options_.log_from}),
        audit_(audit_file(store), [this](const auto& why) { log_.error("audit log", {{"why", why}}); }),
        reporter_(log_, metrics_) {
    if (!lock_)
      throw UserError(
          fmt::format("a server called '{}' is running already (run {})", options_.name, run_.id));
    for (const auto& left : app::reap_leftovers(store)) log_.warning("leftovers", {{"note", text(left)}});
    auto setup = options_.world;
    setup.run = run_.id;
    setup.folder = store.run_folder(run_.id);
    if (!setup.here.separation.sandbox.empty())
      for (const auto& one : platform::Sandbox::probe())
        if (!one.available) log_.warning("sandbox", {{"without", one.mechanism}, {"why", one.why}});
    setup.here.separation.as_owners = ::geteuid() == 0;
    setup.here.separation.without_secrets = true;
    hosted_ = make_world(setup);
    if (hosted_.gpus)
      for (const auto& note : hosted_.gpus->notes()) log_.warning("GPUs", {{"note", note}});
    auto policies = app::policies_of(run_);
    scheduler_ = static_cast<const place::Scheduler*>(policies.back().get());
    loop_.emplace(control::Ports{*hosted_.world, *journal_, hosted_.sensor.get(), &reporter_},
                  std::move(policies));
    keeper_.emplace(setup.folder, log_);
    loop_->open(keeper_->newest());
    check_nodes();
    archivist_.emplace(store, run_.id, options_.archive_after);
    publish();
    listen(store, setup.folder);
  }

  void serve() {
    loop_->serve([this] {
      http_->answer_pending();
      if (std::exchange(store_locked_, false)) log_.info("the store can be written again");
      const bool archives = archive_some();
      publish_when_due();
      if (archives) hosted_.interrupt();  // there may be more
      keeper_->keep_when_due(*loop_, archives);
      return !stopping_.load();
    });
    log_.info("server stops", {{"run", run_.id}});
    http_->stop();
    keeper_->keep_now(*loop_);
  }

  void stop() {
    stopping_ = true;
    hosted_.interrupt();
  }

  std::vector<Address> addresses() const { return http_->addresses(); }
  const std::string& run() const { return run_.id; }
  const View& view() const { return loop_->view(); }

 private:
  // Programs wait at their reports and submissions for their answers meanwhile; what is only read goes on.
  bool waits_for_store(const std::string& why) {
    if (!std::exchange(store_locked_, true))
      log_.warning("the store is locked; jobs wait at their reports until it is not", {{"why", why}});
    return !stopping_;
  }

  // True: there may be more. Whoever keeps the store locked puts it off.
  bool archive_some() {
    try {
      return archivist_->work(*loop_, published_.get()->scheduler);
    } catch (const store::StoreLocked& e) {
      waits_for_store(e.what());
      return false;
    }
  }

  // A node has its number for good: jobs that run are known to be on it.
  void check_nodes() const {
    std::set<std::string> names;
    for (const auto& node : loop_->view().nodes)
      if (!names.insert(node.name).second)
        throw UserError(
            fmt::format("the cluster has changed since the server '{}' last ran (node {} has "
                        "another number); give --name another name",
                        options_.name, node.name));
  }

  // What readers see from now on. What was learnt changes slowly and is copied whole, so less often.
  void publish() {
    const auto began = Clock::now();
    const auto before = published_.get();
    const double pace = options_.world.world == "sim" ? options_.world.time_factor : 1;
    auto next = std::make_shared<Published>(
        Published{loop_->share(), before ? before->scheduler : nullptr, hosted_.world->now(), began, pace});
    if (!before || began >= knowledge_due_) {
      next->scheduler = std::make_shared<place::SchedulerKnowledge>(scheduler_->knowledge());
      knowledge_due_ = due_after(began, kKnowledgeEvery);
    }
    published_.publish(std::move(next));
    publish_due_ = due_after(began, kPublishEvery);
  }

  void publish_when_due() {
    if (loop_->view().events != published_.get()->view.events && Clock::now() >= publish_due_) publish();
  }

  // So seldom that it takes a twentieth of the time at most.
  static Clock::time_point due_after(Clock::time_point began, Clock::duration every) {
    const auto took = Clock::now() - began;
    return began + std::max(every, 20 * took);
  }

  // What jobs of other users need; none: they run as the server's user, or nowhere.
  std::function<void(const platform::Credentials&)> taking_in(const std::filesystem::path& store,
                                                              const std::filesystem::path& folder) const {
    if (::geteuid() != 0 || options_.world.world == "sim") return nullptr;
    if (hosted_.world->capabilities().here)
      return [store, folder](const platform::Credentials& user) { open_way(store, folder, user); };
    return [this](const platform::Credentials& user) {
      throw UserError(
          fmt::format("jobs in the world {} would run as root, not as user {}; run a server as that user",
                      options_.world.world, user.name));
    };
  }

  void listen(store::Store& store, const std::filesystem::path& folder) {
    ServerOptions options;
    options.tcp = options_.listen;
    options.socket = socket_file(store, options_.name);
    options.open_socket = options_.open_socket;
    if (!options_.open_socket.empty()) options.others = Role::submit;
    options.audit = &audit_;
    options.wake = hosted_.interrupt;
    options.readers = kReaders;
    options.limits.budgets = options_.read_budgets;
    Router router;
    add_changes(router,
                {*loop_, store, run_.id, options_.world.world, hosted_.world->capabilities(), hosted_.gpus.get(),
                 options_.catalogue, log_, [this] { publish(); }, stopping_, ::geteuid(),
                 taking_in(store.folder(), folder), options_.share_knowledge});
    add_reads(router, {published_, store.folder(), run_, options_.world.world, options_.policy, folder,
                       metrics_, wall(), *keeper_, stopping_, ::geteuid(), options_.open_metrics});
    Tokens tokens(Token::load_or_create(token_file(store)), tokens_folder(store));
    http_.emplace(std::move(options), std::move(router), std::move(tokens), log_, metrics_);
    json addresses = json::array();
    for (const auto& address : http_->addresses()) addresses.push_back(text(address));
    log_.info("server is up", {{"run", run_.id},
                               {"world", options_.world.world},
                               {"policy", options_.policy},
                               {"listens", addresses},
                               {"nodes", loop_->view().nodes.size()},
                               {"jobs", loop_->view().jobs.size()},
                               {"archived", loop_->view().jobs.size() - loop_->view().jobs.present()}});
  }

  const DaemonOptions options_;
  const store::RunInfo run_;
  std::optional<store::RunLock> lock_;
  std::unique_ptr<control::Journal> journal_;
  Log log_;
  Metrics metrics_;
  Audit audit_;
  Reporter reporter_;
  HostedWorld hosted_;
  std::optional<control::Loop> loop_;
  const place::Scheduler* scheduler_ = nullptr;  // the loop's
  Publisher published_;
  Clock::time_point publish_due_{}, knowledge_due_{};
  std::optional<Archivist> archivist_;
  std::optional<SnapshotKeeper> keeper_;
  std::atomic<bool> stopping_{false};
  bool store_locked_ = false;  // and the log says so
  std::optional<HttpServer> http_;
};

Daemon::Daemon(store::Store& store, DaemonOptions options)
    : impl_(std::make_unique<Impl>(store, std::move(options))) {}
Daemon::~Daemon() = default;
std::vector<Address> Daemon::addresses() const {
  return impl_->addresses();
}
const std::string& Daemon::run() const {
  return impl_->run();
}
const View& Daemon::view() const {
  return impl_->view();
}
void Daemon::serve() {
  impl_->serve();
}
void Daemon::stop() {
  impl_->stop();
}

}  // namespace tandem::server
