#include "server/http/tokens.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "platform/descriptor.h"
#include "server/http/router.h"

namespace tandem::server {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr std::size_t kMostBytes = 4096, kLongestToken = 256;

std::string digest_of(std::string_view token) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned size = 0;
  if (EVP_Digest(token.data(), token.size(), bytes.data(), &size, EVP_sha256(), nullptr) != 1)
    throw SystemError("SHA-256 failed");
  std::string out;
  for (unsigned i = 0; i < size; ++i) out += fmt::format("{:02x}", bytes[i]);
  return out;
}

// None: there is no such file, or it is not a private one of ours.
std::optional<std::string> private_text(const fs::path& file) {
  const platform::Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat about {};
  if (!in || ::fstat(in.get(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != ::geteuid() ||
      (about.st_mode & 077) != 0)
    return std::nullopt;
  std::string out(kMostBytes, '\0');
  const ssize_t got = ::read(in.get(), out.data(), out.size());
  if (got < 0) return std::nullopt;
  out.resize(static_cast<std::size_t>(got));
  return out;
}

std::optional<TokenRecord> record_in(const fs::path& file) {
  const auto text = private_text(file);
  if (!text) return std::nullopt;
  const auto kept = parse_json(*text);
  if (!kept.is_object() || !kept.value("name", json()).is_string() ||
      !kept.value("role", json()).is_string() || !kept.value("made", json()).is_number())
    return std::nullopt;
  const auto role = parse_role(kept["role"].get<std::string>());
  if (!role) return std::nullopt;
  TokenRecord out{kept["name"].get<std::string>(), *role, {}, Seconds{kept["made"].get<double>()}};
  if (const auto user = kept.value("user", json()); user.is_number_unsigned()) out.user = user.get<unsigned>();
  return out;
}

struct Kept {
  fs::path file;
  TokenRecord record;
};

std::vector<Kept> all_in(const fs::path& folder) {
  std::vector<Kept> out;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const auto name = entry.path().filename().string();
    if (name.size() != 64 || name.find_first_not_of("0123456789abcdef") != std::string::npos) continue;
    const auto record = record_in(entry.path());
    if (!record)
      throw SystemError(entry.path().string() + " holds no token's record, or others may read it; remove it");
    out.push_back({entry.path(), *record});
  }
  std::sort(out.begin(), out.end(), [](const Kept& a, const Kept& b) { return a.record.name < b.record.name; });
  return out;
}

// Held while the folder's tokens are looked through and changed: two of one name cannot be made at once.
platform::Descriptor locked(const fs::path& folder) {
  platform::Descriptor out(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!out || ::flock(out.get(), LOCK_EX) != 0) throw_errno("locking " + folder.string());
  return out;
}

}  // namespace

Tokens::Tokens(Token operators, fs::path folder)
    : operators_(std::move(operators)), folder_(std::move(folder)) {}

std::optional<Identity> Tokens::holder(std::string_view shown) const {
  if (operators_.matches(shown)) return Identity{Role::operate, ::geteuid(), "the operators' token"};
  if (folder_.empty() || shown.size() > kLongestToken) return std::nullopt;
  const auto record = record_in(folder_ / digest_of(shown));
  if (!record) return std::nullopt;
  return Identity{record->role, record->user, "token " + record->name};
}

Token create_token(const fs::path& folder, const TokenRecord& record) {
  if (!plain_name(record.name))
    throw UserError("a token's name has 1 to 128 letters, digits and . _ -, and begins with none of . -, not '" +
                    printable(record.name, 60) + "'");
  ::mkdir(folder.c_str(), 0700);  // a failure shows below
  const auto lock = locked(folder);
  for (const auto& other : list_tokens(folder))
    if (other.name == record.name)
      throw UserError("there is a token called '" + record.name +
                      "' already; choose another name, or revoke it first: tandem token revoke " + record.name);
  const Token token = Token::make();
  json kept{{"name", record.name}, {"role", name(record.role)}, {"made", record.made.value}};
  if (record.user) kept["user"] = *record.user;
  const auto file = folder / digest_of(token.reveal()), draft = fs::path(file.string() + ".new");
  const platform::Descriptor out(
      ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  const std::string text = kept.dump() + "\n";
  if (!out || ::write(out.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fsync(out.get()) != 0 || ::rename(draft.c_str(), file.c_str()) != 0)
    throw_errno("writing " + file.string());
  return token;
}

std::vector<TokenRecord> list_tokens(const fs::path& folder) {
  std::vector<TokenRecord> out;
  for (auto& kept : all_in(folder)) out.push_back(std::move(kept.record));
  return out;
}

void revoke_token(const fs::path& folder, const std::string& name) {
  bool found = false;
  for (const auto& kept : all_in(folder)) {
    if (kept.record.name != name) continue;
    if (::unlink(kept.file.c_str()) != 0 && errno != ENOENT) throw_errno("removing " + kept.file.string());
    found = true;
  }
  if (!found)
    throw UserError("there is no token called '" + printable(name, 60) + "'; `tandem token list` shows them");
}

}  // namespace tandem::server
