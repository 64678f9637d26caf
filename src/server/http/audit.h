// Who changed what, and who was refused: one JSON object a line in a private file (mode 0600), for people and
// programs that look after a server. Nothing secret is in it: no token, no body, no query of an address.
//
//   {"at": "2026-11-18T07:00:00.123Z", "who": "user 1001", "user": 1001, "over": "unix",
//    "what": "POST /v1/jobs", "made": "/v1/jobs/7", "outcome": "done", "status": 201}
//
// At `most` bytes it begins anew; the four files before are kept (FILE.1 the newest). Refusals could be made to
// push everything else out, so of those a minute has 100 lines; `unwritten` of the next line counts the others.
// What cannot be written (a full disk) is told to `trouble`, once in a row. Thread-safe.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "platform/descriptor.h"

namespace tandem::server {

class Audit {
 public:
  static constexpr std::size_t kMost = 16 * 1024 * 1024;
  static constexpr int kFormer = 4, kRefusalsAMinute = 100;

  // Throws UserError where the file is not a private one of ours, or cannot be made.
  explicit Audit(std::filesystem::path file, std::function<void(const std::string&)> trouble = {},
                 std::size_t most = kMost);

  void changed(nlohmann::json line);
  void refused(nlohmann::json line);

 private:
  void write(nlohmann::json line);
  void rotate();
  void open();

  const std::filesystem::path file_;
  const std::function<void(const std::string&)> trouble_;
  const std::size_t most_;
  std::mutex mutex_;
  platform::Descriptor out_;
  std::chrono::steady_clock::time_point minute_{};
  int refusals_ = 0;
  std::size_t unwritten_ = 0;
  bool in_trouble_ = false;
};

}  // namespace tandem::server
