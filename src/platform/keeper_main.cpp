// tandem-keeper: ends all that a program leaves behind, and the program too when Tandem is gone.
//
// A program that Tandem starts has its keeper by fork (platform/process_tree.h). One that a template forks
// (python/tandem/_preload.py) has it from the process that forked it, which becomes this program: it is the program's
// parent, Tandem's child, a subreaper, the leader of its session, and has all signals blocked.
#include <cstdio>
#include <cstdlib>

#include <sys/wait.h>

#include "platform/process_tree.h"

int main(int count, char** words) {
  const pid_t program = count == 2 ? std::atoi(words[1]) : 0;
  siginfo_t seen{};
  if (program <= 0 || ::waitid(P_PID, static_cast<id_t>(program), &seen, WEXITED | WNOHANG | WNOWAIT) != 0) {
    std::fputs("tandem-keeper ends what a program leaves behind. Tandem starts it itself.\n", stderr);
    return 2;
  }
  tandem::platform::keep(program);
}
