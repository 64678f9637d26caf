// History: one folder with one SQLite file (tandem.db) and one folder a run (runs/ID: output, checkpoints,
// model).
//
// The journal of a run is append-only and the truth about it; the columns of `run` beside it (state, times)
// are a cache, written in the same transaction as the entry that changed them. Several processes may use one
// store; only the holder of a run's lock appends to its journal.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "control/ports.h"
#include "store/sqlite.h"

namespace tandem::store {

struct RunInfo {
  std::string id, kind, name;
  std::string spec;   // as JSON: a run killed before its first journal entry can be resumed too
  std::string state;  // running, finished, stopped, failed: as last journalled
  std::string reason;
  Seconds created, changed;
};

// Held while a process works on a run; let go when it ends, however it ends. The file names the owner for
// `tandem stop`.
class RunLock {
 public:
  // nullopt: another process holds it.
  static std::optional<RunLock> take(const std::filesystem::path& run_folder);
  // The pid of the process that holds it now, if any.
  static std::optional<int> owner(const std::filesystem::path& run_folder);

  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&&) noexcept;
  ~RunLock();

 private:
  explicit RunLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

// One task of an ended run, as advice wants it; `body` is the reader's own business.
struct PastRow {
  std::string program, body;
};

struct FoldedRun {
  RunInfo run;
  std::vector<PastRow> rows;
};

// What was predicted of a run before it ran.
struct Prediction {
  RunInfo run;
  std::int64_t job = 0;  // of a server's run
  std::string body;
};

// A job of a server that was archived; row and whole are JSON, the writer's own business.
struct ArchivedJob {
  std::int64_t job = 0;
  std::string name, state, row, whole;
};

// Which of them: newest first, or oldest first where `after` is given.
struct ArchivedQuery {
  std::optional<std::int64_t> before{}, after{};
  std::string state{};  // "": any
  std::int64_t limit = 1000;
};

class Store {
 public:
  // Creates the folder, for its owner alone, and brings an older store up to date. A folder that is there
  // keeps its mode; one that anybody may write is refused with a UserError. Throws SystemError with advice
  // when it cannot.
  //
  // `stop`, where given, ends what takes long: reading a journal through this store throws SystemError once
  // it is true. It must outlive the store.
  explicit Store(const std::filesystem::path& folder, const std::atomic<bool>* stop = nullptr);

  const std::filesystem::path& folder() const { return folder_; }
  // Says so when the folder lies on a network file system, where SQLite's locks cannot be trusted, or when
  // another user or a group may write it.
  std::optional<std::string> warning() const;

  RunInfo create_run(const std::string& kind, const std::string& name, const std::string& spec, Seconds now);
  std::vector<RunInfo> runs();  // newest first
  std::vector<RunInfo>
  running();  // of them servers, and those whose journal says so: quick, however many ended
  // By id, by an unambiguous beginning of it, by name (the newest), or "last". Throws UserError when there is
  // none.
  RunInfo find(const std::string& written);
  std::filesystem::path run_folder(const std::string& id) const { return folder_ / "runs" / id; }
  // `while_locked` is asked about once a second while another process keeps the store locked and something is
  // to be appended: false, and appending fails. Without it that fails after 15 s.
  std::unique_ptr<control::Journal> journal(const std::string& run,
                                            std::function<bool(const std::string& why)> while_locked = {});
  // Entries of its journal in which damage may go unseen: an earlier Tandem wrote them.
  std::int64_t without_checksum(const std::string& run);

  // The ground truth: what tuning jobs learned on machines of this type (empty: on all), oldest first, the
  // newest `most`. Jobs add to it by their Learn decisions, in the transaction of the journal entry.
  std::vector<KnownWorkload> knowledge(const std::string& machine, std::int64_t most = 2000);
  // Adds what came from elsewhere; the same source again adds nothing twice.
  void remember(const std::string& source, const std::vector<KnownWorkload>&, Seconds now);
  std::int64_t forget();  // all of it; how many there were
  // The run, its journal and its folder. The caller holds its lock.
  void remove(const std::string& run);

  // Rows for advice (past.cpp). Folding a journal takes milliseconds and there may be thousands: each is
  // folded once, and again when the run was resumed and has ended anew.
  // Those that have ended and were not folded since, oldest first. A server's journal changes whenever a job
  // ends and takes seconds once it is long, so a server that is older than kYoung counts only if much of its
  // life (kStale) is not in its rows yet; or, where no row of `program` is known, if kUnknown is not.
  static constexpr Seconds kYoung{600}, kUnknown{60};
  static constexpr double kStale = 0.02;
  std::vector<RunInfo> unfolded(const std::string& program = "");
  // In one transaction, which writes only what is not there yet: others wait for it.
  void keep_folded(const std::vector<FoldedRun>&);
  std::vector<std::string> past(const std::string& program);  // bodies, oldest first
  std::int64_t past_count(const std::string& program);        // how many that would be
  std::vector<std::string> past_programs();                   // by name
  void keep_prediction(const std::string& run, std::int64_t job, const std::string& body);
  std::vector<Prediction> predictions();  // newest first
  // Archived jobs (archived.cpp). Written before the journal says so: one that is there twice is the
  // journal's.
  void keep_archived(const std::string& run, const std::vector<ArchivedJob>&);
  std::vector<ArchivedJob> archived(const std::string& run, const ArchivedQuery&);  // without `whole`
  std::optional<ArchivedJob> archived_job(const std::string& run, std::int64_t job);
  // The newest of this name whose row is wanted.
  std::optional<std::int64_t> archived_called(const std::string& run, const std::string& name,
                                              const std::function<bool(const std::string& row)>& wanted);
  std::optional<std::string> fitted(const std::string& name);  // a model that was kept
  void keep_fitted(const std::string& name, const std::string& body);

 private:
  void migrate();
  std::optional<std::string> others_who_write() const;

  std::filesystem::path folder_;
  const std::atomic<bool>* stop_;
  Database database_;
};

}  // namespace tandem::store
