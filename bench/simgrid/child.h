// Runs something in a process of its own and brings its numbers back: SimGrid is a singleton that cannot be
// started twice, and both simulators then begin with an equally fresh heap.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"

namespace tandem::bench {

// `work` returns a vector<double>. SystemError when the child ends before it has said everything.
template <class Work>
std::vector<double> in_child(const std::string& what, const Work& work) {
  int ends[2];
  if (pipe(ends) != 0) throw_errno(what + ": making a pipe");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw_errno(what + ": starting a process");
  if (child == 0) {
    const std::vector<double> numbers = work();
    const char* from = reinterpret_cast<const char*>(numbers.data());
    for (std::size_t left = numbers.size() * sizeof(double); left > 0;) {
      const ssize_t written = write(ends[1], from, left);
      if (written <= 0) _exit(1);
      from += written, left -= static_cast<std::size_t>(written);
    }
    _exit(0);  // nothing is taken down: only the numbers matter
  }
  close(ends[1]);
  std::string bytes;
  char buffer[65536];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    bytes.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) throw SystemError(what + ": its process ended with status " + std::to_string(status));
  std::vector<double> numbers(bytes.size() / sizeof(double));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(double));
  return numbers;
}

}  // namespace tandem::bench
