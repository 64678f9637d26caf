// GPUs as Slurm writes them, and as Resources will: `gpus` comes into Resources with the scheduler, and until
// then a task is granted none.
#pragma once

#include <string_view>

#include "base/resources.h"

namespace tandem::slurm {

template <class R>
int gpus_of(const R& resources) {
  if constexpr (requires { resources.gpus; })
    return resources.gpus;
  else
    return 0;
}

template <class R>
R with_gpus(R resources, [[maybe_unused]] int gpus) {
  if constexpr (requires { resources.gpus; }) resources.gpus = gpus;
  return resources;
}

// How many there are in "gpu:a100:4(S:0-1),shard:8" or "gpu:2"; 0 where none are named.
int gpus_in(std::string_view gres);

}  // namespace tandem::slurm
