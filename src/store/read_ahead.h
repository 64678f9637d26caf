// Reading ahead: what is read one after the other and then made into something, on threads of their own, handed
// over in order to this one. Folding a long journal and decoding it then take the time of the slower of the
// two, and decoding is shared by the cores.
//
// `next` is called by one thread at a time, `make` by several at once. What they throw comes out of `take`,
// after what was made before.
#pragma once

#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace tandem::store {

template <class Raw, class T>
class ReadAhead {
 public:
  static constexpr unsigned kMostThreads = 4;  // whoever takes has no more done by then
  static unsigned threads_here() { return std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads); }

  // `next`: none: there are no more.
  ReadAhead(std::function<std::optional<Raw>()> next, std::function<T(Raw&&)> make,
            unsigned threads = threads_here())
      : next_(std::move(next)), make_(std::move(make)) {
    sigset_t every_signal, before;
    sigfillset(&every_signal);
    pthread_sigmask(SIG_SETMASK, &every_signal, &before);  // signals are the main thread's business
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
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
    for (auto& thread : threads_) thread.join();
  }

  // Some more of them, in order; none: that was all.
  std::vector<T> take() {
    if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ready_.contains(taken_) || (done_ && taken_ == begun_); });
    if (!ready_.contains(taken_)) return {};
    Batch batch = std::move(ready_.extract(taken_).mapped());
    ++taken_;
    lock.unlock();
    changed_.notify_all();
    failed_ = batch.failed;
    if (failed_ && batch.made.empty()) return take();
    return std::move(batch.made);
  }

 private:
  static constexpr std::size_t kBatch = 128, kBatches = 16;  // so many are under way at most

  struct Batch {
    std::vector<Raw> raw{};
    std::vector<T> made{};
    std::exception_ptr failed{};  // after those
  };

  void work() {
    std::size_t number = 0;
    while (auto batch = read(number)) {
      try {
        for (auto& raw : batch->raw) batch->made.push_back(make_(std::move(raw)));
      } catch (...) {
        batch->failed = std::current_exception();  // of an earlier one than what `next` threw
      }
      batch->raw.clear();
      {
        const std::lock_guard lock(mutex_);
        ready_.emplace(number, std::move(*batch));
      }
      changed_.notify_all();
    }
  }

  // The next batch, not made yet, and its number; none: there are no more.
  std::optional<Batch> read(std::size_t& number) {
    const std::lock_guard reading(reading_);
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return begun_ < taken_ + kBatches || stopped_ || done_; });
      if (stopped_ || done_) return std::nullopt;
      number = begun_++;
    }
    Batch batch;
    bool more = true;
    try {
      while (more && batch.raw.size() < kBatch) {
        auto raw = next_();
        more = raw.has_value();
        if (more) batch.raw.push_back(std::move(*raw));
      }
    } catch (...) {
      batch.failed = std::current_exception();
      more = false;
    }
    if (!more) {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    return batch;
  }

  const std::function<std::optional<Raw>()> next_;
  const std::function<T(Raw&&)> make_;
  std::mutex reading_;  // one reads; taken before the other
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, Batch> ready_;  // by number
  std::size_t begun_ = 0, taken_ = 0;   // batches
  bool done_ = false, stopped_ = false;
  std::exception_ptr failed_;  // of whoever takes: for the next time
  std::vector<std::thread> threads_;
};

}  // namespace tandem::store
