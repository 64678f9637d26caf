// For tests: a /proc whose processes the test invents.
#pragma once

#include <unistd.h>

#include <string>

#include "platform/fake_tree.h"

namespace tandem::measure {

struct FakeProc : platform::FakeTree {
  struct Process {
    std::int64_t pid = 0, parent = 1, group = 0;
    double cpu = 0, children_cpu = 0;  // seconds
    std::int64_t started = 1000;
    char state = 'R';
    std::int64_t faults = 0, pages = 10, switches = 0, read_calls = 0;
  };

  static std::string ticks(double seconds) {
    return std::to_string(static_cast<long>(seconds * static_cast<double>(sysconf(_SC_CLK_TCK)) + 0.5));
  }
  void process(const Process& p) const {
    const std::string pid = std::to_string(p.pid);
    write(pid + "/stat", pid + " (fake) " + p.state + " " + std::to_string(p.parent) + " " +
                             std::to_string(p.group) + " 1 0 -1 0 " + std::to_string(p.faults) + " 0 0 0 " +
                             ticks(p.cpu) + " 0 " + ticks(p.children_cpu) + " 0 20 0 1 0 " +
                             std::to_string(p.started) + " 0 " + std::to_string(p.pages) + " 0\n");
    write(pid + "/task/" + pid + "/status",
          "voluntary_ctxt_switches:\t" + std::to_string(p.switches) + "\nnonvoluntary_ctxt_switches:\t0\n");
    write(pid + "/io", "rchar: 0\nwchar: 0\nsyscr: " + std::to_string(p.read_calls) +
                           "\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\n");
  }
  void end(std::int64_t pid) const { remove(std::to_string(pid)); }
  void busy(double seconds) const { write("stat", "cpu " + ticks(seconds) + " 0 0 0 0 0 0\n"); }
};

}  // namespace tandem::measure
