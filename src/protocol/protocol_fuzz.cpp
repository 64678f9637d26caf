// Both directions of the codec and the line reader on arbitrary bytes. What parses must survive being written
// and read again; what does not must be a ProtocolError; where a stream is cut must not matter.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "protocol/message.h"

namespace {

using namespace tandem::protocol;

void require(bool holds) {
  if (!holds) std::abort();
}

template <class Parse>
void check_round_trip(std::string_view bytes, Parse parse) {
  try {
    const auto message = parse(bytes);
    std::string written = line(message);
    require(written.find('\n') == written.size() - 1);
    written.pop_back();
    require(parse(written) == message);
  } catch (const ProtocolError&) {
  }
}

std::vector<std::string> lines_of(std::string_view stream, std::size_t piece) {
  LineReader reader;
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    reader.feed(stream.substr(at, piece));
    while (auto line = reader.next()) lines.push_back(*line);
  }
  return lines;
}

// A message around the bytes, so that short runs reach the fields behind the type.
std::string inside_a_message(std::string_view bytes, std::uint8_t which) {
  static const char* const openings[] = {
      R"({"type":"epoch","metrics":{)",
      R"({"type":"hello","version":1,)",
      R"({"type":"answer","stop":false,"checkpoint":true,)",
      R"({"type":"begin","version":1,"task":"t","attempt":1,"epochs":2,"reported":0,"seed":1,"folder":"/x",)"
      R"("keep_checkpoints":2,"system":{"cores":1,"memory":0,"speed":1},"hyper":{)",
  };
  static const char* const endings[] = {"}}", "}", "}", "}}"};
  return openings[which % 4] + std::string(bytes) + endings[which % 4];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_round_trip(bytes, parse_from_program);
  check_round_trip(bytes, parse_from_tandem);
  if (size > 0) {
    const std::string message = inside_a_message(bytes.substr(1), data[0]);
    check_round_trip(message, parse_from_program);
    check_round_trip(message, parse_from_tandem);
  }
  const std::size_t piece = size == 0 ? 1 : 1 + data[0] % 7;
  require(lines_of(bytes, piece) == lines_of(bytes, size + 1));
  return 0;
}
