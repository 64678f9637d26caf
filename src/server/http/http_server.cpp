#include "server/http/http_server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cassert>
#include <thread>

#include "base/error.h"
#include "server/http/http_connection.h"
#include "server/http/listener.h"

namespace tandem::server {
namespace {

constexpr std::size_t kOtherDescriptors = 128;  // for the rest of the process
constexpr int kAcceptsAtOnce = 64;              // then the connected ones get their turn
constexpr int kAnswersAtOnce = 64;              // then the owner gets on with its own work

Caller caller_of(int descriptor, const SocketAddress& peer, bool unix_socket) {
  Caller caller;
  caller.unix_socket = unix_socket;
  caller.loopback = unix_socket || peer.is_loopback();
  char host[NI_MAXHOST] = "";
  if (!unix_socket &&
      ::getnameinfo(peer.get(), peer.size, host, sizeof host, nullptr, 0, NI_NUMERICHOST) == 0)
    caller.from = host;
  ucred who{};
  socklen_t size = sizeof who;
  if (unix_socket && ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0)
    caller.user = who.uid;
  return caller;
}

// As few as the process may open, at least.
Limits possible(Limits limits, Log& log) {
  rlimit open_files{};
  if (::getrlimit(RLIMIT_NOFILE, &open_files) != 0) throw_errno("asking how many files may be open");
  const auto most = open_files.rlim_cur > 2 * kOtherDescriptors
                        ? static_cast<std::size_t>(open_files.rlim_cur) - kOtherDescriptors
                        : kOtherDescriptors;
  if (limits.connections > most) {
    log.warning("fewer connections than wished for",
                {{"wished", limits.connections}, {"possible", most}, {"raise", "ulimit -n"}});
    limits.connections = most;
  }
  return limits;
}

// A place where connections come in.
struct Door {
  Door(asio::io_context& io, Listener its_listener)
      : listener(std::move(its_listener)), descriptor(io), pause(io) {}
  ~Door() { shut(); }
  void shut() {
    if (descriptor.is_open()) descriptor.release();
    listener.close();
  }
  Listener listener;
  asio::posix::stream_descriptor descriptor;  // borrows the listener's
  asio::steady_timer pause;
};

}  // namespace

class HttpServer::Impl {
 public:
  Impl(ServerOptions options, Router router, Tokens tokens, Log& log, Metrics& metrics);
  ~Impl() { stop(); }

  std::vector<Address> addresses() const { return addresses_; }
  void answer_pending();
  void stop();

 private:
  void open(const Address&, mode_t);
  void run();
  void read();
  void wait_at(Door&);
  void accept_at(Door&);
  bool cannot_accept(Door&, int error);
  void welcome(int descriptor, Caller);
  void begin_stop();

  Log& log_;
  Service service_;
  Hub hub_;
  std::vector<std::unique_ptr<Door>> doors_;
  std::vector<Address> addresses_;
  std::uint64_t next_id_ = 1;
  bool answering_ = false;  // the owner's thread runs handlers
  std::thread thread_;
  asio::executor_work_guard<asio::io_context::executor_type> reads_to_come_{hub_.reads.get_executor()};
  std::vector<std::thread> readers_;
};

HttpServer::Impl::Impl(ServerOptions options, Router router, Tokens tokens, Log& log, Metrics& metrics)
    : log_(log),
      service_(std::move(router), std::move(tokens),
               {options.limits, options.host_names, {::geteuid(), options.others}, options.audit}, log,
               metrics),
      hub_(service_, possible(options.limits, log)) {
  hub_.wake = std::move(options.wake);
  hub_.has_readers = options.readers > 0;
  if (options.tcp) open(*options.tcp, 0);
  Address socket;
  socket.socket = options.socket;
  if (socket.is_unix()) open(socket, options.socket_mode);
  socket.socket = options.open_socket;
  if (socket.is_unix()) open(socket, 0666);
  if (doors_.empty()) throw UserError("the server has neither a port nor a socket to listen on; give it one");
  // Signals are the main thread's business.
  sigset_t every_signal, before;
  sigfillset(&every_signal);
  pthread_sigmask(SIG_SETMASK, &every_signal, &before);
  thread_ = std::thread([this] { run(); });
  for (int i = 0; i < options.readers; ++i) readers_.emplace_back([this] { read(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void HttpServer::Impl::open(const Address& address, mode_t mode) {
  auto door = std::make_unique<Door>(hub_.io, Listener::open(address, mode));
  door->descriptor.assign(door->listener.descriptor());
  addresses_.push_back(door->listener.address());
  log_.info("listening", {{"at", text(addresses_.back())}});
  wait_at(*door);
  doors_.push_back(std::move(door));
}

void HttpServer::Impl::run() {
  for (;;) {
    try {
      hub_.io.run();
      return;
    } catch (const std::exception& error) {  // no memory for one client: the others go on
      log_.error("a connection failed", {{"why", error.what()}});
    }
  }
}

void HttpServer::Impl::read() {
  for (;;) {
    try {
      hub_.reads.run();
      return;
    } catch (
        const std::exception& error) {  // no memory for an answer: its client is told that it took too long
      log_.error("an answer failed", {{"why", error.what()}});
    }
  }
}

void HttpServer::Impl::wait_at(Door& door) {
  door.descriptor.async_wait(asio::posix::stream_descriptor::wait_read, [this, &door](error_code error) {
    if (!error && !hub_.stopping) accept_at(door);
  });
}

void HttpServer::Impl::accept_at(Door& door) {
  const bool unix_socket = door.listener.address().is_unix();
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    SocketAddress peer;
    peer.size = sizeof peer.storage;
    const int descriptor =
        ::accept4(door.listener.descriptor(), peer.get(), &peer.size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor >= 0) {
      welcome(descriptor, caller_of(descriptor, peer, unix_socket));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (!cannot_accept(door, errno)) {
      return;
    }
  }
  wait_at(door);
}

// True: try again at once.
bool HttpServer::Impl::cannot_accept(Door& door, int error) {
  const bool full = error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
  if (!full) return true;  // that client left again
  if (hub_.make_room()) return true;
  const bool files = error == EMFILE || error == ENFILE;
  log_.warning("cannot accept", {{"why", files ? "too many open files; raise ulimit -n" : "out of memory"}});
  door.pause.expires_after(std::chrono::milliseconds(100));
  door.pause.async_wait([this, &door](error_code cancelled) {
    if (!cancelled && !hub_.stopping) wait_at(door);
  });
  return false;
}

void HttpServer::Impl::welcome(int descriptor, Caller caller) {
  if (hub_.all.size() >= hub_.limits.connections && !hub_.make_room()) {
    static constexpr std::string_view kFull =
        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    hub_.cut("full");
    [[maybe_unused]] const auto told = ::send(descriptor, kFull.data(), kFull.size(), MSG_NOSIGNAL);
    ::close(descriptor);
    return;
  }
  const int on = 1;
  if (!caller.unix_socket) ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  try {
    Connection::Socket socket(hub_.io);
    error_code error;
    socket.assign(asio::generic::stream_protocol(caller.unix_socket ? AF_UNIX : AF_INET, 0), descriptor,
                  error);
    if (error) ::close(descriptor);
    if (error) throw boost::system::system_error(error);
    std::make_shared<Connection>(hub_, std::move(socket), caller, next_id_++)->start();
  } catch (const std::exception& failed) {  // no memory for this one: the door stays open for others
    log_.error("a connection failed", {{"why", failed.what()}});
  }
}

void HttpServer::Impl::answer_pending() {
  answering_ = true;
  hub_.questions.restart();
  int answered = 0;
  while (answered < kAnswersAtOnce && hub_.questions.poll_one() > 0) ++answered;
  answering_ = false;
  if (answered == kAnswersAtOnce) asio::post(hub_.io, [this] { hub_.wake(); });
}

void HttpServer::Impl::begin_stop() {
  hub_.stopping = true;
  for (auto& door : doors_) {
    door->pause.cancel();
    door->shut();
  }
  for (Connection* connection : std::set<Connection*>(hub_.all)) connection->stop();
  if (hub_.all.empty()) return;
  hub_.last_call.expires_after(duration(hub_.limits.stop_time));
  hub_.last_call.async_wait([this](error_code everybody_left) {
    if (everybody_left) return;
    for (Connection* connection : std::set<Connection*>(hub_.all)) connection->close();
    hub_.asking.clear();
  });
}

void HttpServer::Impl::stop() {
  if (!thread_.joinable()) return;
  assert(thread_.get_id() != std::this_thread::get_id());
  assert(!answering_);
  if (hub_.wake) answer_pending();
  asio::post(hub_.io, [this] { begin_stop(); });
  thread_.join();
  hub_.reads.stop();
  for (auto& reader : readers_) reader.join();
  readers_.clear();
  log_.info("stopped");
}

HttpServer::HttpServer(ServerOptions options, Router router, Tokens tokens, Log& log, Metrics& metrics)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(router), std::move(tokens), log, metrics)) {}

HttpServer::~HttpServer() = default;

std::vector<Address> HttpServer::addresses() const {
  return impl_->addresses();
}

void HttpServer::answer_pending() {
  impl_->answer_pending();
}

void HttpServer::stop() {
  impl_->stop();
}

}  // namespace tandem::server
