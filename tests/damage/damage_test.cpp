// Journals that a disk, or a hand, has changed so that their checksums are right: entries with other bits,
// lost, doubled or in another order. Whoever reads them gets an error with a message, or an answer; never an abort.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/results.h"
#include "app/runs.h"
#include "base/error.h"
#include "base/random.h"
#include "control/loop.h"
#include "control/memory_journal.h"
#include "event/binary.h"
#include "event/consistency.h"
#include "platform/temporary.h"
#include "report/result_table.h"

namespace tandem {
namespace {

using control::Entry;
using Entries = std::vector<Entry>;
namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // it takes terabytes of addresses
#else
constexpr bool kSanitized = false;
#endif

struct Sample {
  std::string name;
  store::RunInfo run;
  Entries entries;
};

// Every run that an earlier Tandem left in tests/stores.
std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (const auto& kept : fs::directory_iterator(TEST_STORES)) {
    if (!fs::exists(kept.path() / "store.sql")) continue;
    const platform::TemporaryFolder folder("tandem-damage");
    std::ostringstream sql;
    sql << std::ifstream(kept.path() / "store.sql").rdbuf();
    { store::Database(folder.path() / "tandem.db").execute("PRAGMA foreign_keys=OFF;" + sql.str()); }
    store::Store store(folder.path());
    for (const auto& run : store.runs()) {
      Sample sample{kept.path().filename().string() + "/" + run.name, run, {}};
      store.journal(run.id)->replay([&](Entry&& entry) { sample.entries.push_back(std::move(entry)); });
      out.push_back(std::move(sample));
    }
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

std::string bytes_of(const Entry& entry) {
  std::string bytes;
  append_binary(bytes, entry.event);
  for (const auto& decision : entry.decisions) append_binary(bytes, decision);
  return bytes;
}

Entry entry_from(std::int64_t number, const std::string& bytes) {
  BinaryReader reader({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  Entry entry{number, reader.event(), {}};
  while (!reader.done()) entry.decisions.push_back(reader.decision());
  return entry;
}

Entry with_flipped_bits(const Entry& entry, Random& random) {
  auto bytes = bytes_of(entry);
  for (auto left = 1 + random.below(3); left > 0; --left)
    bytes[random.below(bytes.size())] ^= static_cast<char>(1U << random.below(8));
  return entry_from(entry.number, bytes);
}

// A few changes, each at a place of its own.
Entries damaged(Entries entries, Random& random) {
  for (auto left = 1 + random.below(3); left > 0 && entries.size() > 2; --left) {
    const auto at = random.below(entries.size()), other = random.below(entries.size());
    const auto here = entries.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random.below(6)) {
      case 0:
        entries.erase(here);
        break;
      case 1:
        entries.insert(here, Entry(entries[other]));
        break;
      case 2:
        std::swap(entries[at], entries[other]);
        break;
      case 3:
        if (!here->decisions.empty())
          here->decisions.erase(here->decisions.begin() +
                                static_cast<std::ptrdiff_t>(random.below(here->decisions.size())));
        break;
      default:
        *here = with_flipped_bits(*here, random);
    }
  }
  std::int64_t number = 0;
  for (auto& entry : entries) entry.number = ++number;
  return entries;
}

// Nothing joins and nothing happens: a resume gets as far as it must to have read the journal and reconciled.
class EmptyWorld final : public control::World {
 public:
  control::Capabilities capabilities() const override { return {}; }
  Seconds now() override { return Seconds{2e9}; }
  std::vector<NodeJoined> nodes() override { return {}; }
  void carry_out(const Decision&, const View&) override {}
  std::vector<Event> wait(Seconds) override { return {}; }
  std::vector<Event> reconcile(const View&) override { return {}; }
};

void read_in_every_way(const store::RunInfo& run, const Entries& entries) {
  const auto each_way = {
      +[](const store::RunInfo& of, control::Journal& journal) {  // show, report, queue
        View view;
        view.keeps_all = true;
        journal.replay([&](Entry&& entry) { apply_checked(view, entry.event, entry.decisions); });
        if (view.jobs.empty() || app::is_server(of)) return;
        const app::TaskFolders folders("/nowhere");
        const auto result = app::result_json(of, view, folders);
        (void)result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        (void)report::result_table(of, view, folders, true, false);
      },
      +[](const store::RunInfo& of, control::Journal& journal) {  // resume
        EmptyWorld world;
        control::Loop loop({world, journal}, app::policies_of(of));
        loop.open();
      },
      +[](const store::RunInfo& of, control::Journal& journal) {  // show --verify
        control::first_difference(app::policies_of(of), journal);
      }};
  for (const auto way : each_way) try {
      control::MemoryJournal journal;
      journal.append(entries);
      way(run, journal);
    } catch (const SystemError&) {
    } catch (const UserError&) {
    }
}

// In a process of its own, so that one that aborts, hangs or eats all memory is counted like any other.
std::string end_of(const Sample& sample, std::uint64_t seed) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit memory{std::uint64_t{4} << 30, std::uint64_t{4} << 30}, core{0, 0};
    if (!kSanitized) ::setrlimit(RLIMIT_AS, &memory);
    ::setrlimit(RLIMIT_CORE, &core);
    ::alarm(60);
    try {
      Random random(seed, hash_name(sample.name));
      read_in_every_way(sample.run, damaged(sample.entries, random));
    } catch (const SystemError&) {
    } catch (const UserError&) {
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      ::_exit(3);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : "exception";
}

TEST(Damage, AWholeJournalIsConsistent) {
  const auto all = samples();
  EXPECT_GT(all.size(), 10U);
  for (const auto& sample : all) {
    SCOPED_TRACE(sample.name);
    EXPECT_NO_THROW(read_in_every_way(sample.run, sample.entries));
    View view;
    for (const auto& entry : sample.entries)
      EXPECT_NO_THROW(apply_checked(view, entry.event, entry.decisions)) << "entry " << entry.number;
  }
}

TEST(Damage, ADamagedJournalIsToldAndNeverAnAbort) {
  const char* asked = std::getenv("TANDEM_DAMAGES");  // more of them than in every build
  const std::uint64_t seeds = asked ? std::strtoull(asked, nullptr, 10) : 40;
  for (const auto& sample : samples())
    for (std::uint64_t seed = 0; seed < seeds; ++seed)
      EXPECT_EQ(end_of(sample, seed), "") << sample.name << ", seed " << seed;
}

}  // namespace
}  // namespace tandem
