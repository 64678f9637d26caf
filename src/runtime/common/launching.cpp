#include "runtime/common/launching.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "platform/descriptor.h"

namespace tandem::runtime {
namespace {

// How often libgomp's threads look for each other's work before they sleep. By itself it is 300 000 times,
// about a millisecond of a core each: as fast as this alone on the machine, but two teams of two threads on
// two cores were nine times slower, not two (LeNet5 on MNIST, an epoch: 3.9 s alone, 35.7 s; 12.2 s with
// this).
constexpr const char* kSpins = "10000";
constexpr const char* kOpenMpBlas = "/usr/lib/x86_64-linux-gnu/openblas-openmp";

std::string variable_name(const std::string& hyper) {
  std::string out = "TANDEM_HYPER_";
  for (char c : hyper)
    out += std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::toupper(c)) : '_';
  return out;
}

// Of a group: each of its own too, as a shell script cannot look into a map.
void add_members(const std::string& group, const nlohmann::json& map,
                 std::map<std::string, std::string>& out) {
  if (!map.is_object()) return;
  for (const auto& [name, held] : map.items()) {
    const std::string full = group + "." + name;
    if (const auto value = value_from_json(held)) out.emplace(variable_name(full), text(*value));
    add_members(full, held, out);
  }
}

}  // namespace

std::vector<std::string> command_of(const spec::Program& program, const std::string& trainer) {
  if (program.adapted()) return {"tandem-adapter", to_json(program).dump()};
  if (!program.built_in()) return program.command;
  return {trainer, "train", "--model", program.model, "--dataset", program.dataset};
}

std::optional<std::vector<std::string>> base_environment(const Separation& separation,
                                                         const std::optional<platform::Credentials>& as) {
  if (!as && !separation.without_secrets) return std::nullopt;
  if (!as) return platform::environment_without_secrets(separation.pass);
  auto out = platform::clean_environment(*as, separation.programs.string());
  if (const char* data = ::getenv("TANDEM_DATA")) out.push_back(std::string("TANDEM_DATA=") + data);
  return out;
}

bool is_set(const std::optional<std::vector<std::string>>& base, const std::string& name) {
  if (!base) return ::getenv(name.c_str()) != nullptr;
  return std::any_of(base->begin(), base->end(),
                     [&](const std::string& variable) { return variable.starts_with(name + "="); });
}

std::map<std::string, std::string> environment_for(const Conversation& talk,
                                                   const std::optional<std::vector<std::string>>& base) {
  const auto& begin = talk.begin;
  const auto& granted = begin.system;
  std::map<std::string, std::string> out{
      {"TANDEM_FOLDER", begin.folder},
      {"TANDEM_HYPER", to_json(begin.hyper).dump()},
      {"TANDEM_CORES", std::to_string(granted.cores)},
      {"TANDEM_MEMORY", std::to_string(granted.memory)},
      {"TANDEM_SPEED", fmt::format("{}", granted.speed)},
      {"TANDEM_EPOCHS", std::to_string(begin.epochs)},
      {"TANDEM_REPORTED", std::to_string(talk.counted_before)},
      {"TANDEM_SEED", std::to_string(begin.seed)},
      {"TANDEM_ATTEMPT", std::to_string(begin.attempt)},
      {"TANDEM_DROP", fmt::format("{}", begin.drop)},
  };
  for (const auto& [hyper, value] : begin.hyper) {
    out[variable_name(hyper)] = text(value);
    if (std::holds_alternative<Structure>(value)) add_members(hyper, to_json(value), out);
  }
  if (!is_set(base, "OMP_NUM_THREADS")) out["OMP_NUM_THREADS"] = std::to_string(granted.cores);
  if (!is_set(base, "OMP_WAIT_POLICY") && !is_set(base, "GOMP_SPINCOUNT")) out["GOMP_SPINCOUNT"] = kSpins;
  // OpenBLAS's pthread build fights OpenMP; where both are installed it would win by default.
  if (!is_set(base, "LD_LIBRARY_PATH") && std::filesystem::exists(kOpenMpBlas))
    out["LD_LIBRARY_PATH"] = kOpenMpBlas;
  if (granted.precision != Precision::own) out["TANDEM_PRECISION"] = name(granted.precision);
  return out;
}

std::map<std::string, std::string> gang_environment(std::size_t rank, std::size_t size,
                                                    const std::string& master, int port) {
  const std::string own = std::to_string(rank), all = std::to_string(size);
  return {{"TANDEM_RANK", own},
          {"TANDEM_WORLD_SIZE", all},
          {"RANK", own},
          {"WORLD_SIZE", all},
          {"LOCAL_RANK", "0"},
          {"MASTER_ADDR", master},
          {"MASTER_PORT", std::to_string(port)}};
}

int free_port(const char* address) {
  platform::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  if (address) ::inet_pton(AF_INET, address, &at.sin_addr);
  socklen_t size = sizeof(at);
  auto* generic = reinterpret_cast<sockaddr*>(&at);
  if (!socket || ::bind(socket.get(), generic, size) != 0 || ::getsockname(socket.get(), generic, &size) != 0)
    throw_errno("looking for a free port");
  return ntohs(at.sin_port);
}

}  // namespace tandem::runtime
