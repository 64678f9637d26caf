#include "server/ownership.h"

#include <fmt/format.h>

namespace tandem::server {

bool is_own(const Identity& who, const Owner& owner, unsigned server) {
  return who.user && static_cast<std::int64_t>(*who.user) == (owner.user < 0 ? server : owner.user);
}

store::Owners own(std::int64_t user, unsigned server) {
  return user == static_cast<std::int64_t>(server) ? store::Owners{user, -1} : store::Owners{user};
}

bool may_manage(const Identity& who, const Owner& owner, unsigned server) {
  return who.role == Role::operate || is_own(who, owner, server);
}

void check_manages(const Identity& who, const Owner& owner, unsigned server, std::int64_t job) {
  if (!may_manage(who, owner, server))
    throw Refusal(403, fmt::format("job {} is another user's: it is for them, and for operators", job));
}

Owner owner_in(const nlohmann::json& row) {
  const auto found = row.find("owner");
  if (found == row.end() || !found->is_object()) return {};
  return {found->at("user").get<std::int64_t>(), found->at("name").get<std::string>()};
}

}  // namespace tandem::server
