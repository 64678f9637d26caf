/* Preloaded into Tandem by tests: the wall clock stands as many seconds ahead as the file CLOCK_AHEAD says. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int result = (int)syscall(SYS_clock_gettime, clock, now);
  const char* name = getenv("CLOCK_AHEAD");
  if (result == 0 && clock == CLOCK_REALTIME && name) {
    long ahead = 0;
    FILE* file = fopen(name, "r");
    if (file) {
      if (fscanf(file, "%ld", &ahead) == 1) now->tv_sec += ahead;
      fclose(file);
    }
  }
  return result;
}
