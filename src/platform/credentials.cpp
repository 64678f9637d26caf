#include "platform/credentials.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cctype>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "platform/descriptor.h"

namespace tandem::platform {
namespace {

constexpr const char* kUserPath = "/usr/local/bin:/usr/bin:/bin";

struct Entry {
  passwd user{};
  std::array<char, 16 * 1024> text{};
  bool found = false;
};

template <class Look>
void look_up(Entry& entry, Look look) {
  passwd* found = nullptr;
  entry.found = look(&entry.user, entry.text.data(), entry.text.size(), &found) == 0 && found != nullptr;
}

}  // namespace

Credentials Credentials::of(uid_t user) {
  Credentials out{.user = user, .group = user, .groups = {user}, .name = std::to_string(user), .home = "/"};
  out.shell = "/bin/sh";
  Entry entry;
  look_up(entry, [&](auto... rest) { return ::getpwuid_r(user, rest...); });
  if (!entry.found) return out;
  out.group = entry.user.pw_gid;
  out.name = entry.user.pw_name;
  if (entry.user.pw_dir && *entry.user.pw_dir) out.home = entry.user.pw_dir;
  if (entry.user.pw_shell && *entry.user.pw_shell) out.shell = entry.user.pw_shell;
  int count = 64;
  out.groups.resize(static_cast<std::size_t>(count));
  if (::getgrouplist(entry.user.pw_name, out.group, out.groups.data(), &count) < 0) {
    out.groups.resize(static_cast<std::size_t>(count));
    if (::getgrouplist(entry.user.pw_name, out.group, out.groups.data(), &count) < 0)
      throw SystemError("the groups of user " + out.name + " cannot be found out");
  }
  out.groups.resize(static_cast<std::size_t>(count));
  return out;
}

std::optional<uid_t> find_user(const std::string& written) {
  uid_t number = 0;
  const char* end = written.data() + written.size();
  const auto [at, error] = std::from_chars(written.data(), end, number);
  if (error == std::errc{} && at == end && number != static_cast<uid_t>(-1)) return number;
  Entry entry;
  look_up(entry, [&](auto... rest) { return ::getpwnam_r(written.c_str(), rest...); });
  return entry.found ? std::optional(entry.user.pw_uid) : std::nullopt;
}

std::string user_name(uid_t user) {
  Entry entry;
  look_up(entry, [&](auto... rest) { return ::getpwuid_r(user, rest...); });
  return entry.found ? entry.user.pw_name : std::to_string(user);
}

FilesAs::FilesAs(const std::optional<Credentials>& who) {
  if (!who || ::geteuid() != 0 || who->user == 0) return;
  // The thread's own, as the library's functions would change every thread's.
  groups_.resize(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  groups_.resize(static_cast<std::size_t>(std::max(::getgroups(static_cast<int>(groups_.size()), groups_.data()), 0)));
  if (::syscall(SYS_setgroups, who->groups.size(), who->groups.data()) != 0)
    throw_errno("reaching files as user " + who->name);
  group_ = ::setfsgid(who->group);
  user_ = ::setfsuid(who->user);
  changed_ = true;
  // Neither call says whether it worked: what is so now is what a second one finds.
  if (::setfsuid(static_cast<uid_t>(-1)) != static_cast<int>(who->user))
    throw SystemError("files cannot be reached as user " + who->name);
}

FilesAs::~FilesAs() {
  if (!changed_) return;
  ::setfsuid(static_cast<uid_t>(user_));
  ::setfsgid(static_cast<gid_t>(group_));
  ::syscall(SYS_setgroups, groups_.size(), groups_.data());
}

bool may_enter(const Credentials& who, const std::string& folder) {
  const FilesAs as(who);
  return static_cast<bool>(
      Descriptor(::open((folder + "/.").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
}

std::vector<std::string> clean_environment(const Credentials& who, const std::string& programs) {
  std::vector<std::string> out{std::string("PATH=") + kUserPath + (programs.empty() ? "" : ":" + programs),
                               "HOME=" + who.home, "USER=" + who.name,
                               "LOGNAME=" + who.name, "SHELL=" + who.shell};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.starts_with("LANG=") || text.starts_with("LC_") || text.starts_with("TZ=") ||
        text.starts_with("TERM="))
      out.emplace_back(text);
  }
  return out;
}

bool looks_secret(const std::string& name) {
  static const std::array kWords{"TOKEN",      "SECRET", "PASSWORD",    "PASSWD", "PASSPHRASE",
                                 "CREDENTIAL", "KEY",    "CREDENTIALS", "APIKEY", "AUTH"};
  std::string word;
  for (const char c : name + "_") {
    if (c != '_') {
      word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      continue;
    }
    if (std::find(kWords.begin(), kWords.end(), word) != kWords.end()) return true;
    word.clear();
  }
  return false;
}

std::vector<std::string> environment_without_secrets(const std::vector<std::string>& pass) {
  std::vector<std::string> out;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable, name = text.substr(0, text.find('='));
    if (!looks_secret(name) || std::find(pass.begin(), pass.end(), name) != pass.end()) out.push_back(text);
  }
  return out;
}

}  // namespace tandem::platform
