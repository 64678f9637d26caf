// Ends the process as soon as Tandem's end of the socket is closed, whatever this process is doing: a worker
// that nobody hears must not go on using cores that are somebody else's by now. Checkpoints are atomic, so it
// may happen anywhere. A thread of its own that sleeps in poll and reads nothing.
#pragma once

#include <atomic>
#include <thread>

namespace tandem::trainer {

// The descriptor in TANDEM_SOCKET; protocol::Client::connect has checked it.
int socket_of_environment();

class HangUpWatch {
 public:
  explicit HangUpWatch(int descriptor);
  ~HangUpWatch();  // ends the thread
  HangUpWatch(const HangUpWatch&) = delete;
  HangUpWatch& operator=(const HangUpWatch&) = delete;

  // From now on a hang-up changes nothing.
  void disarm() const { armed_ = false; }

 private:
  void watch(int descriptor);

  mutable std::atomic<bool> armed_ = true;
  int wake_ = -1;  // an eventfd that ends the thread
  std::thread thread_;
};

}  // namespace tandem::trainer
