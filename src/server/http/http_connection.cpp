#include "server/http/http_connection.h"

#include <boost/asio/post.hpp>
#include <cassert>
#include <cmath>
#include <ctime>

#include "base/text.h"

namespace tandem::server {
namespace {

constexpr std::size_t kMostDiscarded = 4 * 1024 * 1024;

template <class Name>  // http::field, or words
std::vector<std::string> every(const http::fields& fields, const Name& name) {
  std::vector<std::string> out;
  const auto range = fields.equal_range(name);
  for (auto field = range.first; field != range.second; ++field) out.emplace_back(field->value());
  return out;
}

Seconds since_start() {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

Seconds processor_time() {  // of this thread
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return {static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec)};
}

std::string path_only(const std::string& target) {
  return target.substr(0, target.find('?'));
}

}  // namespace

Hub::Hub(Service& its_service, const Limits& its_limits)
    : service(its_service),
      limits(its_limits),
      connections(its_service.metrics().gauge("tandem_http_connections", "Clients connected")) {}

void Hub::joined(Connection* connection) {
  all.insert(connection);
  connections.set(static_cast<double>(all.size()));
}

void Hub::left(Connection* connection) {
  all.erase(connection);
  connections.set(static_cast<double>(all.size()));
  if (stopping && all.empty()) last_call.cancel();
}

bool Hub::make_room() {
  if (waited_for.empty()) return false;
  cut("crowded");
  waited_for.front()->close();
  return true;
}

void Hub::cut(const char* why) {
  service.metrics()
      .counter("tandem_http_connections_cut_total", "Connections closed on their client", {{"why", why}})
      .add();
}

Connection::Connection(Hub& hub, Socket socket, Caller caller, std::uint64_t id)
    : hub_(hub),
      id_(id),
      stream_(std::move(socket)),
      timer_(hub.io),
      caller_(caller),
      // What is read ahead of the parser has its bound, too.
      buffer_(std::max<std::size_t>(hub.limits.head, 8 * 1024) + 8 * 1024) {
  hub_.joined(this);
}

Connection::~Connection() {
  release_body();
  close();
}

void Connection::close() {
  leave_line();
  settle();
  timer_.cancel();
  stream_.close();  // whatever waits on it ends now
  hub_.left(this);
}

void Connection::stop() {
  if (stage_ == Stage::head || stage_ == Stage::linger) return close();
  if (stage_ == Stage::handler && question_ && question_->claim()) no_answer(true);
}

void Connection::leave_line() {
  if (in_line_) hub_.waited_for.erase(*in_line_);
  in_line_.reset();
}

// The time is for all of the stage, however often the client stirs.
void Connection::enter(Stage stage, Seconds at_most) {
  stage_ = stage;
  stream_.expires_after(duration(at_most));
  leave_line();
  // Who sends a body or waits for a handler was let in; the others can be sent away.
  if (stage != Stage::body && stage != Stage::handler)
    in_line_ = hub_.waited_for.insert(hub_.waited_for.end(), this);
}

void Connection::read_head() {
  enter(Stage::head, hub_.limits.head_time);
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(hub_.limits.head));
  parser_->body_limit(hub_.limits.body);
  exchange_ = {};
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](error_code error, std::size_t) { self->on_head(error); });
}

Head Connection::describe() const {
  const auto& request = parser_->get();
  Head head;
  head.method = std::string(request.method_string());
  head.target = std::string(request.target());
  head.version = static_cast<int>(request.version());
  head.lines = static_cast<std::size_t>(std::distance(request.begin(), request.end()));
  head.host = every(request, http::field::host);
  head.authorization = every(request, http::field::authorization);
  head.key = every(request, "Idempotency-Key");
  head.content_type = std::string(request[http::field::content_type]);
  for (const auto& encoding : every(request, http::field::transfer_encoding))
    head.transfer_encoding += (head.transfer_encoding.empty() ? "" : ", ") + encoding;
  head.has_body = parser_->chunked() || parser_->content_length().value_or(0) > 0;
  head.caller = caller_;
  return head;
}

void Connection::on_head(error_code error) {
  began_ = Clock::now();
  exchange_.caller = caller_;
  if (error) return unreadable(error);
  if (!stream_.socket().is_open()) return;  // closed to make room, just as its head came
  const Head head = describe();
  exchange_.method = head.method;
  exchange_.path = path_only(head.target);
  auto judged = hub_.service.admit(head, &exchange_.who);
  if (const auto* refusal = std::get_if<Response>(&judged)) return answer(*refusal, false);
  admitted_ = std::get<Admitted>(std::move(judged));
  exchange_.route = admitted_.route;
  if (!head.has_body) return ask();
  if (!hold_body()) return refuse(503, "the server holds too many large requests; try again in a moment");
  enter(Stage::body, hub_.limits.body_time);
  if (beast::iequals(parser_->get()[http::field::expect], "100-continue"))
    say_continue();
  else
    read_body();
}

// A chunked body does not say how long it will be: room for the longest is held.
bool Connection::hold_body() {
  const std::size_t size = parser_->content_length() ? *parser_->content_length() : hub_.limits.body;
  if (hub_.body_bytes + size > hub_.limits.bodies) return false;
  hub_.body_bytes += size;
  held_ = size;
  return true;
}

void Connection::release_body() {
  hub_.body_bytes -= held_;
  held_ = 0;
}

void Connection::say_continue() {
  go_on_.emplace(http::status::continue_, 11);
  http::async_write(stream_, *go_on_, [self = shared_from_this()](error_code error, std::size_t) {
    if (!error) self->read_body();
  });
}

void Connection::read_body() {
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](error_code error, std::size_t) { self->on_body(error); });
}

void Connection::on_body(error_code error) {
  if (error) return unreadable(error);
  admitted_.request.body = std::move(parser_->get().body());
  ask();
}

void Connection::ask() {
  stage_ = Stage::handler;
  if (hub_.wake) return ask_owner();
  enter(Stage::handler, hub_.limits.handler_time);
  if (const auto refused = hub_.service.prepare(admitted_)) return answer(*refused, parser_->keep_alive());
  answer(hub_.service.handle(admitted_), parser_->keep_alive());
}

// True: it asks too much, and will be told.
bool Connection::over_budget() {
  const auto& request = admitted_.request;
  const auto wait = hub_.budget.refused(client_of(caller_, request.who), request.who.role, since_start());
  if (!wait) return false;
  const auto seconds = std::to_string(static_cast<long>(std::ceil(wait->value)));
  const Refusal refusal(429, "too much was asked by " + client_of(caller_, request.who) + "; try again in " +
                                 seconds + " s, and for less",
                        {{"Retry-After", seconds}});
  enter(Stage::answer, hub_.limits.answer_time);
  timer_.expires_after(duration(std::min(*wait, hub_.limits.budget_time)));
  timer_.async_wait([self = shared_from_this(), answer = error_response(refusal)](error_code closed) {
    if (!closed) self->answer(answer, self->parser_->keep_alive());
  });
  return true;
}

void Connection::ask_owner() {
  if (hub_.stopping) return refuse(503, "the server is stopping; try again when it is back");
  const bool reads = hub_.has_readers && admitted_.route->need != Need::change;
  if (reads && hub_.limits.budgets && over_budget()) return;
  enter(Stage::handler, hub_.limits.handler_time);
  question_ = std::make_shared<Question>(std::move(admitted_));
  hub_.asking[id_] = shared_from_this();
  timer_.expires_after(duration(hub_.limits.handler_time));
  timer_.async_wait([self = shared_from_this(), question = question_](error_code error) {
    if (!error && self->question_ == question) self->no_answer(question->claim());
  });
  const auto answer = [&hub = hub_, id = id_, question = question_](Response response) {
    asio::post(hub.io, [&hub, id, question, answer = std::move(response)]() mutable {
      const auto found = hub.asking.find(id);
      if (found != hub.asking.end()) found->second->answered(*question, std::move(answer));
    });
  };
  const auto handle = [&hub = hub_, question = question_, answer] {
    if (question->claim()) answer(hub.service.handle(question->admitted));
  };
  const auto refused = [&hub = hub_, question = question_, answer] {  // true: that was the answer
    auto refusal = hub.service.prepare(question->admitted);
    if (refusal && question->claim()) answer(*std::move(refusal));
    return refusal.has_value();
  };
  const auto& route = *question_->admitted.route;
  if (reads) {
    const auto& request = question_->admitted.request;
    asio::post(hub_.reads, [&hub = hub_, question = question_, answer, client = client_of(caller_, request.who)] {
      const Seconds before = processor_time();
      const bool wanted = question->claim();
      Response response;
      if (wanted) response = hub.service.handle(question->admitted);
      const auto cost = processor_time() - before;
      asio::post(hub.io, [&hub, client, cost, bytes = response.body.size()] {
        if (hub.limits.budgets) hub.budget.charge(client, cost, bytes, since_start());
      });
      if (wanted) answer(std::move(response));
    });
  } else if (hub_.has_readers && route.prepare) {
    asio::post(hub_.reads, [&hub = hub_, question = question_, refused, handle] {
      if (question->claimed() || refused()) return;  // claimed: nobody waits for it any more
      asio::post(hub.questions, handle);
      hub.wake();
    });
  } else {  // all of it is the owner's
    asio::post(hub_.questions, [refused, handle] {
      if (!refused()) handle();
    });
    hub_.wake();
  }
}

void Connection::no_answer(bool never_ran) {
  answered(error_response(503, never_ran
                                   ? "the server is too busy or stopping, and did nothing about it; try again"
                                   : "the server is still at it, and did not end in time; look before you "
                                     "try again whether it took effect, or repeat a submission with the same "
                                     "Idempotency-Key"),
           never_ran && parser_->keep_alive());
}

// A late answer is nobody's: the connection may ask something else by now.
void Connection::answered(const Question& question, Response response) {
  if (question_.get() == &question) answered(response, parser_->keep_alive());
}

void Connection::answered(const Response& response, bool keep) {
  const auto self = shared_from_this();
  hub_.asking.erase(id_);
  question_.reset();
  timer_.cancel();
  answer(response, keep);
}

// The stream is of no use after a timeout; anything else the client may still be told.
void Connection::unreadable(error_code error) {
  if (error == http::error::end_of_stream || error == asio::error::operation_aborted) return;
  if (error == beast::error::timeout) return hub_.cut("slow");
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return refuse(431, "the first line and headers of the request have more than " +
                           std::to_string(hub_.limits.head) + " bytes");
  if (error == http::error::body_limit)
    return refuse(413, "the body has more than " + std::to_string(hub_.limits.body) + " bytes");
  const bool malformed = error.category() == http::make_error_code(http::error::bad_method).category();
  if (malformed) return refuse(400, "the request is not HTTP: " + error.message());
  hub_.cut("broken");
}

void Connection::refuse(int status, const std::string& why) {
  answer(error_response(status, why), false);
}

void Connection::answer(const Response& response, bool keep) {
  release_body();
  keep = keep && !hub_.stopping;
  exchange_.status = response.status;
  exchange_.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
  exchange_.why = response.why;
  if (const auto made = response.headers.find("Location"); made != response.headers.end())
    exchange_.made = made->second;
  hub_.service.record(exchange_);
  response_.emplace(static_cast<http::status>(response.status), parser_->get().version() == 10 ? 10 : 11);
  response_->set(http::field::content_type, response.content_type);
  response_->set(http::field::cache_control, "no-store");
  response_->set("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : response.headers) response_->set(name, value);
  response_->keep_alive(keep);
  response_->body() = response.body;
  response_->prepare_payload();
  owe(response_->body().size());
  enter(Stage::answer, hub_.limits.answer_time);
  http::async_write(stream_, *response_,
                    [self = shared_from_this()](error_code error, std::size_t) { self->on_written(error); });
}

// Many clients that take long answers slowly, or not at all, must not fill the memory.
void Connection::owe(std::size_t bytes) {
  leave_line();  // it is not this one that makes room
  while (hub_.answer_bytes + bytes > hub_.limits.answers && hub_.make_room()) continue;
  owed_ = bytes;
  hub_.answer_bytes += bytes;
}

void Connection::settle() {
  hub_.answer_bytes -= owed_;
  owed_ = 0;
}

void Connection::on_written(error_code error) {
  settle();
  if (error == beast::error::timeout) hub_.cut("slow");
  if (error) return;
  const bool keep = response_->keep_alive() && !hub_.stopping;
  response_.reset();
  if (keep) return read_head();
  linger();
}

// Closing with unread bytes would reset the connection, and the client might never see why it was refused.
void Connection::linger() {
  error_code ignored;
  stream_.socket().shutdown(Socket::shutdown_send, ignored);
  if (hub_.stopping) return close();
  enter(Stage::linger, hub_.limits.linger_time);
  parser_.reset();
  buffer_.consume(buffer_.size());
  discard();
}

void Connection::discard() {
  stream_.async_read_some(buffer_.prepare(8 * 1024),
                          [self = shared_from_this()](error_code error, std::size_t size) {
                            self->discarded_ += size;
                            if (!error && self->discarded_ < kMostDiscarded) self->discard();
                          });
}

}  // namespace tandem::server
