// Preloaded into a program (LD_PRELOAD): takes down what it does to its checkpoint files, one JSON object a
// line in the file TANDEM_CRASH_LOG, in the order in which it is done, and which epochs it reports on its socket.
//
// {"call": "write", "file": PATH, "at": OFFSET, "bytes": HEX}, {"call": "sync", "file": PATH or FOLDER},
// {"call": "rename", "file": FROM, "to": TO}, {"call": "remove", "file": PATH}, {"call": "report", "epoch": N}
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <string>

namespace {

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}
const auto real_write = real<ssize_t (*)(int, const void*, size_t)>("write");

bool is_checkpoint(const std::string& path) {
  return path.find("/checkpoint-") != std::string::npos;
}

std::string path_of(int descriptor) {
  char target[4096];
  const auto size = ::readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), target, sizeof target);
  return size > 0 ? std::string(target, static_cast<std::size_t>(size)) : "";
}

void take_down(const std::string& line) {
  static const char* file = ::getenv("TANDEM_CRASH_LOG");
  if (!file) return;
  static std::mutex one;
  const std::lock_guard lock(one);
  const int log = ::open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string whole = line + "\n";
  for (std::size_t at = 0; log >= 0 && at < whole.size();) {
    const auto written = real_write(log, whole.data() + at, whole.size() - at);
    if (written <= 0) break;
    at += static_cast<std::size_t>(written);
  }
  ::close(log);
}

std::string call(const char* name, const std::string& path) {
  return std::string("{\"call\": \"") + name + "\", \"file\": \"" + path + "\"";
}

std::string hex(const void* bytes, std::size_t size) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<const unsigned char*>(bytes)[i];
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

void saw_write(int descriptor, const void* bytes, std::size_t size, long long at) {
  const auto path = path_of(descriptor);
  if (is_checkpoint(path))
    take_down(call("write", path) + ", \"at\": " + std::to_string(at) + ", \"bytes\": \"" + hex(bytes, size) +
              "\"}");
}

void saw_message(const void* bytes, std::size_t size) {
  const std::string text(static_cast<const char*>(bytes), size);
  if (text.find("\"type\":\"epoch\"") == std::string::npos) return;
  const auto found = text.find("\"epoch\":");
  if (found != std::string::npos)
    take_down("{\"call\": \"report\", \"epoch\": " + std::to_string(::atoll(text.c_str() + found + 8)) + "}");
}

void saw_sync(int descriptor) {
  const auto path = path_of(descriptor);
  if (is_checkpoint(path) || path.find("/task-") != std::string::npos) take_down(call("sync", path) + "}");
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t size) {
  const auto at = ::lseek(descriptor, 0, SEEK_CUR);
  if (at < 0) saw_message(bytes, size);
  const auto written = real_write(descriptor, bytes, size);
  if (at >= 0 && written > 0) saw_write(descriptor, bytes, static_cast<std::size_t>(written), at);
  return written;
}

ssize_t send(int descriptor, const void* bytes, size_t size, int flags) {
  saw_message(bytes, size);
  return real<ssize_t (*)(int, const void*, size_t, int)>("send")(descriptor, bytes, size, flags);
}

int fsync(int descriptor) {
  saw_sync(descriptor);
  return real<int (*)(int)>("fsync")(descriptor);
}

int fdatasync(int descriptor) {
  saw_sync(descriptor);
  return real<int (*)(int)>("fdatasync")(descriptor);
}

int rename(const char* from, const char* to) {
  const int done = real<int (*)(const char*, const char*)>("rename")(from, to);
  if (done == 0 && is_checkpoint(to)) take_down(call("rename", from) + ", \"to\": \"" + to + "\"}");
  return done;
}

int remove(const char* path) {
  const int done = real<int (*)(const char*)>("remove")(path);
  if (done == 0 && is_checkpoint(path)) take_down(call("remove", path) + "}");
  return done;
}

int unlink(const char* path) {
  const int done = real<int (*)(const char*)>("unlink")(path);
  if (done == 0 && is_checkpoint(path)) take_down(call("remove", path) + "}");
  return done;
}

}  // extern "C"
