// What a program without SDK says of its epochs: bytes of its output or of a file it writes in, metrics of
// epochs out.
//
// Bytes come in pieces of any size. What is no metric is passed over; a line longer than kLongestLine counts
// as far as that. One user; pure. Patterns are std::regex: a cruel one or a cruel line can keep this process
// busy, and harms nobody else, since it belongs to the task (its user, its cgroup, its limits); limits.stall
// ends it.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "base/value.h"
#include "spec/job.h"

namespace tandem::adapter {

inline constexpr std::size_t kLongestLine = 4096;       // of output
inline constexpr std::size_t kLongestRecord = 1 << 20;  // of a file: a line of JSON or CSV, an event

class MetricsReader {
 public:
  virtual ~MetricsReader() = default;
  virtual void feed(std::string_view bytes) = 0;
  virtual void begin_again() {}  // the file was written anew
  virtual void end() {}          // nothing more comes: what was read last may be an epoch
  // The next epoch that ended; nullopt: none yet.
  std::optional<Metrics> take();

 protected:
  std::deque<Metrics> epochs_;
};

// Of its output, or of its metrics file in this format ("": output).
std::unique_ptr<MetricsReader> metrics_reader(const spec::Program&, const std::string& format);
// "jsonl", "csv" or "tensorboard", as said or as the file is called.
std::string format_of(const spec::Program&);

}  // namespace tandem::adapter
