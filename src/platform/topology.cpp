#include "platform/topology.h"

#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"

namespace tandem::platform {
namespace {

int ancestor_index(hwloc_topology_t topology, hwloc_obj_t unit, hwloc_obj_type_t type) {
  hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology, type, unit);
  return found ? static_cast<int>(found->logical_index) : 0;
}

int numa_of(hwloc_topology_t topology, hwloc_obj_t unit) {
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)))
    if (hwloc_bitmap_isset(node->cpuset, unit->os_index)) return static_cast<int>(node->logical_index);
  return 0;
}

auto place(const Cpu& cpu) {
  return std::tuple(cpu.package, cpu.numa, cpu.cache, cpu.core, cpu.id);
}

}  // namespace

Topology Topology::detect() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) throw_errno("asking which CPUs may be used");
  hwloc_topology_t hardware = nullptr;
  if (hwloc_topology_init(&hardware) != 0 || hwloc_topology_load(hardware) != 0)
    throw SystemError("hwloc could not read the machine's topology");
  Topology topology;
  hwloc_obj_t unit = nullptr;
  while ((unit = hwloc_get_next_obj_by_type(hardware, HWLOC_OBJ_PU, unit))) {
    if (!CPU_ISSET(unit->os_index, &allowed)) continue;
    topology.cpus.push_back({static_cast<int>(unit->os_index), ancestor_index(hardware, unit, HWLOC_OBJ_CORE),
                             ancestor_index(hardware, unit, HWLOC_OBJ_L3CACHE), numa_of(hardware, unit),
                             ancestor_index(hardware, unit, HWLOC_OBJ_PACKAGE)});
  }
  if (hwloc_obj_t package = hwloc_get_obj_by_type(hardware, HWLOC_OBJ_PACKAGE, 0))
    if (const char* model = hwloc_obj_get_info_by_name(package, "CPUModel")) topology.model = model;
  hwloc_topology_destroy(hardware);
  topology.memory = static_cast<Bytes>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  std::sort(topology.cpus.begin(), topology.cpus.end(),
            [](const Cpu& a, const Cpu& b) { return place(a) < place(b); });
  return topology;
}

std::vector<int> choose_cpus(const Topology& topology, const std::set<int>& free, int count) {
  std::vector<Cpu> usable;
  std::map<int, int> threads_before;  // of the same physical core
  std::map<int, int> rank;            // 0 for a core's first free thread, 1 for its second, ...
  for (const auto& cpu : topology.cpus)
    if (free.contains(cpu.id)) {
      usable.push_back(cpu);
      rank[cpu.id] = threads_before[cpu.core]++;
    }
  if (count <= 0 || static_cast<std::size_t>(count) > usable.size()) return {};

  // The tightest ring that has room: a cache group, then a NUMA node, then a package, then everything.
  for (auto ring : {+[](const Cpu& c) { return std::tuple(c.package, c.numa, c.cache); },
                    +[](const Cpu& c) { return std::tuple(c.package, c.numa, -1); },
                    +[](const Cpu& c) { return std::tuple(c.package, -1, -1); },
                    +[](const Cpu&) { return std::tuple(-1, -1, -1); }}) {
    std::map<std::tuple<int, int, int>, std::vector<Cpu>> groups;
    for (const auto& cpu : usable) groups[ring(cpu)].push_back(cpu);
    std::vector<Cpu>* best = nullptr;
    for (auto& [where, group] : groups)
      if (group.size() >= static_cast<std::size_t>(count) && (!best || group.size() < best->size()))
        best = &group;
    if (!best) continue;
    std::stable_sort(best->begin(), best->end(),
                     [&](const Cpu& a, const Cpu& b) { return rank[a.id] < rank[b.id]; });
    std::vector<int> chosen;
    for (int i = 0; i < count; ++i) chosen.push_back((*best)[static_cast<std::size_t>(i)].id);
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }
  return {};
}

}  // namespace tandem::platform
