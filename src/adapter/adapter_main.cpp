// tandem-adapter: runs a program that knows nothing of Tandem (docs/programs.md).
//
//     tandem-adapter '{"command": ["python3", "train.py", "--lr", "{lr}"], "placeholders": true, "metrics":
//     {...}}'
//
// It fills placeholders from the environment that Tandem gave it and writes the parameter file. Where metrics
// are to be read it stays the program's parent: passes its output on, reports each epoch it finds there or in
// a file, and holds the program (SIGSTOP) until the report is answered, as a program with SDK waits. Told to
// stop, it ends the program: SIGTERM, then SIGKILL. Otherwise it becomes the program. It belongs to the task:
// its user, its limits, its sandbox; what a program prints is read here and nowhere else.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "adapter/filled.h"
#include "adapter/followed.h"
#include "adapter/metrics.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "platform/descriptor.h"
#include "protocol/client.h"

extern char** environ;

namespace tandem::adapter {
namespace {

using platform::Descriptor;
using Clock = std::chrono::steady_clock;

constexpr int kLookMs = 100;                      // at a file, for more
constexpr int kMostAtEnd = 64;                    // reads: a process that it left behind may go on printing
constexpr auto kGrace = std::chrono::seconds(5);  // from SIGTERM to SIGKILL
constexpr std::size_t kMostMetrics = 256, kLongestName = 128;  // docs/protocol.md

volatile sig_atomic_t program_pid = 0;

void end_program(int) {
  if (program_pid <= 0) return;
  ::kill(-program_pid, SIGTERM);
  ::kill(-program_pid, SIGCONT);
}

std::map<std::string, std::string> variables() {
  std::map<std::string, std::string> out;
  for (char** each = environ; *each != nullptr; ++each)
    if (const char* equals = std::strchr(*each, '=');
        equals != nullptr && std::strncmp(*each, "TANDEM_", 7) == 0)
      out.emplace(std::string(*each, static_cast<std::size_t>(equals - *each)), equals + 1);
  return out;
}

[[noreturn]] void become(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const auto& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  if (!command.empty()) ::execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "tandem: cannot start '%s': %s\n", command.empty() ? "" : command[0].c_str(),
               std::strerror(errno));
  ::_exit(errno == ENOENT ? 127 : 126);
}

// What the protocol takes.
Metrics fitting(const Metrics& read) {
  Metrics out;
  for (const auto& [name, value] : read) {
    const bool plain =
        std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (plain && printable(name) == name && !name.empty() && name.size() <= kLongestName && out.size() < kMostMetrics)
      out.emplace(name, value);
  }
  return out;
}

class Adapter {
 public:
  Adapter(const spec::Program& program, const Given& given) : client_(protocol::Client::connect()) {
    const std::string format = format_of(program);
    const auto make = [&program, format] { return metrics_reader(program, format); };
    if (format.empty())
      output_ = make();
    else
      file_.emplace(filled(program.metrics_file, given), make);
  }

  int run(const std::vector<std::string>& command) {
    start(command);
    for (; !exited(); wait()) look();
    for (int more = kMostAtEnd; more > 0 && pass_on();) --more;
    int status = 0;
    ::waitpid(program_, &status, 0);
    if (file_)
      while (file_->turn()) {
      }
    const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (well && output_) output_->end();
    if (well && file_) file_->end();
    report_all();
    if (reported_ == 0 && !stopping_)
      std::fprintf(stderr,
                   "tandem: no epoch was found in what the program %s (program.metrics in its spec)\n",
                   file_ ? "wrote to its metrics file" : "printed");
    if (stopping_) return 0;
    if (WIFSIGNALED(status)) {
      std::signal(WTERMSIG(status), SIG_DFL);
      ::raise(WTERMSIG(status));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }

 private:
  void start(const std::vector<std::string>& command) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("making a pipe");
    pipe_.reset(ends[0]);
    Descriptor theirs(ends[1]);
    ::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
    const pid_t own = ::getpid();
    program_ = ::fork();
    if (program_ < 0) throw_errno("starting the program");
    if (program_ == 0) {
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != own) ::_exit(1);
      ::dup2(theirs.get(), STDOUT_FILENO);
      ::dup2(theirs.get(), STDERR_FILENO);
      ::unsetenv("TANDEM_SOCKET");           // this process reports
      ::setenv("PYTHONUNBUFFERED", "1", 0);  // a line is read when it is printed, not a page later
      become(command);
    }
    ::setpgid(program_, program_);
    program_pid = program_;
    for (const int each : {SIGTERM, SIGINT, SIGHUP}) std::signal(each, end_program);
    ended_.reset(static_cast<int>(::syscall(SYS_pidfd_open, program_, 0)));
    if (!ended_) throw_errno("watching the program");
  }

  bool exited() const {
    siginfo_t about{};
    return ::waitid(P_PID, static_cast<id_t>(program_), &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           about.si_pid != 0;
  }

  void look() {
    while (pass_on()) report_all();
    if (file_) file_->turn();
    report_all();
    if (stopping_ && Clock::now() > *stopping_ + kGrace) ::kill(-program_, SIGKILL);
  }

  void wait() {
    std::array<pollfd, 2> watched{{{ended_.get(), POLLIN, 0}, {pipe_ ? pipe_.get() : -1, POLLIN, 0}}};
    ::poll(watched.data(), watched.size(), file_ || stopping_ ? kLookMs : -1);
  }

  // Of its output, to ours; true: there may be more at once.
  bool pass_on() {
    if (!pipe_) return false;
    std::array<char, 1 << 14> bytes;
    const ssize_t got = ::read(pipe_.get(), bytes.data(), bytes.size());
    if (got < 0) return errno == EINTR;
    if (got == 0) {
      pipe_.reset();
      return false;
    }
    const std::string_view text(bytes.data(), static_cast<std::size_t>(got));
    for (std::string_view rest = text; !rest.empty();) {
      const ssize_t done = ::write(STDOUT_FILENO, rest.data(), rest.size());
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) break;  // nobody listens any more
      rest.remove_prefix(static_cast<std::size_t>(done));
    }
    if (output_) output_->feed(text);
    return true;
  }

  std::optional<Metrics> next() { return file_ ? file_->take() : output_->take(); }

  void report_all() {
    while (!stopping_) {
      const auto read = next();
      if (!read) return;
      const Metrics metrics = fitting(*read);
      if (metrics.empty()) continue;
      ++reported_;
      if (!client_) continue;
      ::kill(-program_, SIGSTOP);
      const bool stop = client_->report({.number = {}, .metrics = metrics}).stop;
      if (stop) {
        stopping_ = Clock::now();
        ::kill(-program_, SIGTERM);
      }
      ::kill(-program_, SIGCONT);
    }
  }

  std::optional<protocol::Client> client_;
  std::unique_ptr<MetricsReader> output_;
  std::optional<Followed> file_;
  pid_t program_ = -1;
  Descriptor pipe_, ended_;
  std::int64_t reported_ = 0;
  std::optional<Clock::time_point> stopping_;
};

int adapter_main(int count, char** arguments) {
  if (count != 2)
    throw UserError("tandem-adapter is started by Tandem, with one argument (docs/programs.md)");
  const auto program = spec::program_from_json(parse_json(arguments[1]));
  auto all = given(program, variables());
  const auto command = program.placeholders ? filled(program.command, all) : program.command;
  if (wants_file(program)) {
    const std::string path = all.own.at("file"), part = path + ".part";
    std::ofstream file(part);
    file << parameter_file(all.hyper, program.parameter_file);
    file.close();
    std::error_code error;
    std::filesystem::rename(part, path, error);
    if (!file || error) throw SystemError("cannot write " + path);
  }
  if (!program.reads_metrics()) become(command);
  return Adapter(program, all).run(command);
}

}  // namespace
}  // namespace tandem::adapter

int main(int count, char** arguments) {
  try {
    return tandem::adapter::adapter_main(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tandem: %s\n", error.what());
    return 1;
  }
}
