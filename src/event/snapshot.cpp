#include "event/snapshot.h"

#include <type_traits>
#include <utility>

#include "event/binary.h"
#include "event/binary_codec.h"

namespace tandem {
namespace {

// ---- what there is to write, in both directions ----

template <class A>
void describe(A& a, EpochRecord& e) {
  a(e.epoch)(e.attempt)(e.metrics)(e.at)(e.seconds)(e.energy)(e.profile)(e.granted)(e.startup)(e.phase)(
      e.workload)(e.mixed)(e.startup_energy)(e.not_finite);
}

template <class A>
void describe(A& a, TaskFailed& f) {
  a(f.task)(f.attempt)(f.failure)(f.detail)(f.last_output)(f.energy)(f.ran);
}

template <class A>
void describe(A& a, TaskView::Holding& h) {
  a(h.granted)(h.cores)(h.memory)(h.gpus)(h.parked);
}

template <class A>
void describe(A& a, TaskView& t) {
  a(t.id)(t.job)(t.state)(t.wanted)(t.granted)(t.nodes_wanted)(t.trial)(t.options)(t.epochs_left)(t.priority)(
      t.phase)(t.workload)(t.slices)(t.mixed)(t.sliced)(t.cores_held)(t.memory_held)(t.gpus_held)(t.alive)(
      t.parked)(t.released)(t.evicted)(t.release_reason)(t.before_resize)(t.node)(t.more)(t.drop)(t.attempt)(
      t.reason)(t.pid)(t.pid_started)(t.cpus)(t.gpus)(t.epochs)(t.joules_between)(t.parts_between)(
      t.energy_source)(t.energy_complete)(t.requested_at)(t.started_at)(t.ended_at)(t.failures)(
      t.last_failure)(t.lost_at_once)(t.keeps_size)(t.preloaded);
}

template <class A>
void describe(A& a, JobView& j) {
  a(j.id)(j.spec)(j.state)(j.reason)(j.submitted_at)(j.finished_at)(j.cancelled)(j.cancel_reason)(j.active)(
      j.counted)(j.at_work)(j.most_power)(j.tasks)(j.owner)(j.key)(j.hyper_read);
}

template <class A>
void describe(A& a, NodeView::Observed& o) {
  a(o.at)(o.load);
}

template <class A>
void describe(A& a, NodeView& n) {
  a(n.id)(n.name)(n.capacity)(n.largest)(n.type)(n.traits)(n.free_cores)(n.free_memory)(n.free_gpus)(
      n.observed);
}

template <class A>
void describe(A& a, View& v) {
  a(v.now)(v.events)(v.nodes)(v.jobs)(v.tasks)(v.waiting)(v.holding)(v.known)(v.learned)(v.open)(
      v.next_decision)(v.archived)(v.worked);
}

template <class T>
concept Described = std::is_same_v<T, EpochRecord> || std::is_same_v<T, TaskFailed> ||
    std::is_same_v<T, TaskView::Holding> || std::is_same_v<T, TaskView> || std::is_same_v<T, JobView> ||
    std::is_same_v<T, NodeView::Observed> || std::is_same_v<T, NodeView> || std::is_same_v<T, View>;

// ---- writing ----

struct Save {
  static constexpr std::size_t kChunk = 256 * 1024;

  const ByteSink& sink;
  std::string bytes{};  // that are still to be handed on

  template <class T>
  Save& operator()(T& value) {
    put(value);
    return *this;
  }
  template <class T>
  void put(T& value) {
    binary::Out{bytes}.put(value);
  }
  void count(std::size_t size) { binary::Out{bytes}.varint(size); }
  void put(TaskState& state) { count(static_cast<std::size_t>(state)); }
  template <Described T>
  void put(T& value) {
    describe(*this, value);
  }
  template <Described T>
  void put(std::vector<T>& values) {
    count(values.size());
    for (auto& value : values) put(value);
  }
  template <Described T>
  void put(std::optional<T>& value) {
    count(value ? 1 : 0);
    if (value) put(*value);
  }
  template <class T>
  void put(Boxed<T>& value) {
    std::optional<T> plain = value;
    put(plain);
  }
  template <class T>
  void put(std::set<T>& values) {
    count(values.size());
    for (T value : values) put(value);
  }
  void put(std::map<DecisionId, Decision>& decisions) {
    count(decisions.size());
    for (const auto& [id, decision] : decisions) append_binary(bytes, decision);
  }
  void put(std::map<JobState, std::int64_t>& counts) {
    count(counts.size());
    for (auto [state, number] : counts) put(state), put(number);
  }
  template <class T>
  void put(IdTable<T>& table) {
    count(table.size()), count(table.present());
    std::int64_t id = 0;
    for (const T& value : std::as_const(table)) {
      while (!table.contains(id)) ++id;
      put(id);
      ++id;
      put(const_cast<T&>(value));  // NOLINT: one description for both directions; writing changes nothing
      if (bytes.size() >= kChunk) hand_on();
    }
  }
  void hand_on() {
    sink(bytes);
    bytes.clear();
  }
};

// ---- reading ----

struct Load {
  binary::In in;

  template <class T>
  Load& operator()(T& value) {
    get(value);
    return *this;
  }
  template <class T>
  void get(T& value) {
    in.get(value);
  }
  void get(TaskState& state) { in.get_enum(state, TaskState::failed); }
  template <Described T>
  void get(T& value) {
    describe(*this, value);
  }
  template <Described T>
  void get(std::vector<T>& values) {
    for (auto n = in.count(1); n > 0; --n) get(values.emplace_back());
  }
  template <Described T>
  void get(std::optional<T>& value) {
    if (in.varint() != 0) get(value.emplace());
  }
  template <class T>
  void get(Boxed<T>& value) {
    std::optional<T> plain;
    get(plain);
    value = plain;
  }
  template <class T>
  void get(std::set<T>& values) {
    for (auto n = in.count(1); n > 0; --n) {
      T value{};
      get(value);
      values.insert(values.end(), value);
    }
  }
  void get(std::map<DecisionId, Decision>& decisions) {
    for (auto n = in.count(1); n > 0; --n) {
      BinaryReader reader({in.at, static_cast<std::size_t>(in.end - in.at)});
      auto decision = reader.decision();
      in.at = in.end - reader.left();
      decisions.emplace_hint(decisions.end(), decision.id, std::move(decision));
    }
  }
  void get(std::map<JobState, std::int64_t>& counts) {
    for (auto n = in.count(1); n > 0; --n) {
      JobState state{};
      get(state);
      get(counts[state]);
    }
  }
  template <class T>
  void get(IdTable<T>& table) {
    const auto size = in.varint();
    auto present = in.count(1);
    if (size > INT32_MAX || present > size) binary::damaged();
    for (; present > 0; --present) {
      std::int64_t id = 0;
      get(id);
      if (id < static_cast<std::int64_t>(table.size()) || id >= static_cast<std::int64_t>(size))
        binary::damaged();
      table.skip_to(static_cast<std::size_t>(id));
      get(table.emplace_back());
    }
    table.skip_to(size);
  }
};

}  // namespace

void write_view(const View& view, const ByteSink& sink) {
  Save save{sink};
  save.put(const_cast<View&>(view));  // NOLINT: as above
  save.hand_on();
}

std::string view_to_bytes(const View& view) {
  std::string all;
  write_view(view, [&](std::string_view bytes) { all += bytes; });
  return all;
}

View view_from_bytes(std::span<const std::uint8_t> bytes) {
  View view;
  const std::uint8_t* at = bytes.data();
  Load load{{at, bytes.data() + bytes.size()}};
  load.get(view);
  if (at != bytes.data() + bytes.size()) binary::damaged();
  view.index();
  return view;
}

}  // namespace tandem
