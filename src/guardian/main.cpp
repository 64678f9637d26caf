// tandem-guardian: puts power limits and clocks of GPUs back when the Tandem that changed them is gone.
//
// Started by platform/guardian_link.h with a socket to its owner (descriptor 3) and the owner's pidfd (4). It
// is told "gpu UUID WATTS UNLOCK OWNER" (platform/gpu_former.h), with the GPU's lock as a descriptor, before
// anything is changed, and "forget UUID" when the owner has put it back itself; it answers "ok" or why not.
// When its owner is gone, for whatever reason, it puts back what it still remembers, tries again for some
// seconds where that fails, removes the file that remembers it too, lets go of the lock and ends.
//
// It does not outlive what kills all processes of its cgroup at once (cgroup.kill, Slurm's last SIGKILL) or
// the first process of its pid namespace (a container's): then the file is left for the next start of Tandem.
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "platform/descriptor.h"
#include "platform/gpu_former.h"
#include "platform/guardian_link.h"
#include "platform/nvml.h"

namespace tandem {
namespace {

using namespace std::chrono_literals;
using platform::Descriptor;
using platform::FormerSetting;

constexpr auto kKeepTrying = 10s;
constexpr auto kPause = 100ms;

struct Message {
  std::string text;
  Descriptor descriptor;
};

class Guardian {
 public:
  Guardian(std::string folder, const char* log) : folder_(std::move(folder)) {
    if (log) log_.reset(::open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  }

  void run() {
    while (true) {
      pollfd ends[] = {{socket_.get(), POLLIN, 0}, {owner_.get(), POLLIN, 0}};
      if (::poll(ends, 2, -1) < 0 && errno == EINTR) continue;
      // What its owner said last counts, even where the owner is gone.
      if (ends[0].revents & POLLIN) {
        if (!hear()) break;
      } else if (ends[0].revents != 0 || ends[1].revents != 0) {
        break;
      }
    }
    put_all_back();
  }

 private:
  struct Guarded {
    FormerSetting former;
    Descriptor lock;
  };

  // False: nothing more will come.
  bool hear() {
    auto message = receive();
    if (!message) return false;
    std::string answer;
    if (message->text.starts_with("gpu "))
      answer = remember(std::move(*message));
    else if (message->text.starts_with("forget "))
      answer = forget(message->text.substr(7));
    else
      answer = "the guardian does not understand its owner: two versions of Tandem are mixed";
    answer.resize(std::min(answer.size(), platform::kLongestGuardianMessage - 1));
    ::send(socket_.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    return true;
  }

  std::optional<Message> receive() {
    std::array<char, platform::kLongestGuardianMessage> buffer;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> ancillary;
    iovec part{buffer.data(), buffer.size()};
    msghdr whole{};
    whole.msg_iov = &part;
    whole.msg_iovlen = 1;
    whole.msg_control = ancillary.data();
    whole.msg_controllen = ancillary.size();
    const ssize_t got = ::recvmsg(socket_.get(), &whole, MSG_CMSG_CLOEXEC);
    if (got <= 0) return std::nullopt;
    Message message{std::string(buffer.data(), static_cast<std::size_t>(got)), {}};
    const cmsghdr* header = CMSG_FIRSTHDR(&whole);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(header), sizeof(number));
      message.descriptor.reset(number);
    }
    return message;
  }

  std::string remember(Message message) {
    auto former = platform::parse_former(std::string_view(message.text).substr(4));
    if (!former) return "the guardian was told nonsense: " + message.text;
    std::string why;
    if (!nvml_) nvml_ = platform::Nvml::open(why);
    if (!nvml_) return "the guardian cannot reach the driver: " + why;
    if (!nvml_->find(former->uuid)) return "the guardian does not see GPU " + former->uuid;
    forget(former->uuid);
    guarded_.push_back({std::move(*former), std::move(message.descriptor)});
    return "ok";
  }

  std::string forget(const std::string& uuid) {
    std::erase_if(guarded_, [&](const Guarded& guarded) { return guarded.former.uuid == uuid; });
    return "ok";
  }

  void put_all_back() {
    const auto until = std::chrono::steady_clock::now() + kKeepTrying;
    while (true) {
      std::string why;
      if (!nvml_) nvml_ = platform::Nvml::open(why);
      std::erase_if(guarded_, [&](const Guarded& guarded) { return put_back(guarded.former, why); });
      if (guarded_.empty()) return;
      if (std::chrono::steady_clock::now() >= until) return give_up(why);
      nvml_.reset();  // a GPU that comes back is another handle
      std::this_thread::sleep_for(kPause);
    }
  }

  bool put_back(const FormerSetting& former, std::string& why) {
    if (!nvml_) return false;
    if (const auto trouble = platform::put_back(*nvml_, former); !trouble.empty()) {
      why = trouble;
      return false;
    }
    try {
      platform::remove_former(folder_, former.uuid);
    } catch (const std::exception& error) {
      say(error.what());  // the next start puts the same values back once more
    }
    say(fmt::format("{} has {} again; Tandem (pid {}) ended without putting it back", former.uuid,
                    platform::text(former), former.owner));
    return true;
  }

  void give_up(const std::string& why) {
    for (const auto& guarded : guarded_)
      say(fmt::format("{} could not be given {} back: {}; run `tandem doctor` once it can",
                      guarded.former.uuid, platform::text(guarded.former), why));
  }

  void say(const std::string& what) {
    if (!log_) return;
    const std::string line =
        fmt::format("{:%FT%TZ} tandem-guardian: {}\n", fmt::gmtime(std::time(nullptr)), what);
    [[maybe_unused]] auto written = ::write(log_.get(), line.data(), line.size());
  }

  std::string folder_;
  Descriptor log_;
  Descriptor socket_{platform::kGuardianSocket}, owner_{platform::kGuardianOwner};
  std::unique_ptr<platform::Nvml> nvml_;
  std::vector<Guarded> guarded_;
};

// Where it may be asked for: the last process to be ended for lack of memory, and the first to run when its
// moment comes, however busy the machine is. It is tiny, and sleeps until then.
void ask_for_precedence() {
  const Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file) [[maybe_unused]]
    auto written = ::write(file.get(), "-1000", 5);
  ::setpriority(PRIO_PROCESS, 0, -10);
}

int run(int count, char** words) {
  const char *folder = nullptr, *log = nullptr;
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::strcmp(words[i], "--folder") == 0) folder = words[i + 1];
    if (std::strcmp(words[i], "--log") == 0) log = words[i + 1];
  }
  if (!folder || ::fcntl(platform::kGuardianSocket, F_GETFD) < 0) {
    std::fputs("tandem-guardian puts GPU settings back when Tandem is gone. Tandem starts it itself.\n",
               stderr);
    return 2;
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP}) std::signal(signal, SIG_IGN);
  Guardian guardian(folder, log);
  if (::chdir("/") != 0) return 1;  // no file system stays busy because of us
  ask_for_precedence();
  guardian.run();
  return 0;
}

}  // namespace
}  // namespace tandem

int main(int count, char** words) {
  return tandem::run(count, words);
}
