// The local world's GPUs: who has which, what a program sees of them, and how they are set while it has them.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "runtime/local/world.h"

namespace tandem::local {

std::string LocalWorld::take_gpus(Attempted& a, const Resources& granted) {
  if (granted.gpus == 0) return "";
  if (a.gang()) return "GPUs are handed out to tasks of one process only";
  const auto& own = described(a.seats.front()).gpus;
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
          !same(other->granted, granted))
        throw SystemError(fmt::format("GPU {} is shared with task {}, which has it otherwise ({})", gpu, task,
                                      text(other->granted)));
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
  gpus_.give_back(a.gpus, a.granted);
  for (const std::size_t gpu : a.gpus)
    if (gpus_.unused(gpu) && a.granted.sets_gpus() && options_.set_gpu)
      if (const std::string why = options_.set_gpu(gpu, Watts{}, 0); !why.empty())
        note(a, fmt::format("GPU {} could not be set back: {}", gpu, why));
  a.gpus.clear();
}

void LocalWorld::retune(DecisionId id, const Retune& d) {
  Attempted& a = *find(d.task, d.attempt);
  Resources now = a.granted;
  now.gpu_power = d.gpu_power, now.gpu_clock = d.gpu_clock;
  try {
    set_gpus(a, a.granted, now);
  } catch (const SystemError& e) {
    refuse(id, e.what());
    return;
  }
  a.granted = a.begin.system = now;
  a.slices = d.slices;
  happened(SystemChanged{a.task, a.number, id, now});
  settle(a);
}

// What it does at once after a change, or at the beginning of an epoch, shows nothing of how it will go on.
void LocalWorld::settle(Attempted& a) {
  a.slice.reset();
  a.settling_from = std::chrono::steady_clock::now();
  a.settled_at = after(options_.settling);
}

void LocalWorld::progressed(Attempted& a, double share) {
  if (a.owes_answer) throw protocol::ProtocolError("it spoke of progress while it waits for an answer");
  if (share < a.progress)
    throw protocol::ProtocolError(
        fmt::format("its progress went back from {} to {} within an epoch", a.progress, share));
  a.progress = share;
  a.stall_at = after(a.stall_after);
  const Moment now = std::chrono::steady_clock::now();
  if (!a.slices || now < a.settled_at) return;
  const auto seconds = [&](Moment from) {
    return Seconds{std::chrono::duration<double>(now - from).count()};
  };
  if (!a.slice) {
    happened(SliceEnded{a.task, a.number, 0, seconds(a.settling_from), {}});
    a.slice = {share, now};
  } else if (seconds(a.slice->from) >= options_.slice && share > a.slice->from_share) {
    happened(SliceEnded{a.task, a.number, share - a.slice->from_share, seconds(a.slice->from), {}});
    a.slice = {share, now};
  }
}

// Whoever puts settings back when Tandem dies may itself have died.
void LocalWorld::look_after_gpus() {
  const Moment now = std::chrono::steady_clock::now();
  if (!options_.check_gpus || now < gpus_looked_after_ + std::chrono::seconds(1)) return;
  gpus_looked_after_ = now;
  for (auto& [task, a] : attempts_) {
    if (!a->granted.sets_gpus() || a->gpus.empty()) continue;
    if (const std::string why = options_.check_gpus(); !why.empty())
      condemn(*a, Failure::could_not_start, why);
    return;
  }
}

// Where there are GPUs a program sees its own and no others.
std::map<std::string, std::string> LocalWorld::gpu_environment(const Attempted& a) const {
  std::map<std::string, std::string> out;
  if (a.granted.precision != Precision::own) out["TANDEM_PRECISION"] = name(a.granted.precision);
  if (gpus_.size() == 0) return out;
  out["CUDA_VISIBLE_DEVICES"] = join(gpus_.names(a.gpus), ",");  // "": none
  out["TANDEM_GPUS"] = std::to_string(a.gpus.size());
  out["TANDEM_GPU_MEMORY"] = std::to_string(a.granted.gpu_memory);
  return out;
}

}  // namespace tandem::local
