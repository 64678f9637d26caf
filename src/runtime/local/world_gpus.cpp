// The local world's GPUs: who has which, what a program sees of them, and how they are set while it has them.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "runtime/common/clock.h"
#include "runtime/local/world.h"

namespace tandem::local {

std::string LocalWorld::take_gpus(Attempted& a, const Resources& granted) {
  if (granted.gpus == 0) return "";
  if (a.gang()) return "GPUs are handed out to tasks of one process only";
  const auto& own = described(a.ranks.front()).gpus;
  const auto taken = gpus_.take(granted, own);
  if (!taken)
    return fmt::format("{} asked for, but {} of {} GPUs are free", text(granted), gpus_.free(own),
                       own.size());
  a.gpus = *taken;
  return "";
}

void LocalWorld::set_gpus(const Attempted& a, const Resources& former, const Resources& granted) {
  const auto same = [](const Resources& x, const Resources& y) {
    return x.gpu_power == y.gpu_power && x.gpu_clock == y.gpu_clock;
  };
  if (a.gpus.empty() || same(former, granted)) return;
  if (!options_.set_gpu)
    throw SystemError(fmt::format(
        "{}: power limits and clocks of GPUs cannot be set here; see `tandem doctor`", text(granted)));
  for (const std::size_t gpu : a.gpus)
    for (const auto& [task, other] : attempts_)
      if (other.get() != &a && std::count(other->gpus.begin(), other->gpus.end(), gpu) > 0 &&
          !same(other->granted(), granted))
        throw SystemError(fmt::format("GPU {} is shared with task {}, which has it otherwise ({})", gpu, task,
                                      text(other->granted())));
  for (std::size_t i = 0; i < a.gpus.size(); ++i) {
    const std::string why = options_.set_gpu(a.gpus[i], granted.gpu_power, granted.gpu_clock);
    if (why.empty()) continue;
    for (std::size_t done = 0; done < i; ++done)
      options_.set_gpu(a.gpus[done], former.gpu_power, former.gpu_clock);
    throw SystemError(fmt::format("GPU {}: {}", a.gpus[i], why));
  }
}

// The last who leaves a GPU leaves it as it was found.
void LocalWorld::release_gpus(Attempted& a) {
  gpus_.give_back(a.gpus, a.granted());
  for (const std::size_t gpu : a.gpus)
    if (gpus_.unused(gpu) && a.granted().sets_gpus() && options_.set_gpu)
      if (const std::string why = options_.set_gpu(gpu, Watts{}, 0); !why.empty())
        note(a, fmt::format("GPU {} could not be set back: {}", gpu, why));
  a.gpus.clear();
}

void LocalWorld::retune(DecisionId id, Attempted& a, const Retune& d) {
  if (a.gpus.empty()) return refuse(id, "it has no GPUs that could be set");
  const Resources former = a.granted();
  Resources now = former;
  now.gpu_power = d.gpu_power, now.gpu_clock = d.gpu_clock;
  try {
    set_gpus(a, former, now);
  } catch (const SystemError& e) {
    refuse(id, e.what());
    return;
  }
  control::Ledger::set_gpus(a.holds, d.gpu_power, d.gpu_clock);
  a.talk.begin.system = now;
  a.talk.slices = d.slices;
  happened(SystemChanged{a.task, a.number, id, now});
  settle(a.talk, runtime::steady());
}

// Whoever puts settings back when Tandem dies may itself have died.
void LocalWorld::look_after_gpus() {
  const Seconds now = runtime::steady();
  if (!options_.check_gpus || now < gpus_looked_after_ + Seconds{1}) return;
  gpus_looked_after_ = now;
  for (auto& [task, a] : attempts_) {
    if (!a->granted().sets_gpus() || a->gpus.empty()) continue;
    if (const std::string why = options_.check_gpus(); !why.empty()) fail(*a, Failure::could_not_start, why);
    return;
  }
}

// Where there are GPUs a program sees its own and no others.
std::map<std::string, std::string> LocalWorld::gpu_environment(const Attempted& a) const {
  std::map<std::string, std::string> out;
  if (gpus_.size() == 0) return out;
  out["CUDA_VISIBLE_DEVICES"] = join(gpus_.names(a.gpus), ",");  // "": none
  out["TANDEM_GPUS"] = std::to_string(a.gpus.size());
  out["TANDEM_GPU_MEMORY"] = std::to_string(a.granted().gpu_memory);
  return out;
}

}  // namespace tandem::local
