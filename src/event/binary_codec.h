// How values are written as bytes and read again: what binary.h (events, decisions) and snapshot.h (the view)
// share. Internal to event/.
#pragma once

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "event/fields.h"

namespace tandem::binary {

static_assert(std::endian::native == std::endian::little, "the journal is little-endian");

[[noreturn]] inline void damaged() {
  throw SystemError("an entry of the journal is damaged");
}

// ---- writing ----

struct Out {
  std::string& bytes;

  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
    bytes.push_back(static_cast<char>(value));
  }
  void put(std::int64_t value) {
    varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  void put(std::int32_t value) { put(std::int64_t{value}); }
  void put(double value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof(value)); }
  void put(const std::string& text) {
    varint(text.size());
    bytes += text;
  }
  template <class Unit>
  void put(const Quantity<Unit>& quantity) {
    put(quantity.value);
  }
  void put(const Metrics& metrics) {
    varint(metrics.size());
    for (const auto& [name, value] : metrics) put(name), put(value);
  }
  void put(const std::vector<int>& numbers) {
    varint(numbers.size());
    for (int number : numbers) put(number);
  }
  void put(const Profile& profile) { put(profile.rates); }
  // GPUs came later: where there are some, the cores are written as a negative number and the GPUs follow.
  // How they are set came later still: then their number is negative too, and the settings follow.
  void put(const Resources& r) {
    const bool set = r.gpu_memory > 0 || r.sets_gpus() || r.precision != Precision::own;
    const bool more = r.gpus > 0 || set;
    put(more ? -1 - r.cores : r.cores), put(r.memory), put(r.speed);
    if (more) put(set ? -1 - r.gpus : r.gpus);
    if (!set) return;
    put(r.gpu_memory), put(r.gpu_power), put(r.gpu_clock);
    varint(static_cast<std::uint64_t>(r.precision));
  }
  void put(bool flag) { varint(flag ? 1 : 0); }
  void put(Failure failure) { varint(static_cast<std::uint64_t>(failure)); }
  void put(Phase phase) { varint(static_cast<std::uint64_t>(phase)); }
  void put(JobState state) { varint(static_cast<std::uint64_t>(state)); }
  // In two places, as first written: a training job, or the base of a search or an experiment; and then the
  // whole of that one. A kind of a later Tandem stands whole in the first place, where an older one refuses
  // it.
  void put(const spec::Job& job) {
    const bool custom = std::holds_alternative<spec::CustomJob>(job);
    const bool alone = custom || std::holds_alternative<spec::TrainJob>(job);
    put((custom ? spec::to_json(job) : spec::to_json(spec::base_of(job))).dump());
    put(!alone);
    if (!alone) put(spec::to_json(job).dump());
  }
  void put(const Values& values) { put(to_json(values).dump()); }
  template <HasFields T>
  void put(const T& value) {
    std::string inner;
    Out out{inner};
    fields(out, value);
    put(inner);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    varint(values.size());
    for (const auto& value : values) put(value);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    varint(value ? 1 : 0);
    if (value) put(*value);
  }
  // Parts came later: where there are some, a 2 stands for the 1 and they follow.
  void put(const std::optional<Energy>& energy) {
    varint(!energy ? 0 : energy->parts.empty() ? 1 : 2);
    if (!energy) return;
    put(energy->joules), put(energy->source);
    if (!energy->parts.empty()) put(energy->parts);
  }
  template <class T>
  Out& operator()(const char*, const T& value) {
    put(value);
    return *this;
  }
};

// ---- reading ----

struct In {
  const std::uint8_t*& at;
  const std::uint8_t* end;

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at == end) damaged();
      const std::uint8_t byte = *at++;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    damaged();
  }
  // A count of things of at least `size` bytes each: never more than the bytes that are left.
  std::uint64_t count(std::size_t size) {
    const std::uint64_t n = varint();
    if (n > static_cast<std::uint64_t>(end - at) / size) damaged();
    return n;
  }
  void get(std::int64_t& value) {
    const std::uint64_t raw = varint();
    value = static_cast<std::int64_t>(raw >> 1) ^ -static_cast<std::int64_t>(raw & 1);
  }
  void get(std::int32_t& value) {
    std::int64_t wide = 0;
    get(wide);
    value = static_cast<std::int32_t>(wide);
    if (value != wide) damaged();
  }
  void get(double& value) {
    if (end - at < static_cast<std::ptrdiff_t>(sizeof(value))) damaged();
    std::memcpy(&value, at, sizeof(value));
    at += sizeof(value);
  }
  void get(std::string& text) {
    const std::uint64_t size = count(1);
    text.assign(reinterpret_cast<const char*>(at), size);
    at += size;
  }
  template <class Unit>
  void get(Quantity<Unit>& quantity) {
    get(quantity.value);
  }
  void get(Metrics& metrics) {
    for (std::uint64_t n = count(1 + sizeof(double)); n > 0; --n) {
      std::string name;
      get(name);
      get(metrics.emplace_hint(metrics.end(), std::move(name), 0.0)->second);
    }
  }
  void get(std::vector<int>& numbers) {
    numbers.resize(count(1));
    for (int& number : numbers) get(number);
  }
  void get(Profile& profile) { get(profile.rates); }
  void get(Resources& r) {
    get(r.cores), get(r.memory), get(r.speed);
    if (r.cores >= 0) return;
    r.cores = -1 - r.cores;
    get(r.gpus);
    if (r.gpus >= 0) return;
    r.gpus = -1 - r.gpus;
    get(r.gpu_memory), get(r.gpu_power), get(r.gpu_clock);
    get_enum(r.precision, Precision::fp16);
  }
  void get(bool& flag) { flag = varint() != 0; }
  template <class Enum>
  void get_enum(Enum& value, Enum last) {
    const std::uint64_t raw = varint();
    if (raw > static_cast<std::uint64_t>(last)) damaged();
    value = static_cast<Enum>(raw);
  }
  void get(Failure& failure) { get_enum(failure, Failure::no_space); }
  void get(Phase& phase) { get_enum(phase, Phase::settled); }
  void get(JobState& state) { get_enum(state, JobState::failed); }
  nlohmann::json get_json() {
    std::string text;
    get(text);
    auto json = parse_json(text);
    if (json.is_discarded()) damaged();
    return json;
  }
  void get(spec::Job& job) {
    auto first = get_json();
    const bool more = at != end && varint() != 0;  // the first journals had no second place
    job = spec::job_from_json(more ? get_json() : first);
  }
  void get(Values& values) { values = values_from_json(get_json()); }
  template <HasFields T>
  void get(T& value) {
    const std::uint64_t size = count(1);
    const std::uint8_t* from = at;
    at += size;
    fields(In{from, from + size}, value);
  }
  template <class T>
  void get(std::vector<T>& values) {
    for (std::uint64_t n = count(1); n > 0; --n) get(values.emplace_back());
  }
  template <class T>
  void get(std::optional<T>& value) {
    if (varint() == 0) return;
    get(value.emplace());
  }
  void get(std::optional<Energy>& energy) {
    const std::uint64_t form = varint();
    if (form == 0) return;
    if (form > 2) damaged();
    energy.emplace();
    get(energy->joules);
    get(energy->source);
    if (form == 2) get(energy->parts);
  }
  template <class T>
  In& operator()(const char*, T& value) {
    if (at != end) get(value);  // a field an older Tandem did not write
    return *this;
  }
};

}  // namespace tandem::binary
