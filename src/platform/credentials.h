// Users of this machine: who one is, files reached with somebody's permissions, and the environment a program
// of theirs begins with.
//
// FilesAs belongs to one thread, and only changes anything where this process is root and the user is not.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tandem::platform {

struct Credentials {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups{};  // all of them
  std::string name{}, home{}, shell{};

  // As the machine's user database has it. A user it does not know is alone in a group of the same number.
  static Credentials of(uid_t);
};

// "ana" or "1001"; none: there is no such user. Any number is a user.
std::optional<uid_t> find_user(const std::string& written);
std::string user_name(uid_t);  // "ana"; "1001" where the machine has no name for it

// While it lives, this thread opens, makes and renames files with the permissions of another user: what that
// user put there (a link, say) then leads nowhere they could not go themselves.
class FilesAs {
 public:
  explicit FilesAs(const std::optional<Credentials>&);  // none: as this process
  FilesAs(const FilesAs&) = delete;
  ~FilesAs();

 private:
  bool changed_ = false;
  int user_ = 0, group_ = 0;     // before
  std::vector<gid_t> groups_{};  // the same
};

// May this user search the folder, and every folder above it?
bool may_enter(const Credentials&, const std::string& folder);

// What a program of this user is started with, whatever this process has: HOME, USER, LOGNAME and SHELL of the
// user; PATH with the system's folders and `programs`; LANG, LC_*, TZ and TERM of this process.
std::vector<std::string> clean_environment(const Credentials&, const std::string& programs);

// This process's environment without what looks like a secret (looks_secret) and is not in `pass`.
std::vector<std::string> environment_without_secrets(const std::vector<std::string>& pass);
// By its name: one of its words is TOKEN, SECRET, PASSWORD, PASSWD, PASSPHRASE, CREDENTIAL(S), AUTH, APIKEY
// or KEY, as in AWS_SECRET_ACCESS_KEY and SSH_AUTH_SOCK.
bool looks_secret(const std::string& name);

}  // namespace tandem::platform
