// Arbitrary bytes as a target, as a JSON body and as the head of a request. Each is taken or refused
// (Refusal), nothing else; what is taken keeps the promises handlers rely on.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "server/http/json_body.h"
#include "server/http/service.h"

namespace {

using namespace tandem::server;

void require(bool holds) {
  if (!holds) std::abort();
}

std::string all_encoded(const std::string& text) {
  static const char* const digits = "0123456789abcdef";
  std::string out;
  for (const char c : text)
    out += {'%', digits[static_cast<unsigned char>(c) >> 4], digits[static_cast<unsigned char>(c) & 15]};
  return out;
}

// One way to write each path, and no way out of it.
void check_target(const std::string& bytes) {
  try {
    const Target target = parse_target(bytes);
    std::string again = target.parts.empty() ? "/" : "";
    for (const auto& part : target.parts) {
      require(!part.empty() && part != "." && part != "..");
      require(part.find_first_of(std::string_view("/\\\0\r\n", 5)) == std::string::npos);
      again += "/" + all_encoded(part);
    }
    char between = '?';
    for (const auto& [key, value] : target.query) {
      again += between + all_encoded(key) + "=" + all_encoded(value);
      between = '&';
    }
    const Target same = parse_target(again);
    require(same.parts == target.parts && same.query == target.query);
  } catch (const Refusal& refusal) {
    require(refusal.status == 400);
  }
}

std::size_t depth(const nlohmann::json& value) {
  std::size_t deepest = 0;
  for (const auto& item : value)
    if (item.is_structured()) deepest = std::max(deepest, depth(item));
  return deepest + (value.is_structured() ? 1 : 0);
}

void check_body(const std::string& bytes) {
  constexpr std::size_t kNesting = 5;
  try {
    const auto value = parse_json_body(bytes, kNesting);
    require(depth(value) <= kNesting);
    require(parse_json_body(value.dump(), kNesting) == value);
  } catch (const Refusal& refusal) {
    require(refusal.status == 400);
  }
}

// A service whose one route changes something, and what it logs.
struct Guarded {
  Guarded() : service(routes(), token, {}, log, metrics) {}
  static Router routes() {
    Router router;
    router.add("POST", "/v1/jobs/{job}", Need::change, [](const Request&) { return Response{}; });
    return router;
  }
  std::string logged;
  Log log{[this](std::string_view line) { logged = line; }, {Level::debug, 1'000'000'000, {}}};
  Metrics metrics;
  Token token = Token::make();
  Service service;
};

// The first byte chooses who asks, and whether the rest stands for all of the head or for a part of it.
void check_head(std::uint8_t choice, const std::string& bytes) {
  static Guarded guarded;
  Head head{.method = "POST", .target = "/v1/jobs/7", .host = {"localhost"}};
  head.caller = {(choice & 1) != 0, (choice & 2) != 0, 12345};
  if (choice & 4) head.target = "/v1/jobs/" + bytes;
  if (choice & 8) head.authorization = {"Bearer " + bytes};
  if (choice & 16) head.host = {bytes};
  if (choice & 32) head.method = bytes;
  const bool has_token = (choice & 64) != 0;
  if (has_token) head.authorization = {"Bearer " + guarded.token.reveal()};
  auto judged = guarded.service.admit(head);
  Exchange exchange{head.method, head.target, nullptr, 200, 0, head.caller, ""};
  if (const auto* admitted = std::get_if<Admitted>(&judged)) {
    require(has_token);
    require(plain_name(admitted->request.parameters.at("job")));
    require(guarded.service.handle(*admitted).status == 200);
  } else {
    exchange.status = std::get<Response>(judged).status;
    exchange.why = std::get<Response>(judged).why;
    require(exchange.status >= 400 && exchange.status < 500);
  }
  guarded.service.record(exchange);
  require(std::count(guarded.logged.begin(), guarded.logged.end(), '\n') == 1);
  require(nlohmann::json::accept(guarded.logged));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check_target(bytes);
  check_target("/" + bytes);
  check_body(bytes);
  if (size > 0) check_head(data[0], bytes.substr(1));
  return 0;
}
