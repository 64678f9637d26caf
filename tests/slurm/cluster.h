// A real Slurm cluster on loopback for the C++ tests: one a process, started by tests/slurm/cluster.py, gone
// with it.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>

namespace tandem::slurm {

class TestCluster {
 public:
  // Starts it at the first call; SLURM_CONF then names it.
  static TestCluster& instance() {
    static TestCluster cluster;
    return cluster;
  }
  TestCluster(const TestCluster&) = delete;
  ~TestCluster() {
    if (pid_ <= 0) return;
    ::close(hold_);  // the end of its input is the end of the cluster
    ::waitpid(pid_, nullptr, 0);
    ::unsetenv("SLURM_CONF");
  }
  // Why there is none; empty: there is one.
  const std::string& missing() const { return missing_; }

 private:
  TestCluster() {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
      missing_ = "no pipes";
      return;
    }
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::execl("/usr/bin/python3", "python3", "-B", SLURM_CLUSTER, "hold", nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    hold_ = in[1];
    std::string said;
    std::array<char, 512> bytes;
    ssize_t got;
    while (said.find('\n') == std::string::npos && (got = ::read(out[0], bytes.data(), bytes.size())) > 0)
      said.append(bytes.data(), static_cast<std::size_t>(got));
    ::close(out[0]);
    const auto about = nlohmann::json::parse(said, nullptr, false);
    if (about.is_object() && about.contains("conf"))
      ::setenv("SLURM_CONF", about["conf"].get<std::string>().c_str(), 1);
    else
      missing_ = said.empty() ? "the test cluster did not start" : said;
  }

  pid_t pid_ = -1;
  int hold_ = -1;
  std::string missing_;
};

}  // namespace tandem::slurm
