// The tokens a server knows: its operators' own (token.h), and those made for others, one file each in a
// private folder: FOLDER/DIGEST, mode 0600, {"name", "role", "user", "made"}.
//
// Of a token only its SHA-256 is kept, as the file's name. A token is looked up when it is shown, so one that
// is removed is refused from then on. Thread-safe.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "server/http/access.h"
#include "server/http/token.h"

namespace tandem::server {

class Tokens {
 public:
  // `folder` empty: there are no others; it need not be there.
  Tokens(Token operators, std::filesystem::path folder = {});  // NOLINT: one token is enough

  // Whose it is; none: nobody's.
  std::optional<Identity> holder(std::string_view shown) const;
  const Token& operators() const { return operators_; }

 private:
  Token operators_;
  std::filesystem::path folder_;
};

struct TokenRecord {
  std::string name;
  Role role = Role::view;
  std::optional<unsigned> user{};  // whose jobs it may see and queue; none: nobody's
  Seconds made{};                  // since 1970
};

// Makes one and its file; the token is in no file. UserError: the name is taken, or no plain name.
Token create_token(const std::filesystem::path& folder, const TokenRecord&);
// By name. SystemError where one is damaged.
std::vector<TokenRecord> list_tokens(const std::filesystem::path& folder);
// UserError: there is none of that name.
void revoke_token(const std::filesystem::path& folder, const std::string& name);

}  // namespace tandem::server
