#include "event/codec.h"

#include <array>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "event/fields.h"

namespace tandem {
namespace {

using nlohmann::json;

template <class T>
json write(const T& value) {
  return json(value);
}
template <class Unit>
json write(const Quantity<Unit>& quantity) {
  return quantity.value;
}
json write(const Resources& r) {
  return to_json(r);
}
json write(const Profile& profile) {
  return profile.rates;
}
json write(const Failure& failure) {
  return name(failure);
}
json write(const Phase& phase) {
  return name(phase);
}
json write(const JobState& state) {
  return name(state);
}
json write(const Values& values) {
  return to_json(values);
}
template <class T>
requires HasFields<T> json write(const T& value);
template <class T>
json write(const std::vector<T>& values) {
  auto out = json::array();
  for (const auto& value : values) out.push_back(write(value));
  return out;
}
template <class T>
json write(const std::optional<T>& value) {
  return value ? write(*value) : json(nullptr);
}
json write(const std::optional<Energy>& energy) {
  if (!energy) return nullptr;
  auto out = json::array({energy->joules.value, energy->source});
  if (!energy->parts.empty()) out.push_back(write(energy->parts));
  return out;
}

struct Writer {
  json out = json::object();
  // Two keys, as journals have two places (binary.cpp).
  Writer& operator()(const char* key, const spec::Job& job) {
    const bool custom = std::holds_alternative<spec::CustomJob>(job);
    const bool alone = custom || std::holds_alternative<spec::TrainJob>(job);
    out.emplace(key, custom ? spec::to_json(job) : spec::to_json(spec::base_of(job)));
    out.emplace("tune", alone ? json(nullptr) : spec::to_json(job));
    return *this;
  }
  template <class T>
  Writer& operator()(const char* key, const T& value) {
    out.emplace(key, write(value));
    return *this;
  }
};

template <class T>
requires HasFields<T> json write(const T& value) {
  Writer writer;
  fields(writer, value);
  return std::move(writer.out);
}

template <class Body>
json body_to_json(const Body& body) {
  Writer writer;
  writer.out.emplace("is", name(body));
  std::visit([&](const auto& word) { fields(writer, word); }, body);
  return std::move(writer.out);
}

}  // namespace

const char* name(const EventBody& body) {
  constexpr std::array kNames{"JobSubmitted",     "JobCancelled", "JobResumed",      "NodeJoined",
                              "TaskStarted",      "EpochEnded",   "CheckpointTaken", "SystemChanged",
                              "TaskEnded",        "TaskFailed",   "DecisionRefused", "Woke",
                              "KnowledgeArrived", "NodeObserved", "SliceEnded",      "JobsArchived"};
  static_assert(kNames.size() == std::variant_size_v<EventBody>);
  return kNames[body.index()];
}

const char* name(const DecisionBody& body) {
  constexpr std::array kNames{"Request", "Start",     "Continue", "Resize",  "TakeCheckpoint", "Stop",
                              "Wake",    "FinishJob", "Hold",     "Release", "Learn",          "Retune"};
  static_assert(kNames.size() == std::variant_size_v<DecisionBody>);
  return kNames[body.index()];
}

const char* name(Failure failure) {
  switch (failure) {
    case Failure::crashed:
      return "crashed";
    case Failure::killed:
      return "killed";
    case Failure::stalled:
      return "stalled";
    case Failure::out_of_memory:
      return "out of memory";
    case Failure::bad_report:
      return "bad report";
    case Failure::silent:
      return "silent";
    case Failure::lost:
      return "lost";
    case Failure::could_not_start:
      return "could not start";
    case Failure::no_space:
      return "no space";
  }
  return "?";
}

const char* name(Phase phase) {
  switch (phase) {
    case Phase::none:
      return "fixed";
    case Phase::profiling:
      return "profiling";
    case Phase::probing:
      return "probing";
    case Phase::reusing:
      return "reusing";
    case Phase::settled:
      return "settled";
  }
  return "?";
}

const char* name(JobState state) {
  switch (state) {
    case JobState::running:
      return "running";
    case JobState::finished:
      return "finished";
    case JobState::stopped:
      return "stopped";
    case JobState::failed:
      return "failed";
  }
  return "?";
}

json to_json(const Event& event) {
  auto out = body_to_json(event.body);
  out.emplace("at", event.at.value);
  return out;
}

json parts_json(const std::vector<EnergyPart>& parts) {
  auto out = json::array();
  for (const auto& part : parts) {
    const bool known = !part.source.empty();
    out.push_back({{"of", part.of.empty() ? json(nullptr) : json(part.of)},
                   {"joules", known ? json(part.joules.value) : json(nullptr)},
                   {"source", known ? json(part.source) : json(nullptr)},
                   {"idle_joules", write(part.idle)}});
  }
  return out;
}

json to_json(const Decision& decision) {
  auto out = body_to_json(decision.body);
  out.emplace("id", decision.id);
  return out;
}

}  // namespace tandem
