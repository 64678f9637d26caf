#include "event/binary.h"

#include "event/binary_codec.h"

namespace tandem {
namespace {

using binary::In;
using binary::Out;

template <class Body>
void append_body(std::string& out, const Body& body) {
  std::string inner;
  Out fields_out{inner};
  std::visit([&](const auto& word) { fields(fields_out, word); }, body);
  Out head{out};
  head.varint(body.index());
  head.put(inner);
}

template <class Body, std::size_t index = 0>
Body read_fields(std::uint64_t wanted, const std::uint8_t* at, const std::uint8_t* end) {
  if constexpr (index == std::variant_size_v<Body>) {
    throw SystemError("the journal holds an unknown word; was it written by a newer Tandem?");
  } else {
    if (wanted != index) return read_fields<Body, index + 1>(wanted, at, end);
    Body body(std::in_place_index<index>);
    fields(In{at, end}, std::get<index>(body));
    return body;
  }
}

template <class Body>
Body read_body(In in) {
  const std::uint64_t index = in.varint();
  const std::uint64_t size = in.count(1);
  const std::uint8_t* from = in.at;
  in.at += size;
  return read_fields<Body>(index, from, from + size);
}

}  // namespace

void append_binary(std::string& out, const Event& event) {
  Out{out}.put(event.at);
  append_body(out, event.body);
}

void append_binary(std::string& out, const Decision& decision) {
  Out{out}.put(decision.id);
  append_body(out, decision.body);
}

Event BinaryReader::event() {
  In in{at_, end_};
  Event event;
  in.get(event.at);
  event.body = read_body<EventBody>(in);
  return event;
}

Decision BinaryReader::decision() {
  In in{at_, end_};
  Decision decision;
  in.get(decision.id);
  decision.body = read_body<DecisionBody>(in);
  return decision;
}

}  // namespace tandem
