#include "runtime/common/task_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "platform/descriptor.h"

namespace tandem::runtime {
namespace {

constexpr off_t kTailBytes = 4096;
constexpr std::size_t kTailLines = 12;

}  // namespace

void make_task_folder(const std::filesystem::path& folder, const std::optional<platform::Credentials>& as) {
  std::filesystem::create_directories(folder);
  if (!as) return;
  const platform::Descriptor made(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made || ::fchmod(made.get(), 0700) != 0 || ::fchown(made.get(), as->user, as->group) != 0)
    throw_errno("giving " + folder.string() + " to user " + as->name);
}

void copy_checkpoints(const std::filesystem::path& from_task, const std::filesystem::path& to_task,
                      const std::optional<platform::Credentials>& as) {
  namespace fs = std::filesystem;
  if (fs::exists(to_task) || !fs::exists(from_task)) return;
  const fs::path beside = to_task.string() + ".new";
  fs::remove_all(beside);
  make_task_folder(beside, as);
  {
    const platform::FilesAs files(as);
    fs::copy(from_task, beside, fs::copy_options::recursive);
  }
  fs::rename(beside, to_task);
}

std::string tail_of(const std::string& output_file, off_t from) {
  platform::Descriptor file(::open(output_file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return "";
  const off_t end = ::lseek(file.get(), 0, SEEK_END);
  const off_t start = std::max(from, end - kTailBytes);
  if (end <= start) return "";
  std::string raw(static_cast<std::size_t>(end - start), '\0');
  const ssize_t got = ::pread(file.get(), raw.data(), raw.size(), start);
  raw.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!raw.empty() && raw.back() == '\n') raw.pop_back();
  std::size_t lines = 0, cut = raw.size();
  while (cut > 0 && lines < kTailLines) {
    cut = raw.rfind('\n', cut - 1);
    if (cut == std::string::npos) {
      cut = 0;
      break;
    }
    ++lines;
  }
  return printable(std::string_view(raw).substr(cut > 0 ? cut + 1 : 0));
}

void note(const std::filesystem::path& output_file, TaskId task, const std::string& line) {
  std::ofstream(output_file, std::ios::app) << "[tandem] task " << task << ": " << line << '\n';
}

}  // namespace tandem::runtime
