// The GPUs of this machine as the local world hands them out: whole ones, or a part of one's memory.
//
// A task that says how much memory it needs of each GPU shares it with others that say so too, as long as all
// of it fits; the fullest GPU that has room is filled first, so that whole ones stay free. A GPU has one
// power limit and one clock for all on it: who comes to a shared one must want what is set there. One owner;
// it keeps books and sets nothing itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/resources.h"

namespace tandem::local {

// A GPU of this machine that tasks may be given.
struct LocalGpu {
  std::string uuid, name;
  Bytes memory = 0;
  Watts most_power{};     // its limit may be set up to; 0: may not be set
  double most_clock = 0;  // hertz; the same
};

// To what a node has, and to its type: what was learned beside one type of GPU is not good beside another.
// GPUs count as alike, each as the least of them: what is granted must fit on any.
void add_gpus(const std::vector<LocalGpu>&, Resources& capacity, std::string& type);

class GpuDesk {
 public:
  explicit GpuDesk(std::vector<LocalGpu> gpus);

  // Which GPUs a task gets; none where it cannot have so many now.
  std::optional<std::vector<std::size_t>> take(const Resources&);
  // `granted` as it was given to `take`.
  void give_back(const std::vector<std::size_t>&, const Resources& granted);

  std::size_t size() const { return gpus_.size(); }
  int free() const;  // nobody is on them
  bool unused(std::size_t gpu) const { return used_[gpu].tasks == 0; }
  const LocalGpu& described(std::size_t gpu) const { return gpus_[gpu]; }
  std::vector<std::string> names(const std::vector<std::size_t>&) const;

 private:
  struct Use {
    int tasks = 0;
    Bytes memory = 0;  // taken by those who share it; all of it by one who does not
  };
  bool has_room(std::size_t gpu, const Resources&) const;
  std::vector<LocalGpu> gpus_;
  std::vector<Use> used_;
};

}  // namespace tandem::local
