#include "runtime/local/attempt.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace tandem::local {
namespace {

constexpr off_t kTailBytes = 4096;
constexpr std::size_t kTailLines = 12;
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

}  // namespace

Numbered number_report(const Attempted& a, const protocol::Epoch& report) {
  const std::int64_t next = a.last_epoch + 1;
  if (!report.number || *report.number == next) return {next, ""};
  // A program that keeps its own state without saying hello may go on where the last attempt ended.
  if (a.first_report && *report.number == a.counted_before + 1) return {*report.number, ""};
  return {0, fmt::format("it reported epoch {}, but epoch {} is next", *report.number, next)};
}

Ending judge(const Attempted& a, int code, int status, std::int64_t oom_kills) {
  if (a.verdict) return {false, a.verdict->first, a.verdict->second};
  if (a.told_to_stop) return {true};
  if (oom_kills > 0 && !(code == CLD_EXITED && status == 0))
    return {false, Failure::out_of_memory,
            fmt::format(
                "it needed more than its memory limit of {}; raise system.memory, or make batches smaller",
                text_bytes(a.granted.memory))};
  if (code != CLD_EXITED)
    return {false, Failure::killed, fmt::format("ended by signal {} ({})", status, ::strsignal(status))};
  if (status != 0) return {false, Failure::crashed, fmt::format("exit status {}", status)};
  if (!a.plain && std::max(a.last_epoch, a.counted_before) == 0)
    return {false, Failure::silent,
            "it exited without having reported an epoch; does it call tandem.report() or `tandem tell`?"};
  return {true};
}

Moment after(Seconds span) {
  using std::chrono::steady_clock;
  return steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                   std::chrono::duration<double>(std::min(span.value, 1e8)));
}

std::map<std::string, std::string> environment_for(const Attempted& a) {
  const auto& begin = a.begin;
  std::map<std::string, std::string> out{
      {"TANDEM_FOLDER", begin.folder},
      {"TANDEM_HYPER", to_json(begin.hyper).dump()},
      {"TANDEM_CORES", std::to_string(a.granted.cores)},
      {"TANDEM_MEMORY", std::to_string(a.granted.memory)},
      {"TANDEM_SPEED", fmt::format("{}", a.granted.speed)},
      {"TANDEM_EPOCHS", std::to_string(begin.epochs)},
      {"TANDEM_REPORTED", std::to_string(a.counted_before)},
      {"TANDEM_SEED", std::to_string(begin.seed)},
      {"TANDEM_ATTEMPT", std::to_string(begin.attempt)},
      {"TANDEM_DROP", fmt::format("{}", begin.drop)},
  };
  for (const auto& [hyper, value] : begin.hyper) out[variable_name(hyper)] = text(value);
  if (!::getenv("OMP_NUM_THREADS")) out["OMP_NUM_THREADS"] = std::to_string(a.granted.cores);
  if (!::getenv("OMP_WAIT_POLICY") && !::getenv("GOMP_SPINCOUNT")) out["GOMP_SPINCOUNT"] = kSpins;
  // OpenBLAS's pthread build fights OpenMP; where both are installed it would win by default.
  if (!::getenv("LD_LIBRARY_PATH") && std::filesystem::exists(kOpenMpBlas))
    out["LD_LIBRARY_PATH"] = kOpenMpBlas;
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

void copy_checkpoints(const std::filesystem::path& from_task, const std::filesystem::path& to_task) {
  namespace fs = std::filesystem;
  if (fs::exists(to_task) || !fs::exists(from_task)) return;
  const fs::path beside = to_task.string() + ".new";
  fs::remove_all(beside);
  fs::copy(from_task, beside, fs::copy_options::recursive);
  fs::rename(beside, to_task);
}

std::string tail_of(const std::string& output_file, off_t from) {
  platform::Descriptor file(::open(output_file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return "";
  const off_t end = ::lseek(file.get(), 0, SEEK_END);
  const off_t start = std::max(from, end - kTailBytes);
  if (end <= start) return "";
  std::string raw(static_cast<std::size_t>(end - start), '\0');
  const ssize_t got = ::pread(file.get(), raw.data(), raw.size(), start);
  raw.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!raw.empty() && raw.back() == '\n') raw.pop_back();
  std::size_t lines = 0, cut = raw.size();
  while (cut > 0 && lines < kTailLines) {
    cut = raw.rfind('\n', cut - 1);
    if (cut == std::string::npos) {
      cut = 0;
      break;
    }
    ++lines;
  }
  return printable(std::string_view(raw).substr(cut > 0 ? cut + 1 : 0));
}

}  // namespace tandem::local
