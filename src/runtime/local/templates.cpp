#include "runtime/local/templates.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "platform/process_tree.h"
#include "runtime/local/leftovers.h"

namespace tandem::local {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr int kMostTemplates = 3;  // of a kind: one whose files change again and again starts cold
constexpr Seconds kForkWithin{2};
constexpr const char* kSocketVariable = "TANDEM_TEMPLATE";
// libraries that count threads when they are loaded start them then, and a process with threads cannot be forked.
constexpr std::array kThreadVariables = {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS"};

// What differs from one start of a program to the next, and is not read by what it imports.
bool is_of_one_start(const std::string& variable) {
  return variable.starts_with("TANDEM_") || variable == "OMP_NUM_THREADS" || variable == "OMP_WAIT_POLICY";
}

bool is_interpreter(const std::string& word) {
  const std::string name = fs::path(word).filename().string();
  if (!name.starts_with("python")) return false;
  return name.find_first_not_of("0123456789.", 6) == std::string::npos;
}

std::string text_of(const json& value) {
  return value.dump();  // throws where a text is not UTF-8
}

}  // namespace

std::optional<PythonScript> python_script(const std::vector<std::string>& command) {
  if (command.empty() || !is_interpreter(command.front())) return std::nullopt;
  PythonScript out{{command.front()}, "", {}};
  static const std::set<std::string> kAlone{"-u", "-O", "-OO", "-B"}, kWithValue{"-W", "-X"};
  std::size_t at = 1;
  for (; at < command.size() && command[at].starts_with("-"); ++at) {
    out.interpreter.push_back(command[at]);
    if (kAlone.contains(command[at])) continue;
    if (!kWithValue.contains(command[at]) || ++at >= command.size()) return std::nullopt;
    out.interpreter.push_back(command[at]);
  }
  if (at >= command.size() || fs::path(command[at]).extension() != ".py") return std::nullopt;
  out.script = command[at];
  out.arguments.assign(command.begin() + static_cast<std::ptrdiff_t>(at) + 1, command.end());
  return out;
}

Templates::Templates(TemplateOptions options) : options_(std::move(options)) {}

Templates::~Templates() {
  for (auto& [kind, known] : known_) end(known);
}

std::string Templates::kind_of(const platform::Launch& launch, const spec::Program& program) {
  const auto script = python_script(launch.arguments);
  const bool off = program.preload == std::vector<std::string>{"off"};
  // Elsewhere its template would have to be somebody else's, or kept from what it reads.
  if (options_.keeper.empty() || off || !script || launch.as || launch.sandbox || launch.inherited < 0) return "";
  json environment = json::object();
  for (const auto& [name, value] : platform::environment_of(launch))
    if (!is_of_one_start(name)) environment[name] = value;
  std::string kind;
  try {
    kind = text_of({script->interpreter, script->script, launch.folder, environment, program.preload,
                    launch.umask ? json(*launch.umask) : json(nullptr)});
    text_of(launch.arguments);
  } catch (const json::exception&) {
    return "";
  }
  auto [found, is_new] = known_.try_emplace(kind);
  Known& known = found->second;
  if (is_new) {
    known.script = *script;
    known.example = launch;
    if (program.preload != std::vector<std::string>{"auto"}) known.modules = program.preload;
  }
  return kind;
}

bool Templates::wants_to_learn(const std::string& kind) const {
  const auto found = known_.find(kind);
  return found != known_.end() && found->second.loaded.empty() && found->second.why_cold.empty();
}

void Templates::learned(const std::string& kind, const std::string& loaded) {
  const auto found = known_.find(kind);
  if (found == known_.end() || !found->second.loaded.empty()) return;
  Known& known = found->second;
  known.loaded = loaded;
  const json said = parse_json(loaded);
  const auto folder = said.find("folder"), modules = said.find("modules");
  const bool sound = folder != said.end() && folder->is_string() && modules != said.end() && modules->is_array();
  if (!sound)
    known.why_cold = "its SDK is of another version";
  else if (known.modules.empty() && modules->empty())
    known.why_cold = "it imports nothing but what comes with Python";
  else
    begin(known);
}

std::string Templates::news_of(const std::string& kind) {
  const auto found = known_.find(kind);
  if (found == known_.end() || found->second.why_cold.empty()) return "";
  return std::exchange(found->second.said, true) ? "" : found->second.why_cold;
}

// ---- templates ----

void Templates::begin(Known& known) {
  if (++known.begun > kMostTemplates) {
    known.why_cold = fmt::format("{} templates of it ended, or found what they import changed", kMostTemplates);
    return;
  }
  try {
    launch(known);
  } catch (const std::exception& error) {  // programs start without
    known.why_cold = fmt::format("its template cannot be started: {}", error.what());
    end(known);
  }
}

// It tells of itself when it is ready, and nobody waits for it.
void Templates::launch(Known& known) {
  json wanted = parse_json(known.loaded);
  const fs::path program = fs::path(wanted.at("folder").get<std::string>()) / "_preload.py";
  if (!known.modules.empty()) {
    // Whoever names them says that it is safe.
    wanted["environment"] = nullptr;
    wanted["modules"] = json::array();
    for (const auto& name : known.modules) wanted["modules"].push_back({name, nullptr});
  }
  wanted["script"] = known.script.script;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_errno("making a socket");
  known.socket.reset(ends[0]);
  const platform::Descriptor theirs(ends[1]), null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  platform::Launch launch = known.example;
  launch.arguments = known.script.interpreter;
  launch.arguments.push_back(program.string());
  std::erase_if(launch.environment, [](const auto& variable) { return variable.first.starts_with("TANDEM_"); });
  for (const char* variable : kThreadVariables) launch.environment[variable] = "1";
  launch.environment[kSocketVariable] = std::to_string(theirs.get());
  known.record = fmt::format("template-{}", ++begun_);
  launch.mark = options_.run + "-" + known.record;
  launch.inherited = theirs.get();
  launch.output = null.get();
  launch.errors = -1;
  launch.cpus = options_.cpus;
  launch.data_limit = 0;
  launch.kept = false;  // what it forks has keepers that are our children
  launch.tag = 0;       // each of those gets its own, which may be greater
  const fs::path file = options_.folder / (known.record + ".json");
  {
    std::ofstream out(file);
    out << text_of(wanted) << std::flush;
    if (!out) throw_errno("writing " + file.string());
  }
  known.heard.clear();
  known.ready = false;
  remember_process(options_.folder, known.record, launch.mark, 0, {}, {});
  known.process = platform::launch(launch);
  remember_process(options_.folder, known.record, launch.mark, 0, {}, *known.process);
  const std::string line = text_of({{"wanted", file.string()}}) + "\n";
  const bool told = ::send(known.socket.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
                    static_cast<ssize_t>(line.size());
  if (const int error = platform::open_gate(*known.process); error || !told)
    throw SystemError("its interpreter", error);
}

void Templates::listen(Known& known) {
  std::array<char, 4096> bytes;
  ssize_t got;
  while ((got = ::recv(known.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0)
    known.heard.append(bytes.data(), static_cast<std::size_t>(got));
  if (const auto newline = known.heard.find('\n'); newline != std::string::npos) {
    const json said = parse_json(known.heard.substr(0, newline));
    known.heard.erase(0, newline + 1);
    if (said.is_object() && said.value("ready", json()) == true) {
      known.ready = true;
      return;
    }
    const json why = said.is_object() ? said.value("refused", json()) : json();
    // Once it was ready, it refuses for what has changed: another may do.
    if (!known.ready) known.why_cold = why.is_string() ? why.get<std::string>() : "its template says nonsense";
    end(known);
  } else if (got == 0) {
    end(known);  // it was killed, or came to grief: a new one may do
  }
}

std::optional<platform::Child> Templates::fork(const std::string& kind, const platform::Launch& launch) {
  const auto found = known_.find(kind);
  if (found == known_.end() || found->second.loaded.empty() || !found->second.why_cold.empty()) return std::nullopt;
  Known& known = found->second;
  try {
    if (known.process) listen(known);
    if (!known.process && known.why_cold.empty()) begin(known);
    if (!known.process || !known.ready) return std::nullopt;
    const auto script = python_script(launch.arguments);
    const json request{{"script", script->script},
                       {"arguments", script->arguments},
                       {"interpreter", script->interpreter},
                       {"environment", platform::environment_of(launch)},
                       {"cpus", launch.cpus},
                       {"keeper", options_.keeper.string()}};
    std::string why;
    auto child = platform::fork_from(known.socket.get(), text_of(request) + "\n", launch, kForkWithin, why);
    if (!child) {
      listen(known);  // it may say why
      if (known.process) end(known);
    }
    return child;
  } catch (const json::exception&) {  // a variable that is not UTF-8
    return std::nullopt;
  } catch (const SystemError&) {
    end(known);
    return std::nullopt;
  }
}

void Templates::end(Known& known) {
  known.ready = false;
  if (known.process) {
    // Before it sees that its socket is closed: with it ends what its imports have started.
    platform::end_all({known.process->pid});
    ::kill(-known.process->pid, SIGKILL);
    platform::reap(*known.process);
  }
  known.socket.reset();
  if (!known.process) return;
  known.process.reset();
  forget_process(options_.folder, known.record);
  std::error_code ignored;
  fs::remove(options_.folder / (known.record + ".json"), ignored);
}

}  // namespace tandem::local
