#include "server/http/token.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error.h"
#include "platform/descriptor.h"

namespace tandem::server {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kDigits = 64;

[[noreturn]] void unfit(const fs::path& file, const std::string& why) {
  throw UserError("token file " + file.string() + " " + why);
}

void check_private(int descriptor, const fs::path& file) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) throw_errno("looking at " + file.string());
  if (!S_ISREG(info.st_mode)) unfit(file, "is not a plain file; name another, or remove it");
  if (info.st_uid != ::geteuid())
    unfit(file,
          fmt::format("belongs to user {}, not to you (user {}); name another", info.st_uid, ::geteuid()));
  if ((info.st_mode & 077) != 0)
    unfit(file, fmt::format("may be read or changed by others (mode {:04o}); run: chmod 600 {}, or remove it "
                            "to get a new token",
                            info.st_mode & 07777, file.string()));
}

void write_new(const fs::path& file, const std::string& secret) {
  ::mkdir(file.parent_path().c_str(), 0700);  // a failure shows in the next line
  std::string draft = file.string() + ".XXXXXX";
  platform::Descriptor descriptor(::mkostemp(draft.data(), O_CLOEXEC));  // mode 0600
  if (!descriptor) throw_errno("making token file " + draft);
  const std::string line = secret + "\n";
  const bool written =
      ::write(descriptor.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
      ::fsync(descriptor.get()) == 0;
  // link, not rename: whoever else makes one at the same time wins or loses whole.
  const bool placed = written && (::link(draft.c_str(), file.c_str()) == 0 || errno == EEXIST);
  const int error = errno;
  ::unlink(draft.c_str());
  errno = error;
  if (!placed) throw_errno("writing token file " + file.string());
}

}  // namespace

Token Token::make() {
  std::array<unsigned char, kDigits / 2> bytes;
  std::size_t got = 0;
  while (got < bytes.size()) {
    const auto now = ::getrandom(bytes.data() + got, bytes.size() - got, 0);
    if (now < 0 && errno != EINTR) throw_errno("asking for randomness");
    if (now > 0) got += static_cast<std::size_t>(now);
  }
  std::string secret;
  for (const unsigned char byte : bytes) secret += fmt::format("{:02x}", byte);
  return Token(std::move(secret));
}

Token Token::load(const fs::path& file) {
  // A FIFO in its place must not make us wait.
  const platform::Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!descriptor && errno == ELOOP) unfit(file, "is a link; name the file itself");
  if (!descriptor && (errno == ENOENT || errno == EACCES))
    unfit(file, errno == ENOENT ? "does not exist; the server makes it when it starts"
                                : "may not be read by you; ask whoever runs the server");
  if (!descriptor) throw_errno("opening token file " + file.string());
  check_private(descriptor.get(), file);
  std::array<char, kDigits + 8> text{};
  const auto got = ::read(descriptor.get(), text.data(), text.size());
  if (got < 0) throw_errno("reading token file " + file.string());
  std::string secret(text.data(), static_cast<std::size_t>(got));
  if (secret.ends_with('\n')) secret.pop_back();
  const bool hex = secret.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (secret.size() != kDigits || !hex)
    unfit(file, "does not hold 64 hexadecimal digits; remove it to get a new token");
  return Token(std::move(secret));
}

Token Token::load_or_create(const fs::path& file) {
  struct stat info {};
  if (::lstat(file.c_str(), &info) != 0 && errno == ENOENT) write_new(file, make().secret_);
  return load(file);
}

bool Token::matches(std::string_view shown) const {
  unsigned difference = shown.size() == secret_.size() ? 0 : 1;
  for (std::size_t i = 0; i < secret_.size(); ++i) {
    const char other = shown.empty() ? '\0' : shown[i % shown.size()];
    difference |= static_cast<unsigned>(static_cast<unsigned char>(secret_[i] ^ other));
  }
  // volatile: the loop may not be left early by a clever compiler.
  const volatile unsigned all = difference;
  return all == 0;
}

}  // namespace tandem::server
