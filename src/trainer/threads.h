// The process around the learners: its threads, its memory and its BLAS.
#pragma once

#include <string>

namespace tandem::trainer {

// libgomp counts the CPUs it may use once, when it is loaded, and its threads no longer spin for each other
// when there are more of them: a program that was started on one core and is given a second trains at half
// speed. So it is loaded with all CPUs of TANDEM_CPUS in sight (.preinit_array in threads.cpp), and this goes
// back to those that were given. To be called once, first thing.
void keep_to_given_cpus();

// How many threads libtorch, OpenMP and OpenBLAS use from now on.
void use_threads(int threads);

// Freed memory is kept for the next batch instead of being given back: at batch 1024 the page faults of
// giving back and getting again cost nearly half of the time. To be called once, first thing.
void keep_freed_memory();

// Which library answers cblas_sgemm, and whether it is the one that shares OpenMP's threads.
struct Blas {
  std::string path;       // "/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblasp-r0.3.21.so"
  std::string threading;  // "openmp", "pthread", "single" or "unknown"
  bool shares_openmp() const { return threading == "openmp"; }
};
Blas blas_in_use();

}  // namespace tandem::trainer
