// The lines between Tandem and a program it runs (docs/protocol.md), as values.
//
// JSON objects, one a line, over a socket the program inherits; its number is in TANDEM_SOCKET. Both ends use
// this codec: the trainer (through client.h) and the local world. Decoding never trusts the other side: what
// is too long, not JSON, of an unknown type, or carries a number that is not finite comes back as a
// ProtocolError that says so. Keys nobody knows are ignored, so that a newer side can say more. Functions are
// pure; a LineReader has one user.
//
// Invariant: parse_from_program(line(x)) == x and parse_from_tandem(line(x)) == x for every x that parses at
// all.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/resources.h"
#include "base/value.h"

namespace tandem::protocol {

inline constexpr int kVersion = 1;
inline constexpr std::size_t kLongestLine = 1 << 20;
inline constexpr std::size_t kMostMetrics = 256;
inline constexpr std::size_t kLongestName = 128;  // of a metric, a hyperparameter or a thing it can change
inline constexpr int kToldToStop = 3;             // exit status of `tandem tell` that heard: no more epochs

struct ProtocolError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ---- program to Tandem ----

// First line of a program. One that skips it (a shell script with `tandem tell`) can change nothing by itself
// and has no checkpoints.
struct Hello {
  int version = kVersion;
  std::vector<std::string> can;  // what it can change by itself: "threads", "batch"
  // The last epoch it could resume from, 0 before the first; none: it keeps no checkpoints.
  std::optional<std::int64_t> durable_epoch;
  bool operator==(const Hello&) const = default;
};

// An epoch ended. The checkpoint of the epoch, where there is one, is on disk before this is sent.
struct Epoch {
  std::optional<std::int64_t> number;  // counts from 1; left out: the next one
  Metrics metrics;                     // may be NaN or infinite
  // In the first report after `ready`: what passed since, by the program's own clock. Nobody need be there to
  // hear `ready` at once.
  std::optional<Seconds> since_ready{};
  // The hyperparameters it has looked at so far, where it knows and there are more than when it last said so.
  std::vector<std::string> hyper_read{};
  // A JSON object: what it has imported, where Tandem wants to know (docs/preload.md); empty: it does not say.
  std::string loaded{};
  bool operator==(const Epoch&) const = default;
};

// What came before was start-up: imports, data. Optional, before the first epoch; nothing answers it. Without
// it, start-up is part of the first epoch.
struct Ready {
  bool operator==(const Ready&) const = default;
};

// So much of the epoch is done. Optional, as often as the program likes; nothing answers it. With it, GPU
// settings are tried on slices of an epoch instead of whole ones.
struct Progress {
  double share = 0;  // of the epoch: above 0, at most 1
  bool operator==(const Progress&) const = default;
};

// Answers `checkpoint: true`.
struct Checkpointed {
  std::int64_t epoch = 0;
  bool operator==(const Checkpointed&) const = default;
};

// ---- Tandem to program ----

// Answers Hello.
struct Begin {
  int version = kVersion;
  std::string task;  // names the task for logs: "run 20261115-043000-7f3a, task 0"
  std::int64_t attempt = 1;
  std::int64_t epochs = 1;    // the most it may run
  std::int64_t reported = 0;  // epochs Tandem has counted: an epoch after these is reported even when it was
                              // trained by an earlier attempt, from the metrics in the checkpoint
  std::int64_t seed = 1;
  std::string folder;  // the task's own folder: checkpoints and the model go here
  std::int64_t keep_checkpoints = 2;
  Values hyper;
  Resources system;
  double drop = 0;  // share of each epoch's work it may leave out; 0: none (docs/protocol.md)
  bool cloned =
      false;  // its folder holds another trial's checkpoint: go on from it with these hyperparameters
  bool operator==(const Begin&) const = default;
};

// Answers Epoch, once what it reported is durable.
struct Answer {
  bool stop = false;
  bool checkpoint = false;                           // take one now, and say so with Checkpointed
  std::optional<Resources> system;                   // changed: adapt to it
  std::optional<std::int64_t> epoch = std::nullopt;  // the one this answers: at Begin.epochs it was the last
  bool operator==(const Answer&) const = default;
};

// Answers a line that breaks the contract: the attempt has failed, and is ended soon.
struct Refusal {
  std::string reason;
  bool operator==(const Refusal&) const = default;
};

using FromProgram = std::variant<Hello, Epoch, Checkpointed, Ready, Progress>;
using FromTandem = std::variant<Begin, Answer, Refusal>;

// From a line without its newline; throws ProtocolError.
FromProgram parse_from_program(std::string_view line);
FromTandem parse_from_tandem(std::string_view line);

// A line with its newline; throws ProtocolError for what JSON cannot hold (text that is not UTF-8). A metric
// that is not finite is written as the word "NaN", "Infinity" or "-Infinity", which the other side refuses by
// name.
std::string line(const FromProgram&);
std::string line(const FromTandem&);

// Cuts a stream of bytes into lines, whatever pieces they arrive in. Take lines after each feed: what waits
// is bounded by one line and one piece.
class LineReader {
 public:
  void feed(std::string_view bytes);
  // The next whole line without its newline; throws ProtocolError when a line is longer than kLongestLine.
  std::optional<std::string> next();

 private:
  std::string pending_;
  std::size_t start_ = 0;    // of the next line
  std::size_t scanned_ = 0;  // no newline between start_ and here
};

}  // namespace tandem::protocol
