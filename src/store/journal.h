// The journal of one run in the store's SQLite file; see control::Journal for the contract.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "control/ports.h"

namespace tandem::store {

// A record of the ground truth: run or source, its number there, machine, time, body, whose. A second one of the
// same run and number is ignored.
inline constexpr const char* kInsertKnowledge =
    "INSERT OR IGNORE INTO knowledge(run, decision, machine, learned, body, owner) VALUES(?, ?, ?, ?, ?, ?)";
inline constexpr std::int64_t kNobody = -1;  // where an owner is asked for: the store's user

// Asked about once a second while another process keeps the store locked: false, and appending fails.
using WhileLocked = std::function<bool(const std::string& why)>;

// `run` is the run's number in the table of runs; `stop` as in Store. Without `locked` it waits for 15 s.
std::unique_ptr<control::Journal> make_journal(const std::filesystem::path& file, std::int64_t run,
                                               const std::atomic<bool>* stop = nullptr,
                                               WhileLocked locked = {});
// The same in a file that may not grow beyond `pages`: to tests it is a full disk.
std::unique_ptr<control::Journal> make_limited_journal(const std::filesystem::path& file, std::int64_t run,
                                                       int pages);

}  // namespace tandem::store
