#include "runtime/common/task_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "platform/plain_file.h"

namespace tandem::runtime {
namespace {

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
  if (fs::exists(fs::symlink_status(to_task)) || !fs::exists(fs::symlink_status(from_task))) return;
  const fs::path beside = to_task.string() + ".new";
  fs::remove_all(beside);
  make_task_folder(beside, as);
  try {
    const platform::FilesAs files(as);
    platform::copy_plain_tree(from_task, beside,
                              [](const std::string& name) { return !name.starts_with("output.log"); });
  } catch (const SystemError&) {  // a full disk: half of it would be in the way
    fs::remove_all(beside);
    throw;
  }
  fs::rename(beside, to_task);
}

std::string last_lines(std::string_view raw) {
  while (!raw.empty() && raw.back() == '\n') raw.remove_suffix(1);
  std::size_t lines = 0, cut = raw.size();
  while (cut > 0 && lines < kTailLines) {
    cut = raw.rfind('\n', cut - 1);
    if (cut == std::string::npos) {
      cut = 0;
      break;
    }
    ++lines;
  }
  return printable(raw.substr(cut > 0 ? cut + 1 : 0));
}

std::string tail_of(const std::filesystem::path& output_file, off_t from) {
  try {
    const auto file = platform::open_plain(output_file.parent_path(), output_file.filename(), O_RDONLY);
    if (!file) return "";
    const off_t end = ::lseek(file.get(), 0, SEEK_END);
    const off_t start = std::max(from > end ? 0 : from, end - static_cast<off_t>(kLastBytes));  // it was rotated
    if (end <= start) return "";
    std::string raw(static_cast<std::size_t>(end - start), '\0');
    const ssize_t got = ::pread(file.get(), raw.data(), raw.size(), start);
    raw.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return last_lines(raw);
  } catch (const SystemError& error) {
    return error.what();
  }
}

void note(const std::filesystem::path& output_file, TaskId task, const std::string& line) {
  try {
    const auto folder = platform::open_plain_folder(output_file.parent_path(), "");
    if (!folder) return;
    const auto file = platform::open_plain_log(folder, output_file.filename());
    const std::string text = fmt::format("[tandem] task {}: {}\n", task, line);
    [[maybe_unused]] const auto written = ::write(file.get(), text.data(), text.size());
  } catch (const SystemError&) {  // a program made it impossible: the note is for its owner alone
  }
}

}  // namespace tandem::runtime
