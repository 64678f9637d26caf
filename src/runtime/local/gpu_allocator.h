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

// To what a node has. GPUs count as alike, each as the least of them: what is granted must fit on any.
void add_gpus(const std::vector<LocalGpu>&, Resources& capacity);
// And to its type: what was learned beside one type of GPU is not good beside another.
std::string type_with(const std::string& type, const std::vector<LocalGpu>&);

class GpuAllocator {
 public:
  explicit GpuAllocator(std::vector<LocalGpu> gpus);

  using Numbers = std::vector<std::size_t>;  // of GPUs

  // Which GPUs a task gets of these; none where it cannot have so many now.
  std::optional<Numbers> take(const Resources&, const Numbers& among);
  // `granted` as it was given to `take`.
  void give_back(const Numbers&, const Resources& granted);

  std::size_t size() const { return gpus_.size(); }
  int free(const Numbers& among) const;  // nobody is on them
  bool unused(std::size_t gpu) const { return used_[gpu].tasks == 0; }
  const LocalGpu& described(std::size_t gpu) const { return gpus_[gpu]; }
  std::vector<std::string> names(const Numbers&) const;

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
