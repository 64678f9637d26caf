#include "trainer/threads.h"

#include <dlfcn.h>
#include <malloc.h>
#include <torch/torch.h>

#include <climits>
#include <cstdlib>

namespace tandem::trainer {
namespace {

template <class Function>
Function* symbol(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

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
