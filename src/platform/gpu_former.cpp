#include "platform/gpu_former.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/text.h"
#include "platform/descriptor.h"
#include "platform/kernel_text.h"

namespace tandem::platform {
namespace fs = std::filesystem;
namespace {

constexpr const char* kBootFile = "/proc/sys/kernel/random/boot_id";

// Changes whenever the machine starts. Where the kernel does not say, all files are of this boot.
std::string this_boot() {
  const std::string text = read_kernel_text(kBootFile).value_or("");
  std::string_view rest = text;
  return std::string(next_word(rest));
}

// Written whole before it takes the other's name.
fs::path fresh_file(const fs::path& folder, const std::string& uuid) {
  return former_file(folder, uuid).string() + ".new";
}

// A file of ours that nobody else can have written. Throws SystemError.
void must_be_ours(const Descriptor& file, const fs::path& path) {
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) throw_errno("looking at " + path.string());
  if (!S_ISREG(about.st_mode) || about.st_uid != ::geteuid() || (about.st_mode & 022) != 0)
    throw SystemError(path.string() + " was not written by this user, and is not trusted; remove it");
}

}  // namespace

bool is_plain_uuid(std::string_view uuid) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  };
  return !uuid.empty() && uuid.size() <= 96 && std::all_of(uuid.begin(), uuid.end(), plain);
}

std::string to_line(const FormerSetting& former) {
  return fmt::format("{} {} {} {}", former.uuid, former.watts ? fmt::format("{}", *former.watts) : "-",
                     former.unlock ? "unlock" : "-", former.owner);
}

std::optional<FormerSetting> parse_former(std::string_view line) {
  FormerSetting former;
  former.uuid = next_word(line);
  const auto watts = next_word(line), unlock = next_word(line);
  const auto owner = parse_number<pid_t>(next_word(line));
  if (!is_plain_uuid(former.uuid) || !owner || !next_word(line).empty()) return std::nullopt;
  if (watts != "-") {
    former.watts = parse_number<double>(watts);
    if (!former.watts || !std::isfinite(*former.watts) || *former.watts <= 0) return std::nullopt;
  }
  if (unlock != "-" && unlock != "unlock") return std::nullopt;
  former.unlock = unlock == "unlock";
  former.owner = *owner;
  return former;
}

fs::path lock_file(const fs::path& folder, const std::string& uuid) {
  return folder / ("tandem-gpu-" + uuid + ".lock");
}

fs::path former_file(const fs::path& folder, const std::string& uuid) {
  return folder / ("tandem-gpu-" + uuid + ".former");
}

void write_former(const fs::path& folder, const FormerSetting& former) {
  const fs::path file = former_file(folder, former.uuid), fresh = fresh_file(folder, former.uuid);
  ::unlink(fresh.c_str());  // of a writer that was killed; the GPU's lock keeps others away
  {
    const Descriptor out(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!out) throw_errno("writing " + fresh.string());
    const std::string text = to_line(former) + "\n" + this_boot() + "\n";
    if (::write(out.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      throw_errno("writing " + fresh.string());
  }
  if (::rename(fresh.c_str(), file.c_str()) != 0) throw_errno("writing " + file.string());
}

std::optional<FormerSetting> read_former(const fs::path& folder, const std::string& uuid) {
  const fs::path path = former_file(folder, uuid);
  // O_NONBLOCK: a pipe in its place must not make us wait.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) throw_errno("reading " + path.string());
  must_be_ours(file, path);
  std::string content(1024, '\0');
  const ssize_t got = ::read(file.get(), content.data(), content.size());
  if (got < 0) throw_errno("reading " + path.string());
  content.resize(static_cast<std::size_t>(got));
  std::string_view rest = content;
  const auto former = parse_former(next_line(rest).value_or(""));
  if (!former || former->uuid != uuid)
    throw SystemError(path.string() + " does not say what the GPU's settings were; remove it");
  if (next_word(rest) == this_boot()) return former;
  remove_former(folder, uuid);
  return std::nullopt;
}

bool left_behind(const fs::path& folder, const std::string& uuid) {
  return ::access(former_file(folder, uuid).c_str(), F_OK) == 0 ||
         ::access(fresh_file(folder, uuid).c_str(), F_OK) == 0;
}

void remove_former(const fs::path& folder, const std::string& uuid) {
  for (const fs::path& file : {former_file(folder, uuid), fresh_file(folder, uuid)})
    if (::unlink(file.c_str()) != 0 && errno != ENOENT) throw_errno("removing " + file.string());
}

std::string put_back(Nvml& nvml, const FormerSetting& former) {
  const auto gpu = nvml.find(former.uuid);
  if (!gpu) return "the driver does not see GPU " + former.uuid;
  // Each is tried even where the other fails.
  const std::string clock = former.unlock ? nvml.unlock_clock(*gpu) : "";
  const std::string power = former.watts ? nvml.set_power_limit(*gpu, *former.watts) : "";
  return clock + (clock.empty() || power.empty() ? "" : "; ") + power;
}

std::string text(const FormerSetting& former) {
  const std::string power = former.watts ? fmt::format("the power limit of {:g} W", *former.watts) : "";
  if (!former.unlock) return power.empty() ? "nothing" : power;
  return power.empty() ? "the free clock" : power + " and the free clock";
}

}  // namespace tandem::platform
