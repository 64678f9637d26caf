// tandem serve: the scheduler as a server
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/error.h"
#include "cli/command.h"
#include "platform/machine_lock.h"
#include "platform/sandbox.h"
#include "server/daemon.h"

namespace tandem::cli {
namespace {

std::atomic<server::Daemon*> to_stop{nullptr};

void on_stop_signal(int) {
  if (auto* server = to_stop.load()) server->stop();
}

struct ServeOptions {
  StoreOption store;
  JsonOption json;
  DataOption data;
  server::DaemonOptions daemon;
  std::string listen = "127.0.0.1:8470", time, log = "info", archive_after = "7d";
  bool no_port = false, sandbox = false, no_read_budgets = false;
};

// Tokens and jobs would travel in the clear.
void refuse_beyond_loopback(const server::Address& address) {
  if (address.is_unix() || server::socket_address(address).is_loopback()) return;
  throw UserError(fmt::format(
      "--listen {}: tokens and jobs would pass the network in the clear, where others can read and change "
      "them; listen on 127.0.0.1 and reach it by `ssh -L {}:127.0.0.1:{} THIS-MACHINE`, or use the Unix socket",
      server::text(address), address.port, address.port));
}

// While a server has this machine, `tandem train` and others wait, as for each other.
std::optional<platform::MachineLock> take_machine(const ServeOptions& options, const std::string& name) {
  if (!app::capabilities_of(options.daemon.world.world).here) return std::nullopt;
  platform::MachineQueue queue(platform::MachineLock::default_file());
  std::string owner;
  auto lock = queue.take(fmt::format("server {} (pid {})", name, ::getpid()), &owner);
  if (!lock)
    throw UserError("this machine is at work on " + owner +
                    "; wait for it, stop it, or serve another world (--world sim)");
  return lock;
}

int serve(ServeOptions& options) {
  options.data.apply();
  auto store = options.store.open();
  auto& setup = options.daemon;
  if (!options.no_port) setup.listen = server::parse_address(options.listen);
  setup.read_budgets = !options.no_read_budgets;
  if (setup.listen) refuse_beyond_loopback(*setup.listen);
  if (!setup.open_socket.empty() && ::geteuid() != 0)
    throw UserError(
        "--open-socket takes jobs of all users and runs each as its user, which only root can; without "
        "root, give others a token (`tandem token create`): their jobs run as you");
  auto& separation = setup.world.here.separation;
  separation.umask = ::umask(077);
  if (options.sandbox) {
    if (!app::capabilities_of(setup.world.world).here)
      throw UserError("--sandbox is for programs on this machine (--world local), not for --world " +
                      setup.world.world);
    if (const auto missing = platform::Sandbox::missing()) throw UserError("--sandbox: " + *missing);
    separation.sandbox = store.folder();
  }
  if (const auto level = server::parse_level(options.log))
    setup.log_from = *level;
  else
    throw UserError("--log must be debug, info, warning or error, not '" + options.log + "'");
  if (!options.time.empty()) {
    setup.world.slurm.time = parse_seconds(options.time);
    if (!setup.world.slurm.time)
      throw UserError("--time must be a time such as 30min, not '" + options.time + "'");
  }
  if (options.archive_after == "never") {
    setup.archive_after.reset();
  } else {
    setup.archive_after = parse_seconds(options.archive_after);
    if (!setup.archive_after || setup.archive_after->value < 0)
      throw UserError("--archive-after must be a time such as 7d, or never, not '" + options.archive_after +
                      "'");
  }
  setup.world.trainer = trainer_program().string();
  setup.world.programs = own_folder();
  setup.world.guardian = guardian_program();
  setup.catalogue = catalogue();
  const auto machine = take_machine(options, setup.name);
  server::Daemon server(store, setup);
  to_stop = &server;
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  std::vector<std::string> where;
  for (const auto& address : server.addresses()) where.push_back(server::text(address));
  options.json.answer({{"run", server.run()},
                       {"world", setup.world.world},
                       {"policy", setup.policy},
                       {"nodes", server.view().nodes.size()},
                       {"addresses", where}},
                      fmt::format("Serving {} under policy {} (run {}), at {}.\n"
                                  "Submit with: {} submit SPEC   Look with: {} queue   Stop with Ctrl-C; jobs "
                                  "are kept.\n",
                                  counted(server.view().nodes.size(), "node"), setup.policy, server.run(),
                                  fmt::join(where, " and "), own_command(), own_command()));
  server.serve();
  to_stop = nullptr;
  return kDone;
}

template <class Table>
std::string listed(const Table& table) {
  std::string out;
  for (const auto& entry : table) out += "\n  " + entry.name + ": " + entry.description;
  return out;
}

}  // namespace

void add_serve(CLI::App& app, Action& action) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = add_command(
      app, "serve", "Schedule jobs on this machine, a cluster or a simulated one, as a server",
      "  tandem serve                                            this machine, HEATS' policy\n"
      "  tandem serve --nodes examples/nodes-laptop.yaml         this machine as three unequal nodes\n"
      "  tandem serve --world sim --nodes heats --time-factor 60        a simulated cluster, a minute a "
      "second\n"
      "  tandem serve --world slurm --partition gpu --time 2h    a Slurm cluster, as its user\n"
      "  sudo tandem serve --store /var/lib/tandem --open-socket /run/tandem.sock  all users' jobs, as them\n"
      "  curl -H \"Authorization: Bearer $(cat TOKEN)\" http://127.0.0.1:8470/metrics    for Prometheus\n\n"
      "Who may do what: tandem token --help, docs/security.md");
  auto& setup = options->daemon;
  options->store.add_to(*command);
  options->json.add_to(*command);
  options->data.add_to(*command);
  command->add_option("--world", setup.world.world, "where jobs run:" + listed(app::worlds()))
      ->type_name("NAME")
      ->capture_default_str();
  std::string policies;
  for (const auto& entry : place::policies()) policies += "\n  " + entry.name + ": " + entry.description;
  policies += "\nwith :" + place::malleable_option().name + ", " + place::malleable_option().meaning;
  command->add_option("--policy", setup.policy, "who runs next, and where:" + policies)
      ->type_name("NAME[:OPTION=VALUE...]")
      ->capture_default_str();
  command
      ->add_option("--nodes", setup.world.nodes, "the nodes: a ready cluster (tandem sim --help) or a file")
      ->type_name("NAME|FILE");
  command->add_option("--name", setup.name, "of the server; each name has its own jobs")
      ->check(CLI::Validator(
          [](const std::string& name) {
            const bool good = !name.empty() && name.size() <= 32 &&
                              name.find_first_not_of(
                                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_") == std::string::npos;
            return good ? std::string() : "must be at most 32 letters, digits, - and _";
          },
          "NAME"))
      ->capture_default_str();
  command->add_option("--listen", options->listen, "address of this machine and port; a token is asked for")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  command
      ->add_option("--open-socket", setup.open_socket,
                   "root only: a socket for all users of this machine; jobs run as who submits them")
      ->type_name("FILE");
  command->add_flag("--sandbox", options->sandbox,
                    "jobs see of the store their own folder, have their own /tmp and reach no other process "
                    "(tandem doctor)");
  command
      ->add_option("--pass", setup.world.here.separation.pass,
                   "a variable that jobs get although its name looks like a secret's (HF_TOKEN)")
      ->type_name("NAME...");
  command->add_flag("--share-knowledge", setup.share_knowledge,
                    "jobs learn from jobs of all users, not of their own alone (docs/security.md)");
  command->add_flag("--metrics-open", setup.open_metrics, "/metrics needs no token");
  command->add_flag("--no-read-budgets", options->no_read_budgets,
                    "answer whoever asks, however much (docs/security.md)");
  command->add_flag("--no-port", options->no_port, "the Unix socket alone");
  command
      ->add_option("--time-factor,--pace", setup.world.time_factor, "--world sim: simulated seconds a second")
      ->check(CLI::Range(1e-3, 1e9));
  command->add_option("--seed", setup.seed, "of random policies")->capture_default_str();
  command
      ->add_option("--archive-after", options->archive_after,
                   "so long after its end a job leaves the scheduler's memory (it stays visible); or never")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--log", options->log, "least level: debug, info, warning, error")
      ->capture_default_str();
  const std::string slurm = "Slurm";
  command->add_option("--partition", setup.world.slurm.partition, "of every job")->group(slurm);
  command->add_option("--account", setup.world.slurm.account, "of every job")->group(slurm);
  command->add_option("--qos", setup.world.slurm.qos, "of every job")->group(slurm);
  command->add_option("--constraint", setup.world.slurm.constraint, "of every job")->group(slurm);
  command->add_option("--time", options->time, "limit of each Slurm job")->type_name("TIME")->group(slurm);
  command->callback([options, &action] { action = [options] { return serve(*options); }; });
}

}  // namespace tandem::cli
