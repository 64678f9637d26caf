// The scheduler as a server: one control loop whose jobs come over HTTP, in any world, under any policy.
//
// Everything it knows is in its journal: a job is durable before its submission is answered, and a server
// that is killed and started again goes on where it was. There is no other way to stop it than that one, a
// gentle stop only closes the door first: programs that run are ended with it and go on from their
// checkpoints when it is back (in the local world; Slurm's are found again).
//
// One thread does the scheduling and, in between, what is asked to be changed (HttpServer::answer_pending).
// The HTTP server has one of its own, and some that answer what is only read, from copies of the view that
// are published after commits (published.h): reading never waits for scheduling. Jobs that ended a while ago
// are archived (archive.h), so that a server can live long.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/worlds.h"
#include "base/catalogue.h"
#include "place/engine/scheduler.h"
#include "server/http/address.h"
#include "server/http/log.h"
#include "store/store.h"

namespace tandem::server {

struct DaemonOptions {
  std::string name = "main";
  std::string policy = "heats:H=0.5";
  std::uint64_t seed = 1;
  std::optional<Address> listen{};  // TCP; none: the Unix socket alone
  std::filesystem::path open_socket{};  // for all users of this machine, whose jobs run as them; root alone
  bool open_metrics = false;  // /metrics needs no token
  bool share_knowledge = false;  // what jobs of one user teach is for all users' jobs
  bool read_budgets = true;   // who asks too much is told to wait (http/budget.h)
  app::WorldSetup world{};
  Catalogue catalogue{};
  Level log_from = Level::info;
  std::optional<Seconds> archive_after = Seconds{7 * 86400.0};  // their end, jobs are archived; none: never
};

// Where the server of a name listens, and what lets others change something.
std::filesystem::path socket_file(const store::Store&, const std::string& name);
std::filesystem::path token_file(const store::Store&);
// The tokens that were made for others, and who did what.
std::filesystem::path tokens_folder(const store::Store&);
std::filesystem::path audit_file(const store::Store&);

class Daemon {
 public:
  // Finds the run of this name, or makes one. UserError when a server of the name is running, or ran in
  // another world or under another policy.
  Daemon(store::Store&, DaemonOptions);
  Daemon(const Daemon&) = delete;
  ~Daemon();

  std::vector<Address> addresses() const;
  const std::string& run() const;
  const View& view() const;
  // Until stop() is called.
  void serve();
  void stop();  // from a signal handler or another thread

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::server
