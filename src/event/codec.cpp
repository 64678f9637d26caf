#include "event/codec.h"

#include <array>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/error.h"
#include "event/fields.h"

namespace tandem {
namespace {

using nlohmann::json;

constexpr std::array kFailures{Failure::crashed,         Failure::killed,     Failure::stalled,
                               Failure::out_of_memory,   Failure::bad_report, Failure::silent,
                               Failure::could_not_start, Failure::lost};
constexpr std::array kJobStates{JobState::running, JobState::finished, JobState::stopped, JobState::failed};

// ---- one field each way ----

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
json write(const JobState& state) {
  return name(state);
}
json write(const spec::TrainJob& job) {
  return spec::to_json(job);
}
json write(const std::optional<Energy>& energy) {
  if (!energy) return nullptr;
  return json::array({energy->joules.value, energy->source});
}

template <class T>
void read(const json& from, T& value) {
  from.get_to(value);
}
template <class Unit>
void read(const json& from, Quantity<Unit>& quantity) {
  quantity.value = from.get<double>();
}
void read(const json& from, Resources& r) {
  r = resources_from_json(from);
}
void read(const json& from, Profile& profile) {
  from.get_to(profile.rates);
}
template <class Enum, std::size_t n>
void read_named(const json& from, const std::array<Enum, n>& all, Enum& value) {
  const auto& written = from.get_ref<const std::string&>();
  for (Enum candidate : all)
    if (written == name(candidate)) {
      value = candidate;
      return;
    }
  throw SystemError("the journal holds the unknown word '" + written + "'");
}
void read(const json& from, Failure& failure) {
  read_named(from, kFailures, failure);
}
void read(const json& from, JobState& state) {
  read_named(from, kJobStates, state);
}
void read(const json& from, spec::TrainJob& job) {
  job = spec::train_job_from_json(from);
}
void read(const json& from, std::optional<Energy>& energy) {
  if (from.is_null())
    energy.reset();
  else
    energy = Energy{Joules{from.at(0).get<double>()}, from.at(1).get<std::string>()};
}

struct Writer {
  json out = json::object();
  template <class T>
  Writer& operator()(const char* key, const T& value) {
    out.emplace(key, write(value));
    return *this;
  }
};

struct Reader {
  const json& in;
  template <class T>
  Reader& operator()(const char* key, T& value) {
    if (auto found = in.find(key); found != in.end()) read(*found, value);
    return *this;
  }
};

template <class Body>
json body_to_json(const Body& body) {
  Writer writer;
  writer.out.emplace("is", name(body));
  std::visit([&](const auto& word) { fields(writer, word); }, body);
  return std::move(writer.out);
}

// Finds the alternative of the variant by its name and reads its fields.
template <class Body, std::size_t index = 0>
Body body_from_json(const json& from, const std::string& is) {
  if constexpr (index == std::variant_size_v<Body>) {
    throw SystemError("the journal holds the unknown word '" + is + "'; was it written by a newer Tandem?");
  } else {
    Body body(std::in_place_index<index>);
    if (is != name(body)) return body_from_json<Body, index + 1>(from, is);
    fields(Reader{from}, std::get<index>(body));
    return body;
  }
}

// JSON of the wrong shape is a damaged journal, whatever nlohmann says of it.
template <class Read>
auto guarded(Read read_it) {
  try {
    return read_it();
  } catch (const json::exception& e) {
    throw SystemError(std::string("the journal holds an entry that cannot be read: ") + e.what());
  }
}

}  // namespace

const char* name(const EventBody& body) {
  constexpr std::array kNames{"JobSubmitted", "JobCancelled", "JobResumed",      "NodeJoined",
                              "TaskStarted",  "EpochEnded",   "CheckpointTaken", "SystemChanged",
                              "TaskEnded",    "TaskFailed",   "DecisionRefused", "Woke"};
  static_assert(kNames.size() == std::variant_size_v<EventBody>);
  return kNames[body.index()];
}

const char* name(const DecisionBody& body) {
  constexpr std::array kNames{"Request",        "Start", "Continue", "Resize",
                              "TakeCheckpoint", "Stop",  "Wake",     "FinishJob"};
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

json to_json(const Decision& decision) {
  auto out = body_to_json(decision.body);
  out.emplace("id", decision.id);
  return out;
}

Event event_from_json(const json& from) {
  return guarded([&] {
    Event event{Seconds{}, body_from_json<EventBody>(from, from.at("is").get_ref<const std::string&>())};
    Reader{from}("at", event.at);
    return event;
  });
}

Decision decision_from_json(const json& from) {
  return guarded([&] {
    Decision decision{0, body_from_json<DecisionBody>(from, from.at("is").get_ref<const std::string&>())};
    Reader{from}("id", decision.id);
    return decision;
  });
}

}  // namespace tandem
