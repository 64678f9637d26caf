// tandem token: who else may use a server, and as what
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/command.h"
#include "platform/credentials.h"
#include "report/server_tables.h"
#include "server/daemon.h"
#include "server/http/audit.h"
#include "server/http/tokens.h"

namespace tandem::cli {
namespace {

using nlohmann::json;

struct TokenOptions {
  StoreOption store;
  JsonOption json;
  std::string name, role, user;
};

void tell_audit(const store::Store& store, const std::string& what, const server::TokenRecord& token) {
  json line{{"who", fmt::format("user {}", ::getuid())},
            {"user", ::getuid()},
            {"over", "command"},
            {"what", what + " " + token.name},
            {"outcome", "done"}};
  if (token.user) line["for"] = *token.user;
  server::Audit(server::audit_file(store), [](const std::string& why) {
    std::cerr << "tandem: the audit log does not have it: " << why << "\n";
  }).changed(std::move(line));
}

json record_json(const server::TokenRecord& token) {
  return {{"name", token.name},
          {"role", server::name(token.role)},
          {"user", token.user ? json(*token.user) : json(nullptr)},
          {"made", token.made.value}};
}

int create(const TokenOptions& options) {
  const auto store = options.store.open();
  const auto role = server::parse_role(options.role);
  if (!role) throw UserError("--role must be view, submit or operate, not '" + options.role + "'");
  server::TokenRecord record{options.name, *role, {}, {}};
  if (*role != server::Role::view) record.user = ::getuid();
  if (!options.user.empty()) {
    const auto user = platform::find_user(options.user);
    if (!user) throw UserError("--user: this machine has no user '" + options.user + "'");
    record.user = *user;
  }
  record.made.value =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto token = server::create_token(server::tokens_folder(store), record);
  tell_audit(store, fmt::format("create {} token", options.role), record);
  if (::isatty(STDERR_FILENO) && !options.json.wanted())
    std::cerr << "This token is shown once. Keep it in a file only its user can read (mode 0600), for "
                 "--token FILE:\n";
  ::umask(077);  // --json FILE holds it
  auto made = record_json(record);
  made["token"] = token.reveal();
  options.json.answer(made, token.reveal() + "\n");
  return kDone;
}

int list(const TokenOptions& options) {
  const auto store = options.store.open();
  json tokens = json::array();
  std::vector<std::vector<std::string>> rows{{"NAME", "ROLE", "USER", "MADE"}};
  for (const auto& token : server::list_tokens(server::tokens_folder(store))) {
    const std::string user = token.user ? platform::user_name(*token.user) : "-";
    tokens.push_back(record_json(token));
    rows.push_back({token.name, server::name(token.role), user, clock_time(token.made.value)});
  }
  options.json.answer({{"tokens", tokens}},
                      rows.size() == 1
                          ? "There are no tokens but the server's own; `tandem token create` makes one.\n"
                          : columns(rows));
  return kDone;
}

int revoke(const TokenOptions& options) {
  const auto store = options.store.open();
  server::revoke_token(server::tokens_folder(store), options.name);
  tell_audit(store, "revoke token", {options.name});
  options.json.answer({{"name", options.name}, {"revoked", true}},
                      fmt::format("The token {} is of no use from now on.\n", options.name));
  return kDone;
}

}  // namespace

void add_token(CLI::App& app, Action& action) {
  auto options = std::make_shared<TokenOptions>();
  CLI::App* command =
      add_command(app, "token", "Give others access to a server of this store, and take it back",
                  "  tandem token create --role view --name prometheus          the queue and /metrics\n"
                  "  tandem token create --role submit --name ana --user ana    queues and ends her own jobs\n"
                  "  tandem token list\n"
                  "  tandem token revoke ana                                    at once\n\n"
                  "Used with --token FILE, or as `Authorization: Bearer TOKEN` (docs/security.md).");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, int (*run)(const TokenOptions&)) {
    CLI::App* sub = command->add_subcommand(name, what);
    options->store.add_to(*sub);
    options->json.add_to(*sub);
    sub->callback([options, run, &action] { action = [options, run] { return run(*options); }; });
    return sub;
  };
  CLI::App* made = add("create", "Make one and print it, once", create);
  made->add_option("--role", options->role, "view, submit or operate")->required()->type_name("ROLE");
  made->add_option("--name", options->name, "by which it is listed and revoked")->required()->type_name("NAME");
  made->add_option("--user", options->user,
                   "whose jobs it sees and queues (default: yours; of a view token nobody's)")
      ->type_name("USER");
  add("list", "Those there are", list);
  add("revoke", "Refuse it from now on", revoke)
      ->add_option("name", options->name, "of the token")
      ->required()
      ->type_name("NAME");
}

}  // namespace tandem::cli
