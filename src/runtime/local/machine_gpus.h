// The GPUs of this machine, as NVML shows them, for the local world: which there are, and how they are set
// and put back however Tandem ends (platform/gpu_settings.h).
//
// What may be set is tried once, where a job asks for it, or where jobs will come (a server): setting the
// present power limit again changes nothing. One thread; it must outlive the world it was offered to.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "platform/gpu_settings.h"
#include "platform/nvml.h"
#include "runtime/local/world.h"
#include "spec/tune_job.h"

namespace tandem::local {

class MachineGpus {
 public:
  struct Options {
    std::filesystem::path guardian;  // the program
    std::filesystem::path log;       // of the guardian
    platform::SymbolLookup nvml{};   // empty: the library of the system
    std::shared_ptr<platform::Nvml> opened{};  // by who measures here, in the same thread; null: it is opened
    std::filesystem::path folder{};  // of locks; empty: as platform::GpuSettings
  };
  // Null where there is none.
  static std::unique_ptr<MachineGpus> open(Options);

  // Puts the GPUs into the world's options. `asked`: what the job would set; UserError for what is outside of
  // what a GPU takes, and for more GPUs than there are.
  void offer(LocalOptions&, const spec::SystemSpace& asked);
  // The same for jobs that are not known yet: each is checked when it comes.
  void offer_to_all(LocalOptions&);
  // What people should know of a job that was not asked for in `offer`: what it would set and may not, that
  // it sees no GPU. UserError for what is outside of what a GPU takes.
  std::vector<std::string> check(const spec::SystemSpace& asked) const;
  // What people should know: settings that a killed run had left, or that cannot be set here.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  MachineGpus(std::shared_ptr<platform::Nvml>, const Options&);
  void check_range(const spec::SystemSpace& asked) const;
  void try_settings();
  void put_into(LocalOptions&);
  std::shared_ptr<platform::Nvml> nvml_;
  platform::GpuSettings settings_;  // gone before the library
  std::vector<std::string> notes_;
  std::vector<std::string> denied_;  // of each GPU: why it cannot be set, "" where it can, or nobody tried
  bool tried_ = false;
};

// As NVML describes them, with what the cards can be set to; whether this process may is another question.
std::vector<LocalGpu> gpus_of(const platform::Nvml&);
// What a job would be given of GPUs, one value or several.
spec::SystemSpace gpus_asked_by(const spec::Job&);

}  // namespace tandem::local
