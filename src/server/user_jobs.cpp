#include "server/user_jobs.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mutex>

#include "base/error.h"

namespace tandem::server {
namespace fs = std::filesystem;
namespace {

constexpr mode_t kPass = 0711;

// What was made before there were others: files with the mode of that time.
void close_rest(const fs::path& folder, const fs::path& but) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    struct stat about {};
    if (entry.path() == but || ::lstat(entry.path().c_str(), &about) != 0) continue;
    const bool kind = S_ISREG(about.st_mode) || S_ISDIR(about.st_mode);
    if (!kind || about.st_uid != ::geteuid() || (about.st_mode & 077) == 0) continue;
    if (::chmod(entry.path().c_str(), about.st_mode & 07700) != 0)
      throw_errno("making " + entry.path().string() + " private");
  }
}

}  // namespace

void open_way(const fs::path& store, const fs::path& run_folder, const platform::Credentials& user) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const fs::path runs = run_folder.parent_path();
  const std::pair<fs::path, fs::path> way[]{{store, runs}, {runs, run_folder}, {run_folder, {}}};
  for (const auto& [folder, next] : way) {
    struct stat about {};
    if (::stat(folder.c_str(), &about) != 0) throw_errno("looking at " + folder.string());
    if ((about.st_mode & 07777) == kPass) continue;
    close_rest(folder, next);
    if (::chmod(folder.c_str(), kPass) != 0) throw_errno("letting users through " + folder.string());
  }
  if (!platform::may_enter(user, run_folder.string()))
    throw UserError(
        fmt::format("jobs of user {} cannot run here: they may not enter the server's store {}; start the server "
                    "with --store in a folder that users can pass, such as /var/lib/tandem",
                    user.name, store.string()));
}

}  // namespace tandem::server
