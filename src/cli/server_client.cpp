#include "cli/server_client.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/json.h"
#include "platform/listening_user.h"
#include "report/sim_table.h"
#include "server/api.h"
#include "server/daemon.h"

namespace tandem::cli {

using nlohmann::json;

void ServerOption::add_to(CLI::App& command) {
  store.add_to(command);
  command.add_option("--server", address, "where it listens, such as 127.0.0.1:8470 (default: its socket)")
      ->type_name("ADDRESS");
  command
      .add_option("--token", token, "file with a token, mode 0600 (default over TCP: the store's serve-token)")
      ->type_name("FILE");
  command.add_option("--name", name, "of the server")->capture_default_str();
}

ServerClient::ServerClient(const ServerOption& option) : store_(option.store.open()), http_(address(option)) {
  if (!option.token.empty())
    http_.show_token(server::Token::load(option.token));
  else if (const auto to = address(option); !to.is_unix()) {
    // Whoever came first has the port: the store's token is shown to a server of this user alone.
    if (platform::listening_user(to.port) != ::geteuid())
      throw UserError(fmt::format("nothing that is yours listens at {}: the store's token is not shown there. Leave "
                                  "--server out to use the server's socket, or give --token FILE",
                                  option.address));
    http_.show_token(server::Token::load(server::token_file(store_)));
  }
}

server::Address ServerClient::address(const ServerOption& option) const {
  if (!option.address.empty()) return server::parse_address(option.address);
  const auto socket = server::socket_file(store_, option.name);
  if (!std::filesystem::exists(socket))
    throw UserError(fmt::format("no server called '{}' is running with this store; start one with `{} serve`",
                                option.name, own_command()));
  return server::parse_address("unix:" + socket.string());
}

namespace {

// What was refused is a UserError, with the server's words.
std::string body_of(const server::Answer& answer) {
  if (answer.status < 300) return answer.body;
  if (answer.status < 500) throw UserError(server::error_text(answer));
  throw SystemError("the server has a problem: " + server::error_text(answer));
}

}  // namespace

json ServerClient::ask(const std::string& method, const std::string& target, const std::string& body) {
  auto out = parse_json(text(method, target, body));
  if (out.is_discarded()) throw SystemError("the server answered something that is no JSON");
  return out;
}

// Told to wait (429), it does, for a while.
std::string ServerClient::text(const std::string& method, const std::string& target,
                               const std::string& body) {
  for (int left = 30;; --left) {
    const auto answer = http_.ask(method, target, body);
    if (answer.status != 429 || left == 0) return body_of(answer);
    ::usleep(1'000'000);
  }
}

json ServerClient::submit(const std::string& spec, const std::string& folder, const std::string& file,
                          std::string* unmet) {
  const json body{{"spec", spec}, {"folder", folder}, {"file", file}};
  const auto answer =
      http_.post_once("/v1/jobs", body.dump(-1, ' ', false, json::error_handler_t::replace));
  if (unmet && answer.status == server::kUnmet) {
    *unmet = server::error_text(answer);
    return nullptr;
  }
  return parse_json(body_of(answer));
}

json ServerClient::wait_for(int job) {
  for (;; ::usleep(200'000))
    if (auto now = ask("GET", job_target(std::to_string(job))); !now["ended"].is_null()) return now;
}

std::string job_target(const std::string& job, const char* rest) {
  return "/v1/jobs/" + server::percent_encoded(job) + rest;
}

}  // namespace tandem::cli
