// Which devices of a cluster a workload gets.
//
// Workers take devices of one type, node by node, so that they are as close together as can be; or those that
// somebody chose (a policy that knows which are busy), in that order and of whatever types. Parameter
// servers are on processors: that of the first worker's node, of the next node with workers, then of the
// others, and round again; or, `apart`, of the nodes without workers first. With variables on GPUs the first
// workers are the servers. Plain values; pure.
#pragma once

#include <optional>
#include <vector>

#include "sim/step/devices.h"

namespace tandem::sim {

// A device and what planning must know of it.
struct DeviceSlot {
  DeviceId device = 0;
  std::uint32_t node = 0;
  const spec::DeviceType* type = nullptr;
  const spec::NodeType* node_type = nullptr;
};

struct Placement {
  std::vector<DeviceSlot> workers{};
  std::vector<DeviceSlot> servers{};               // may name a device twice
  std::vector<std::optional<DeviceSlot>> hosts{};  // of each worker: the processor of its node
  std::vector<DeviceId> powered{};                 // the above, and all processors of their nodes; ascending
};

// `servers`: how many; nullopt: the strategy has none. `chosen`: the devices that compute; empty: nobody
// chose. Throws UserError: a type that is not there, or has no speed; more workers than there are devices;
// chosen devices that are not there, named twice, or not as many as workers; no processor for a server.
Placement place(const Devices&, const spec::Workload&, std::optional<int> servers, bool apart,
                const std::vector<DeviceId>& chosen = {});

}  // namespace tandem::sim
