// Which nodes would hold the others up: stragglers.
//
// Synchronous training is as slow as its slowest worker, so one straggler costs what all the others wait. A
// node is one when any of these holds:
//   load     its CPU, network or GPU is overloaded now, and was in most of the past observations. Both, so
//            that neither a spike nor a load that has ended fails a node. Memory that is full stops jobs,
//            it does not slow them: that is the thresholds' business.
//   latency  it is far from the master, now and in most of the past: several times as far as the median node
//            is, and further than a slack, below which nobody notices.
//   work     in most of the jobs it took part in its steps took much longer than the median worker's,
//            whatever its load: a machine that throttles does not look busy.
// Assumes that the median node is near. Pure.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "place/infra/infra_nodes.h"

namespace tandem::place {

struct StragglerOptions {
  double overloaded = 0.9;        // share in use from which it is
  double most = 0.5;              // share of the past that is most of it: more than this
  double far = 3;                 // times the median node's latency
  Seconds slack{0.5e-3};          // latency that nobody notices
  double slow = 1.5;              // times the median worker's step
  std::size_t least_reports = 3;  // of work
};

// Of the last observation of each node that has one; 0 without any.
Seconds median_latency(const Catalogue&);

// Why a node is a straggler, for people; nullopt: it is none, or nothing is known of it.
// `loads`: those that can hold the job up; that of a GPU is nothing to a job without one.
inline constexpr std::array kRates{Resource::cpu, Resource::network, Resource::gpu};
std::optional<std::string> straggling(const Node&, Seconds median_latency, const StragglerOptions& = {},
                                      std::span<const Resource> loads = kRates);

}  // namespace tandem::place
