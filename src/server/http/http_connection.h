// One client's connection, and what all of them share. Internal to the server: the only header that includes
// Boost.
//
// Everything here happens on the server's thread, except that a Question is run on the owner's.
#pragma once

#include <atomic>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "server/http/budget.h"
#include "server/http/service.h"

namespace tandem::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

inline std::chrono::nanoseconds duration(Seconds time) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(time.value * 1e9));
}

// A request on its way to the owner's thread. Either the owner takes it, or the server calls it off; never
// both.
struct Question {
  explicit Question(Admitted what) : admitted(std::move(what)) {}
  bool claim() { return !claimed_.exchange(true); }
  bool claimed() const { return claimed_; }

  Admitted admitted;

 private:
  std::atomic<bool> claimed_{false};
};

class Connection;

// What the connections share. Members in an order that lets what waits in `io` go before what it refers to.
struct Hub {
  Hub(Service& its_service, const Limits& its_limits);

  bool make_room();           // closes the one waited for longest; false: there is none
  void cut(const char* why);  // counts a connection that was closed on its client
  void joined(Connection*);
  void left(Connection*);  // may be said twice

  Service& service;
  const Limits limits;
  Gauge& connections;
  std::function<void()> wake;  // set: the owner's thread answers
  bool stopping = false;
  Budget budget;                 // of those who ask readers
  std::size_t body_bytes = 0;    // held by all
  std::size_t answer_bytes = 0;  // not taken yet by all
  std::set<Connection*> all;
  std::list<Connection*> waited_for;  // longest first: these may be closed any time
  asio::io_context questions;         // used as a queue between two threads, run by answer_pending()
  asio::io_context reads;             // the same to readers, where there are some
  bool has_readers = false;
  asio::io_context io;                                          // the server's thread
  asio::steady_timer last_call{io};                             // when stopping: who is still there is cut
  std::map<std::uint64_t, std::shared_ptr<Connection>> asking;  // by id: the owner's answer is to come
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = asio::generic::stream_protocol::socket;

  Connection(Hub&, Socket, Caller, std::uint64_t id);
  Connection(const Connection&) = delete;
  ~Connection();

  void start() { read_head(); }
  void stop();                               // ends at once when nothing is under way, else after the answer
  void close();                              // ends now; what is under way is lost
  void answered(const Question&, Response);  // nothing, unless that is what it asks now

 private:
  enum class Stage { head, body, handler, answer, linger };
  using Clock = std::chrono::steady_clock;

  void enter(Stage, Seconds at_most);
  void leave_line();
  void read_head();
  void on_head(error_code);
  Head describe() const;
  bool hold_body();
  void release_body();
  void say_continue();
  void read_body();
  void on_body(error_code);
  void ask();
  void ask_owner();
  bool over_budget();
  void no_answer(bool never_ran);
  void answered(const Response&, bool keep);
  void unreadable(error_code);
  void refuse(int status, const std::string& why);
  void answer(const Response&, bool keep);
  void owe(std::size_t bytes);
  void settle();
  void on_written(error_code);
  void linger();
  void discard();

  Hub& hub_;
  const std::uint64_t id_;
  beast::basic_stream<asio::generic::stream_protocol> stream_;
  asio::steady_timer timer_;  // for the owner's answer: the stream's own runs while it reads or writes only
  const Caller caller_;
  Stage stage_ = Stage::head;
  std::optional<std::list<Connection*>::iterator> in_line_;  // in hub_.waited_for
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response<http::empty_body>> go_on_;
  Admitted admitted_;
  std::shared_ptr<Question> question_;
  Exchange exchange_;
  Clock::time_point began_;
  std::size_t held_ = 0;       // of hub_.body_bytes
  std::size_t owed_ = 0;       // of hub_.answer_bytes
  std::size_t discarded_ = 0;  // bytes after a refusal
};

}  // namespace tandem::server
