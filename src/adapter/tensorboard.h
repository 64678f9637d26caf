// TensorBoard's event files: scalars by tag and step. Everything under one step is one epoch, once a later
// step begins or, where tags are named, once all of them are there. Checksums are not looked at: a torn file
// is read again when it has grown.
#pragma once

#include <map>
#include <string>

#include "adapter/metrics.h"

namespace tandem::adapter {

class TensorBoard final : public MetricsReader {
 public:
  // By name: its tag. Empty: every scalar.
  explicit TensorBoard(std::map<std::string, std::string> tags) : tags_(std::move(tags)) {}

  void feed(std::string_view bytes) override;
  void begin_again() override { pending_.clear(); }
  void end() override { close(); }

 private:
  void event(std::string_view);
  void close();

  std::map<std::string, std::string> tags_;
  std::string pending_;  // the beginning of a record
  bool broken_ = false;  // it is no such file
  std::int64_t step_ = -1;
  Metrics values_;
};

}  // namespace tandem::adapter
