#include "trainer/threads.h"

#include <dlfcn.h>
#include <malloc.h>
#include <sched.h>
#include <torch/utils.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace tandem::trainer {
namespace {

template <class Function>
Function* symbol(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

cpu_set_t given_cpus;
bool widened = false;

// Runs before the constructors of all libraries, libc's too: getenv() does not work yet.
void see_all_cpus(int, char**, char** environment) {
  constexpr std::string_view kName = "TANDEM_CPUS=";
  const char* list = nullptr;
  for (; *environment != nullptr; ++environment)
    if (std::strncmp(*environment, kName.data(), kName.size()) == 0) list = *environment + kName.size();
  if (list == nullptr || sched_getaffinity(0, sizeof given_cpus, &given_cpus) != 0) return;
  cpu_set_t all;
  CPU_ZERO(&all);
  char* end = nullptr;
  for (; *list != '\0'; list = *end == ',' ? end + 1 : end) {
    const auto cpu = std::strtoul(list, &end, 10);
    if (end == list || cpu >= CPU_SETSIZE) return;
    CPU_SET(cpu, &all);
  }
  widened = sched_setaffinity(0, sizeof all, &all) == 0;
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)(int, char**,
                                                                             char**) = see_all_cpus;

}  // namespace

void keep_to_given_cpus() {
  if (widened) sched_setaffinity(0, sizeof given_cpus, &given_cpus);
}

void use_threads(int threads) {
  torch::set_num_threads(threads);
  if (auto* set = symbol<void(int)>("openblas_set_num_threads")) set(threads);
}

void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, 64 << 20);
}

Blas blas_in_use() {
  Blas blas;
  Dl_info where{};
  const char* const names[] = {"sgemm_", "cblas_sgemm"};
  for (const char* name : names)
    if (void* found = dlsym(RTLD_DEFAULT, name); found != nullptr && dladdr(found, &where) != 0) break;
  if (where.dli_fname != nullptr) blas.path = where.dli_fname;
  blas.threading = "unknown";
  if (auto* parallel = symbol<int()>("openblas_get_parallel")) {
    const int kind = parallel();
    blas.threading = kind == 2 ? "openmp" : kind == 1 ? "pthread" : "single";
  }
  if (char* real = realpath(blas.path.c_str(), nullptr)) {
    blas.path = real;
    std::free(real);
  }
  return blas;
}

}  // namespace tandem::trainer
