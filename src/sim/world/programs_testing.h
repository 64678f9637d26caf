// The test program tests/programs/speaker, simulated: takes the same command and the options a test of a
// world needs.
//   speaker [--sleep-ms N] [--no-checkpoints] [--silent] [--startup-ms N]
//           [--crash-at E] [--kill-at E] [--hang-at E] [--nan-at E] [--exit-at E] [--eat BYTES]
// Any other command is a program that is not there.
#pragma once

#include <cstdlib>
#include <limits>
#include <map>
#include <string>

#include "sim/world/programs.h"

namespace tandem::sim {

class Speaker final : public Programs {
 public:
  ProgramStart start(const ProgramRun& run) override {
    ProgramStart start{
        .startup = {milliseconds(run, "--startup-ms", 10)}, .checkpoint = {0.002}, .ending = {0.001}};
    start.keeps_checkpoints = !options(run).contains("--no-checkpoints");
    const auto& command = run.spec.program.command;
    if (command.empty() || command.front() != "speaker")
      start.cannot_start = (command.empty() ? "?" : command.front()) + ": No such file or directory";
    return start;
  }

  ProgramEpoch epoch(const ProgramRun& run, std::int64_t number, bool) override {
    ProgramEpoch epoch{.seconds = {milliseconds(run, "--sleep-ms", 10)}};
    epoch.metrics["value"] = static_cast<double>(number);
    if (options(run).contains("--eat")) epoch.memory = whole(run, "--eat");
    const auto now_is = [&](const char* name) {
      return options(run).contains(name) && whole(run, name) == number;
    };
    if (now_is("--hang-at")) epoch.seconds.value = std::numeric_limits<double>::infinity();
    if (now_is("--nan-at")) epoch.metrics["loss"] = std::numeric_limits<double>::quiet_NaN();
    if (now_is("--exit-at") || options(run).contains("--silent")) epoch.then = ProgramEpoch::Then::exits;
    if (now_is("--crash-at")) fail(epoch, Failure::crashed, "exit status 7");
    if (now_is("--kill-at")) fail(epoch, Failure::killed, "ended by signal 9 (Killed)");
    return epoch;
  }

 private:
  static void fail(ProgramEpoch& epoch, Failure failure, const char* detail) {
    epoch.then = ProgramEpoch::Then::fails;
    epoch.failure = failure;
    epoch.detail = detail;
  }

  static std::map<std::string, std::string> options(const ProgramRun& run) {
    std::map<std::string, std::string> out;
    const auto& command = run.spec.program.command;
    for (std::size_t i = 1; i < command.size(); ++i) {
      const bool has_value = i + 1 < command.size() && command[i + 1].rfind("--", 0) != 0;
      out[command[i]] = has_value ? command[i + 1] : "";
      if (has_value) ++i;
    }
    return out;
  }
  static std::int64_t whole(const ProgramRun& run, const char* name) {
    return std::atoll(options(run)[name].c_str());
  }
  static double milliseconds(const ProgramRun& run, const char* name, double otherwise) {
    return (options(run).contains(name) ? static_cast<double>(whole(run, name)) : otherwise) / 1000;
  }
};

}  // namespace tandem::sim
