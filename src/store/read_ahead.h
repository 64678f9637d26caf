// Reading ahead: what is made one after the other on a thread of its own, handed over in order to this one.
// Folding a long journal and decoding it then take the time of the slower of the two.
//
// `next` runs on the other thread alone. What it throws comes out of `take`, after what was made before.
#pragma once

#include <signal.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace tandem::store {

template <class T>
class ReadAhead {
 public:
  // `next`: std::optional<T>(); none: there are no more.
  template <class Next>
  explicit ReadAhead(Next next) {
    sigset_t every_signal, before;
    sigfillset(&every_signal);
    pthread_sigmask(SIG_SETMASK, &every_signal, &before);  // signals are the main thread's business
    thread_ = std::thread([this, next = std::move(next)]() mutable { read(next); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // Some more of them, in order; none: that was all.
  std::vector<T> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty() || done_; });
    if (ready_.empty()) {
      if (failed_) std::rethrow_exception(failed_);
      return {};
    }
    auto out = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return out;
  }

 private:
  static constexpr std::size_t kBatch = 128, kBatches = 16;  // so many wait at most

  template <class Next>
  void read(Next& next) {
    try {
      bool more = true;
      while (more) {
        std::vector<T> batch;
        while (batch.size() < kBatch && more) {
          auto value = next();
          more = value.has_value();
          if (more) batch.push_back(std::move(*value));
        }
        if (!hand_over(std::move(batch))) return;
      }
      finish(nullptr);
    } catch (...) {
      finish(std::current_exception());
    }
  }
  bool hand_over(std::vector<T> batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ready_.size() < kBatches || stopped_; });
    if (stopped_) return false;
    if (!batch.empty()) ready_.push_back(std::move(batch));
    changed_.notify_all();
    return true;
  }
  void finish(std::exception_ptr failed) {
    const std::lock_guard lock(mutex_);
    failed_ = std::move(failed);
    done_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<T>> ready_;
  std::exception_ptr failed_;
  bool done_ = false, stopped_ = false;
  std::thread thread_;
};

}  // namespace tandem::store
