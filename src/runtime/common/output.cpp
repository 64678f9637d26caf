#include "runtime/common/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/error.h"
#include "platform/plain_file.h"
#include "runtime/common/task_files.h"

namespace tandem::runtime {
namespace {

using platform::Descriptor;

constexpr int kPipeBytes = 1 << 18;
constexpr std::size_t kMuch = 1 << 15;      // read at once: it may print faster than we look
constexpr std::size_t kMostAtEnd = 1 << 20;  // a process that escaped may go on printing
constexpr int kRestMs = 20, kShortRestMs = 1;
constexpr std::uint64_t kStop = ~std::uint64_t{0};

}  // namespace

// ---- one file ----

OutputFile::OutputFile(const std::filesystem::path& folder, const std::filesystem::path& below, Bytes limit,
                       std::optional<platform::Credentials> as)
    : as_(std::move(as)), name_(below.filename().string()), limit_(limit) {
  const platform::FilesAs files(as_);
  folder_ = platform::open_plain_folder(folder, below.parent_path());
  if (!folder_) throw SystemError("there is no folder " + (folder / below).parent_path().string());
  open();
}

void OutputFile::open() {
  file_ = platform::open_plain_log(folder_, name_);
  struct stat about {};
  size_ = ::fstat(file_.get(), &about) == 0 ? about.st_size : 0;
}

void OutputFile::write(std::string_view text) {
  const auto half = static_cast<std::size_t>(std::max<Bytes>(1, limit_ / 2));
  for (; !text.empty(); text.remove_prefix(std::min(half, text.size()))) {
    const auto piece = text.substr(0, half);
    if (!file_ || (size_ > 0 && static_cast<std::size_t>(size_) + piece.size() > half)) rotate();
    if (std::exchange(gap_, false))
      append(fmt::format("[tandem] {} that were printed before were not kept (limits.output is {}{})\n",
                         text_bytes(not_kept_), text_bytes(limit_), full_ ? "; the disk was full" : ""));
    append(piece);
  }
}

void OutputFile::note(TaskId task, const std::string& line) {
  write(fmt::format("[tandem] task {}: {}\n", task, line));
}

void OutputFile::append(std::string_view text) {
  while (!text.empty() && file_) {
    const ssize_t done = ::write(file_.get(), text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    full_ |= done < 0 && errno == ENOSPC;
    if (done <= 0) break;
    size_ += done;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  not_kept_ += static_cast<Bytes>(text.size());
  gap_ |= !text.empty();
}

// What the program may have done to the names does not matter: only a file that is still ours is renamed.
void OutputFile::rotate() {
  const platform::FilesAs files(as_);
  struct stat ours {}, there {}, older {};
  const std::string kept = name_ + ".1";
  const auto look = [&](const std::string& name, struct stat& about) {
    return ::fstatat(folder_.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0;
  };
  if (file_ && ::fstat(file_.get(), &ours) == 0 && look(name_, there) && ours.st_ino == there.st_ino &&
      ours.st_dev == there.st_dev) {
    const Bytes lost = look(kept, older) && S_ISREG(older.st_mode) ? older.st_size : 0;
    if (::renameat(folder_.get(), name_.c_str(), folder_.get(), kept.c_str()) == 0)
      not_kept_ += lost;
    else if (::ftruncate(file_.get(), 0) == 0)  // a folder is in its place
      not_kept_ += size_;
  }
  size_ = 0;
  gap_ = not_kept_ > 0;
  file_.reset();
  try {
    open();
  } catch (const SystemError&) {  // its folder is gone, or the disk is full: what is lost is counted
  }
}

// ---- all of them ----

Outputs::Outputs() : epoll_(::epoll_create1(EPOLL_CLOEXEC)), stop_(::eventfd(0, EFD_CLOEXEC)) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kStop;
  if (!epoll_ || !stop_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, stop_.get(), &event) != 0)
    throw_errno("watching what programs print");
}

Outputs::~Outputs() {
  const std::uint64_t one = 1;
  [[maybe_unused]] auto told = ::write(stop_.get(), &one, sizeof(one));
  if (thread_.joinable()) thread_.join();
}

Descriptor Outputs::begin(TaskId task, const std::filesystem::path& folder,
                          const std::filesystem::path& below, Bytes limit,
                          const std::optional<platform::Credentials>& as) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("making a pipe");
  Descriptor ours(ends[0]), theirs(ends[1]);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(ours.get(), F_SETPIPE_SZ, kPipeBytes);  // where that is too much it stays as it is
  const std::lock_guard lock(mutex_);
  auto file = files_[folder / below].lock();
  if (!file) files_[folder / below] = file = std::make_shared<OutputFile>(folder, below, limit, as);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = static_cast<std::uint64_t>(task);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, ours.get(), &event) != 0)
    throw_errno("watching what a program prints");
  sources_.insert_or_assign(task, Source{std::move(ours), std::move(file), ""});
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  return theirs;
}

void Outputs::note(TaskId task, const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (const auto found = sources_.find(task); found != sources_.end()) found->second.file->note(task, line);
}

std::string Outputs::end(TaskId task) {
  const std::lock_guard lock(mutex_);
  auto node = sources_.extract(task);
  if (!node) return "";
  Source& source = node.mapped();
  for (std::size_t taken = 0; taken < kMostAtEnd && source.pipe;) {
    const std::size_t more = take(source);
    if (more == 0) break;
    taken += more;
  }
  source.file.reset();
  std::erase_if(files_, [](const auto& one) { return one.second.expired(); });
  return last_lines(source.last);
}

std::size_t Outputs::take(Source& source) {
  static thread_local std::array<char, kPipeBytes> bytes;
  ssize_t got;
  do got = ::read(source.pipe.get(), bytes.data(), bytes.size());
  while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return 0;
  if (got <= 0) {
    source.pipe.reset();
    return 0;
  }
  const std::string_view text(bytes.data(), static_cast<std::size_t>(got));
  source.file->write(text);
  source.last.append(text.substr(text.size() - std::min(text.size(), kLastBytes)));
  source.last.erase(0, source.last.size() - std::min(source.last.size(), kLastBytes));
  return text.size();
}

void Outputs::run() {
  while (true) {
    std::array<epoll_event, 64> ready;
    const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), -1);
    bool much = false;
    for (int i = 0; i < count; ++i) {
      const auto who = ready[static_cast<std::size_t>(i)].data.u64;
      if (who == kStop) return;
      const std::lock_guard lock(mutex_);
      const auto found = sources_.find(static_cast<TaskId>(who));
      if (found == sources_.end() || !found->second.pipe) continue;
      much |= take(found->second) >= kMuch;
    }
    pollfd stop{stop_.get(), POLLIN, 0};
    if (::poll(&stop, 1, much ? kShortRestMs : kRestMs) > 0) return;
  }
}

}  // namespace tandem::runtime
