// A small program that speaks the protocol, for tests and benchmarks: well-behaved by default, badly on
// request.
//
// Each epoch stirs a 64-bit state by (seed, epoch), so that a lost, repeated or reordered epoch shows in the
// result. As a trial it has a hyperparameter x to be tuned, and `fault`: none, crash, kill, hang or nan.
//   speaker [--sleep-ms N] [--no-checkpoints] [--no-hello] [--report-past-the-end]
//           [--crash-at E] [--kill-at E] [--hang-at E] [--nan-at E] [--garbage-at E] [--skip-at E] [--exit-at
//           E]
//           [--precision (says it can change it)] [--progress (four times an epoch)]
//           [--record (in its folder: "did EPOCH ATTEMPT" halfway through an epoch's sleep, as a side effect,
//           and "acknowledged EPOCH ATTEMPT" when its report was answered)]
//           [--silent] [--eat BYTES-at-epoch-1] [--fork] [--escape] [--deaf] [--say TEXT] [--crash-rank R]
// In a gang rank 0 does all that; the others write down what they were told, and wait for its end.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "protocol/client.h"

using namespace tandem;

namespace {

std::map<std::string, std::string> options;

bool is(const char* name) {
  return options.contains(name);
}
bool now_is(const char* name, std::int64_t epoch) {
  return is(name) && std::atoll(options[name].c_str()) == epoch;
}

struct State {
  std::int64_t epoch = 0;
  std::uint64_t stirred = 0;
};

std::string file(const char* name) {
  return std::string(std::getenv("TANDEM_FOLDER")) + "/" + name;
}

State load() {
  State state;
  std::ifstream(file("state")) >> state.epoch >> state.stirred;
  return state;
}

void save(const State& state, const char* name) {
  const std::string beside = file(name) + ".new";
  const std::string text = std::to_string(state.epoch) + " " + std::to_string(state.stirred) + "\n";
  const int out = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (out < 0 || ::write(out, text.data(), text.size()) < 0 || ::fsync(out) != 0) std::_Exit(9);
  ::close(out);
  ::rename(beside.c_str(), file(name).c_str());
}

// In one call: a program that is killed has written the whole line or none of it.
void record(const char* what, std::int64_t epoch) {
  if (!is("--record")) return;
  const std::string line =
      std::string(what) + " " + std::to_string(epoch) + " " + std::getenv("TANDEM_ATTEMPT") + "\n";
  const int out = ::open(file("record").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (out < 0 || ::write(out, line.data(), line.size()) < 0) std::_Exit(9);
  ::close(out);
}

double metric_of(const State& state) {
  return static_cast<double>(state.stirred >> 11) * 0x1.0p-53;
}

void misbehave(std::int64_t epoch, int socket) {
  if (now_is("--crash-at", epoch)) {
    std::fprintf(stderr, "speaker: something broke\n");
    std::exit(7);
  }
  if (now_is("--exit-at", epoch)) std::exit(0);
  if (now_is("--kill-at", epoch)) ::raise(SIGKILL);
  if (now_is("--hang-at", epoch))
    while (true) ::pause();
  auto write_raw = [&](const char* line) {
    [[maybe_unused]] auto sent = ::send(socket, line, std::strlen(line), 0);
  };
  if (now_is("--garbage-at", epoch)) write_raw("!! this is not the protocol !!\n");
  if (now_is("--skip-at", epoch)) write_raw("{\"type\":\"epoch\",\"epoch\":99,\"metrics\":{}}\n");
  if (now_is("--garbage-at", epoch) || now_is("--skip-at", epoch))
    while (true) ::pause();
}

// What a tuner looks at, when there is a hyperparameter x: best near 0.3, and better with every epoch.
Metrics metrics_of(const State& state, const Values& hyper) {
  Metrics metrics{{"value", metric_of(state)}};
  if (const auto x = hyper.find("x"); x != hyper.end()) {
    const double off = as_number(x->second).value_or(0) - 0.3;
    metrics["accuracy"] = (1 - off * off) * (1 - 1.0 / static_cast<double>(1 + state.epoch));
  }
  if (is("--nan-at")) {
    metrics["loss"] = 1;
    if (now_is("--nan-at", state.epoch)) metrics["loss"] = std::numeric_limits<double>::quiet_NaN();
    if (now_is("--nan-at", state.epoch) && metrics.contains("accuracy"))
      metrics["accuracy"] = -std::numeric_limits<double>::infinity();
  }
  return metrics;
}

// A hyperparameter `fault` misbehaves in epoch 2 as the option of that name does.
void take_fault_from(const Values& hyper) {
  const auto fault = hyper.find("fault");
  if (fault != hyper.end() && text(fault->second) != "none")
    options["--" + text(fault->second) + "-at"] = "2";
}

void eat(std::int64_t bytes) {
  std::vector<std::vector<char>> eaten;
  for (std::int64_t sum = 0; sum < bytes; sum += 1 << 20) eaten.emplace_back(1 << 20, 'x');
}

void make_children() {
  if (!is("--fork") && !is("--escape")) return;
  if (::fork() != 0) return;
  if (is("--escape")) ::setsid();
  std::ofstream(file("child")) << ::getpid() << std::flush;
  while (true) ::pause();
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Rank 0 has come to its end, in this attempt.
std::string over() {
  return file(("over-" + variable("TANDEM_ATTEMPT")).c_str());
}

int follow(const std::string& rank) {
  {
    std::ofstream out(file(("rank-" + rank).c_str()));
    for (const char* name :
         {"RANK", "TANDEM_WORLD_SIZE", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"})
      out << variable(name) << ' ';
    out << variable("TANDEM_NODE") << std::endl;
  }
  if (is("--crash-rank") && options["--crash-rank"] == rank) return 7;
  while (::access(over().c_str(), F_OK) != 0) ::usleep(5000);
  return 0;
}

int speak();

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const bool has_value = i + 1 < argc && std::strncmp(argv[i + 1], "--", 2) != 0;
    options[argv[i]] = has_value ? argv[i + 1] : "";
    if (has_value) ++i;
  }
  const std::string rank = variable("TANDEM_RANK");
  if (!rank.empty() && rank != "0") return follow(rank);
  const int status = speak();
  if (!rank.empty()) std::ofstream{over()};
  return status;
}

namespace {

int speak() {
  if (is("--say")) std::printf("%s\n", options["--say"].c_str()), std::fflush(stdout);
  if (is("--silent")) return 0;
  if (is("--deaf")) ::signal(SIGTERM, SIG_IGN);
  auto client = protocol::Client::connect();
  if (!client) return 2;
  const int socket = std::atoi(std::getenv("TANDEM_SOCKET"));
  make_children();
  try {
    State state = is("--no-checkpoints") ? State{} : load();
    protocol::Begin begin;
    if (is("--no-hello")) {
      begin.epochs = std::atoll(std::getenv("TANDEM_EPOCHS"));
    } else {
      protocol::Hello hello;
      if (!is("--no-checkpoints")) hello.durable_epoch = state.epoch;
      if (is("--precision")) hello.can = {"precision"};
      begin = client->hello(hello);
    }
    take_fault_from(begin.hyper);
    // A checkpoint whose report was lost is reported now.
    if (!is("--no-checkpoints") && state.epoch > begin.reported) {
      const bool stop = client->report({state.epoch, metrics_of(state, begin.hyper)}).stop;
      record("acknowledged", state.epoch);
      if (stop) return 0;
    }
    for (std::int64_t epoch = state.epoch + 1; epoch <= begin.epochs || is("--report-past-the-end");
         ++epoch) {
      misbehave(epoch, socket);
      if (is("--eat") && epoch == 1) eat(std::atoll(options["--eat"].c_str()));
      const auto half = static_cast<useconds_t>(std::atoi(options["--sleep-ms"].c_str())) * 500;
      ::usleep(half);
      record("did", epoch);
      ::usleep(half);
      for (double share = 0.25; is("--progress") && share <= 1; share += 0.25) client->progress(share);
      state.stirred =
          Random(state.stirred ^ static_cast<std::uint64_t>(begin.seed), static_cast<std::uint64_t>(epoch))
              .bits();
      state.epoch = epoch;
      if (!is("--no-checkpoints")) save(state, "state");
      protocol::Epoch report{std::nullopt, metrics_of(state, begin.hyper)};
      if (!is("--no-hello")) report.number = epoch;
      const auto answer = client->report(report);
      record("acknowledged", epoch);
      if (answer.checkpoint) client->checkpointed(epoch);
      if (answer.system) std::printf("told: %d cores\n", answer.system->cores), std::fflush(stdout);
      if (answer.system && is("--precision"))
        std::printf("told: %s\n", name(answer.system->precision)), std::fflush(stdout);
      if (answer.stop) return 0;
    }
    save(state, "result");
  } catch (const protocol::Gone&) {
    return 1;
  }
  return 0;
}

}  // namespace
