// The fields of each event and decision, in one place for every codec and both directions.
//
// The binary codec goes by position: new fields come last, and none is ever removed or changes its type.
#pragma once

#include <type_traits>

#include "event/decision.h"
#include "event/event.h"

namespace tandem {

// Values inside an event that have fields of their own.
template <class T>
concept HasFields = std::is_same_v<T, TrialPart> || std::is_same_v<T, Option> ||
    std::is_same_v<T, Measured> || std::is_same_v<T, KnownWorkload> || std::is_same_v<T, NodeTraits> ||
    std::is_same_v<T, NodeLoad> || std::is_same_v<T, EnergyPart> || std::is_same_v<T, PlacementCandidate> ||
    std::is_same_v<T, PlacementReason> || std::is_same_v<T, spec::Limits> || std::is_same_v<T, spec::Budget> ||
    std::is_same_v<T, Owner>;

template <class A, class E>
void fields(A&& a, E& e) {
  using T = std::remove_const_t<E>;
  if constexpr (std::is_same_v<T, JobSubmitted>) a("job", e.job)("spec", e.spec)("owner", e.owner)("key", e.key);
  if constexpr (std::is_same_v<T, Owner>) a("user", e.user)("name", e.name);
  if constexpr (std::is_same_v<T, JobCancelled>) a("job", e.job)("reason", e.reason);
  if constexpr (std::is_same_v<T, JobResumed>) a("job", e.job)("limits", e.limits)("budget", e.budget);
  if constexpr (std::is_same_v<T, NodeJoined>)
    a("node", e.node)("name", e.name)("capacity", e.capacity)("type", e.type)("traits", e.traits);
  if constexpr (std::is_same_v<T, TaskStarted>)
    a("task", e.task)("attempt", e.attempt)("decision", e.decision)("pid", e.pid)(
        "pid_started", e.pid_started)("cpus", e.cpus)("gpus", e.gpus)(
        "preloaded", e.preloaded);
  if constexpr (std::is_same_v<T, EpochEnded>)
    a("task", e.task)("attempt", e.attempt)("epoch", e.epoch)("metrics", e.metrics)("seconds", e.seconds)(
        "energy", e.energy)("profile", e.profile)("startup", e.startup)("startup_energy", e.startup_energy)(
        "not_finite", e.not_finite)("hyper_read", e.hyper_read);
  if constexpr (std::is_same_v<T, CheckpointTaken>)
    a("task", e.task)("attempt", e.attempt)("decision", e.decision)("epoch", e.epoch);
  if constexpr (std::is_same_v<T, SystemChanged>)
    a("task", e.task)("attempt", e.attempt)("decision", e.decision)("granted", e.granted);
  if constexpr (std::is_same_v<T, TaskEnded>) a("task", e.task)("attempt", e.attempt)("energy", e.energy)("failure", e.failure)("detail", e.detail)(
        "last_output", e.last_output);
  if constexpr (std::is_same_v<T, TaskFailed>)
    a("task", e.task)("attempt", e.attempt)("failure", e.failure)("detail", e.detail)(
        "last_output", e.last_output)("energy", e.energy)("ran", e.ran);
  if constexpr (std::is_same_v<T, DecisionRefused>) a("decision", e.decision)("reason", e.reason);
  if constexpr (std::is_same_v<T, Woke>) a("decision", e.decision);
  if constexpr (std::is_same_v<T, KnowledgeArrived>) a("source", e.source)("known", e.known);
  if constexpr (std::is_same_v<T, SliceEnded>)
    a("task", e.task)("attempt", e.attempt)("share", e.share)("seconds", e.seconds)("energy", e.energy);
  if constexpr (std::is_same_v<T, NodeObserved>) a("node", e.node)("load", e.load);

  if constexpr (std::is_same_v<T, JobsArchived>) a("jobs", e.jobs);

  if constexpr (std::is_same_v<T, Request>)
    a("task", e.task)("job", e.job)("wanted", e.wanted)("trial", e.trial)("options", e.options)(
        "epochs_left", e.epochs_left)("priority", e.priority)("phase", e.phase)("work", e.workload)(
        "nodes", e.nodes)("slices", e.slices);
  if constexpr (std::is_same_v<T, Start>)
    a("task", e.task)("attempt", e.attempt)("node", e.node)("granted", e.granted)("drop", e.drop)(
        "more", e.more)("reason", e.reason);
  if constexpr (std::is_same_v<T, Continue>) a("task", e.task)("attempt", e.attempt)("epoch", e.epoch);
  if constexpr (std::is_same_v<T, Resize>) a("task", e.task)("attempt", e.attempt)("granted", e.granted);
  if constexpr (std::is_same_v<T, Retune>)
    a("task", e.task)("attempt", e.attempt)("gpu_power", e.gpu_power)("gpu_clock", e.gpu_clock)("slices",
                                                                                                e.slices);
  if constexpr (std::is_same_v<T, TakeCheckpoint>) a("task", e.task)("attempt", e.attempt);
  if constexpr (std::is_same_v<T, Stop>)
    a("task", e.task)("attempt", e.attempt)("reason", e.reason)("again", e.again);
  if constexpr (std::is_same_v<T, Wake>) a("until", e.at);  // "at" is when an event happened
  if constexpr (std::is_same_v<T, FinishJob>) a("job", e.job)("state", e.state)("reason", e.reason);
  if constexpr (std::is_same_v<T, Hold>) a("task", e.task)("attempt", e.attempt)("work", e.workload);
  if constexpr (std::is_same_v<T, Release>) a("task", e.task)("reason", e.reason)("work", e.workload);
  if constexpr (std::is_same_v<T, Learn>) a("job", e.job)("work", e.workload);

  if constexpr (std::is_same_v<T, spec::Limits>)
    a("stall", e.stall)("time", e.time)("retries", e.retries)("processes", e.processes)("output", e.output)(
        "lost", e.lost);
  if constexpr (std::is_same_v<T, spec::Budget>) a("time", e.time)("energy", e.energy)("cost", e.cost);
  if constexpr (std::is_same_v<T, TrialPart>)
    a("hyper", e.hyper)("epochs", e.epochs)("until", e.until)("bracket", e.bracket)("rung", e.rung)(
        "clone_from", e.clone_from)("clone_epoch", e.clone_epoch)("point", e.point);
  if constexpr (std::is_same_v<T, NodeTraits>)
    a("architecture", e.architecture)("accelerator", e.accelerator)("labels", e.labels)("idle", e.idle)(
        "busy", e.busy)("pace", e.speed_factor)("bandwidth", e.bandwidth);
  if constexpr (std::is_same_v<T, NodeLoad>)
    a("cpu", e.cpu)("memory", e.memory)("network", e.network)("gpu", e.gpu)("gpu_memory", e.gpu_memory)(
        "latency", e.latency);
  if constexpr (std::is_same_v<T, EnergyPart>)
    a("of", e.of)("joules", e.joules)("source", e.source)("idle", e.idle);
  if constexpr (std::is_same_v<T, PlacementCandidate>)
    a("node", e.node)("room", e.room)("score", e.score)("energy_part", e.energy_part)("seconds", e.seconds)(
        "joules", e.joules)("within", e.within)("from", e.from)("why", e.why);
  if constexpr (std::is_same_v<T, PlacementReason>)
    a("best", e.best)("chosen", e.chosen)("possible", e.possible)("waiting", e.waiting)("waited", e.waited)(
        "energy_weight", e.energy_weight);
  if constexpr (std::is_same_v<T, Option>) a("resources", e.resources)("seconds", e.seconds);
  if constexpr (std::is_same_v<T, Measured>)
    a("system", e.system)("seconds", e.seconds)("joules", e.joules)("epochs", e.epochs);
  if constexpr (std::is_same_v<T, KnownWorkload>)
    a("machine", e.machine)("batch", e.batch)("reference", e.reference)("rates", e.rates)("spread", e.spread)(
        "measured", e.measured)("first_seconds", e.first_seconds);
}

}  // namespace tandem
