#include "server/http/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace tandem::server {
namespace {

// What a handler that failed is answered with.
constexpr const char* kNotDone = "the server could not do it; its log says why";
constexpr const char* kPerhapsDone =
    "the server failed at it, and its log says why; it may have taken effect: look before you try again, or "
    "repeat a submission with the same Idempotency-Key";

const std::vector<double> kSeconds{0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30};

// A client chooses its method freely; a label must not grow with it.
std::string method_label(const std::string& method) {
  static const std::set<std::string> known{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
  return known.contains(method) ? method : "other";
}

bool breaks_a_line(const std::string& text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
}

bool is_key(const std::string& key) {
  return !key.empty() && key.size() <= 64 &&
         key.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
             std::string::npos;
}

// A header that ends its line early would let its writer add headers of their own.
void check_answer(const Response& response) {
  if (response.status < 200 || response.status > 599) throw std::logic_error("a status that is none");
  if (breaks_a_line(response.content_type)) throw std::logic_error("a content type with a line break");
  for (const auto& [name, value] : response.headers)
    if (breaks_a_line(name) || breaks_a_line(value)) throw std::logic_error("a header with a line break");
}

}  // namespace

Service::Service(Router router, Tokens tokens, Options options, Log& log, Metrics& metrics)
    : router_(std::move(router)),
      tokens_(std::move(tokens)),
      options_(std::move(options)),
      log_(log),
      metrics_(metrics) {
  log_.hide(tokens_.operators().reveal());
}

std::variant<Admitted, Response> Service::admit(const Head& head, Identity* who) {
  Identity found;
  try {
    return judge(head, who ? *who : found);
  } catch (const Refusal& refusal) {
    return error_response(refusal);
  }
}

void Service::check_shape(const Head& head) const {
  const Limits& limits = options_.limits;
  if (head.version != 10 && head.version != 11) throw Refusal(505, "this server speaks HTTP/1.0 and 1.1");
  if (head.target.size() > limits.target)
    throw Refusal(414, fmt::format("the address asked for has more than {} bytes", limits.target));
  if (head.lines > limits.headers)
    throw Refusal(431, fmt::format("the request has more than {} headers", limits.headers));
  if (head.host.size() > 1 || head.authorization.size() > 1 || head.key.size() > 1)
    throw Refusal(400, "the request gives Host, Authorization or Idempotency-Key twice");
  if (!head.key.empty() && !is_key(head.key.front()))
    throw Refusal(400, "an Idempotency-Key has 1 to 64 letters, digits and - _");
  if (head.host.empty() && head.version == 11) throw Refusal(400, "the request has no Host header");
  if (!head.transfer_encoding.empty() && head.transfer_encoding != "chunked")
    throw Refusal(501, "of the transfer encodings this server knows chunked only");
  if (head.has_body && head.method == "GET") throw Refusal(400, "a GET has no body");
}

ShownToken Service::shown_token(const Head& head) const {
  if (head.authorization.empty()) return {};
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view given = head.authorization.front();
  if (!given.starts_with(kBearer)) return {.shown = true};
  return {true, tokens_.holder(given.substr(kBearer.size()))};
}

Admitted Service::judge(const Head& head, Identity& who) const {
  check_shape(head);
  const bool browser_like = !head.caller.unix_socket && head.caller.loopback && !head.host.empty();
  if (browser_like && !host_is_ours(head.host.front(), options_.host_names))
    throw Refusal(403, "the Host header '" + printable(head.host.front(), 60) +
                           "' is not this machine; use 127.0.0.1 or localhost");
  Target target = parse_target(head.target);
  Match match = router_.find(head.method, target);
  who = identified(head.caller, shown_token(head), options_.rights);
  if (const auto refused = access_refused(match.route->need, who, head.caller)) throw *refused;
  Admitted admitted{match.route, {}};
  admitted.request.method = head.method;
  admitted.request.path = target.path();
  admitted.request.parameters = std::move(match.parameters);
  admitted.request.query = std::move(target.query);
  admitted.request.content_type = head.content_type;
  if (!head.key.empty()) admitted.request.key = head.key.front();
  admitted.request.caller = head.caller;
  admitted.request.who = who;
  return admitted;
}

template <class Answer>
Response Service::guarded(const Admitted& admitted, const char* failed, const Answer& answer) {
  try {
    return answer();
  } catch (const Refusal& refusal) {
    return error_response(refusal);
  } catch (const UserError& error) {
    return error_response(400, error.what());
  } catch (const std::exception& error) {
    log_.error("handler failed", {{"route", admitted.route->pattern}, {"why", error.what()}});
    return error_response(500, failed);
  }
}

std::optional<Response> Service::prepare(Admitted& admitted) {
  if (!admitted.route->prepare) return std::nullopt;
  bool done = false;
  auto refused = guarded(admitted, kNotDone, [&] {
    admitted.request.prepared = admitted.route->prepare(admitted.request);
    done = true;
    return Response{};
  });
  if (done) return std::nullopt;
  return refused;
}

Response Service::handle(const Admitted& admitted) {
  return guarded(admitted, admitted.route->need == Need::change ? kPerhapsDone : kNotDone, [&] {
    Response response = admitted.route->handler(admitted.request);
    check_answer(response);
    return response;
  });
}

// Changes, whatever became of them, and whoever may not ask what they asked.
void Service::audit(const Exchange& exchange) const {
  const bool refused = exchange.status == 401 || exchange.status == 403;
  const bool change = exchange.route && exchange.route->need == Need::change;
  if (!options_.audit || (!refused && !change)) return;
  nlohmann::json line{{"who", exchange.who.name.empty() ? "unknown" : exchange.who.name},
                      {"over", exchange.caller.unix_socket ? "unix" : "tcp"},
                      {"what", printable(exchange.method, 20) + " " + printable(exchange.path, 200)},
                      {"outcome", refused ? "refused" : exchange.status < 300 ? "done" : "failed"},
                      {"status", exchange.status}};
  if (const auto user = exchange.who.user ? exchange.who.user : exchange.caller.user) line["user"] = *user;
  if (!exchange.made.empty()) line["made"] = exchange.made;
  if (!exchange.why.empty()) line["why"] = printable(exchange.why, 300);
  refused ? options_.audit->refused(std::move(line)) : options_.audit->changed(std::move(line));
}

void Service::record(const Exchange& exchange) {
  audit(exchange);
  const std::string route = exchange.route ? exchange.route->pattern : "none";
  metrics_
      .counter("tandem_http_requests_total", "Requests answered",
               {{"method", method_label(exchange.method)},
                {"route", route},
                {"status", std::to_string(exchange.status)}})
      .add();
  metrics_
      .histogram("tandem_http_request_seconds", "From the end of a request's head to its answer", kSeconds,
                 {{"route", route}})
      .observe(exchange.seconds);
  Level level = Level::debug;
  if (exchange.status >= 400)
    level = Level::warning;
  else if (exchange.route && exchange.route->need == Need::change)
    level = Level::info;
  // The path without its query: people put secrets there.
  Fields fields{{"method", printable(exchange.method, 20)},
                {"path", printable(exchange.path, 200)},
                {"status", exchange.status},
                {"seconds", exchange.seconds},
                {"over", exchange.caller.unix_socket ? "unix" : "tcp"}};
  if (exchange.caller.user) fields["user"] = *exchange.caller.user;
  if (!exchange.why.empty()) fields["why"] = exchange.why;
  log_.write(level, "request", fields);
}

}  // namespace tandem::server
