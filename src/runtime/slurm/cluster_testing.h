// A real Slurm cluster on loopback for the C++ tests: one a process, started by tests/slurm/cluster.py, gone
// with it.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
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
    ::close(say_);
    ::close(hold_);  // the end of its input is the end of the cluster
    ::waitpid(pid_, nullptr, 0);
    ::unsetenv("SLURM_CONF");
  }
  // "stop slurmctld", "kill_node n0", "start n0": returns when it is done.
  void order(const std::string& words) {
    const std::string line = words + "\n";
    if (::write(hold_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return;
    read_line();
  }
  // Why there can be none here; empty: there is one. Throws when there should be one and it did not start.
  const std::string& missing() const {
    if (!broken_.empty()) throw std::runtime_error(broken_);
    return missing_;
  }

 private:
  TestCluster() {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
      broken_ = "no pipes";
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
    say_ = out[0];
    const std::string said = read_line();
    const auto about = nlohmann::json::parse(said, nullptr, false);
    if (about.is_object() && about.contains("conf"))
      ::setenv("SLURM_CONF", about["conf"].get<std::string>().c_str(), 1);
    else if (said.starts_with("skipped:"))
      missing_ = said;
    else
      broken_ = "the Slurm cluster for tests did not start; what it said is above: " + said;
  }

  std::string read_line() {
    std::string line;
    char one = 0;
    while (::read(say_, &one, 1) == 1 && one != '\n') line += one;
    return line;
  }

  pid_t pid_ = -1;
  int hold_ = -1, say_ = -1;
  std::string missing_, broken_;
};

}  // namespace tandem::slurm
