#include "server/ownership.h"

#include <gtest/gtest.h>

#include "app/job_json.h"

namespace tandem::server {
namespace {

constexpr unsigned kServer = 1000;

TEST(Ownership, JobsAreTheirOwnersAndOperators) {
  const Owner ana{1001, "ana"}, unnamed{};
  const Identity hers{Role::submit, 1001, "user 1001"}, his{Role::submit, 1002, "user 1002"},
      watching{Role::view, {}, "token prometheus"}, operates{Role::operate, 1003, "token o"},
      servers{Role::submit, kServer, "user 1000"};
  EXPECT_TRUE(may_manage(hers, ana, kServer));
  EXPECT_TRUE(may_manage(operates, ana, kServer));
  for (const auto& other : {his, watching, servers}) EXPECT_FALSE(may_manage(other, ana, kServer)) << other.name;
  EXPECT_TRUE(may_manage(servers, unnamed, kServer)) << "of an old journal";
  EXPECT_FALSE(may_manage(hers, unnamed, kServer));
  EXPECT_NO_THROW(check_manages(hers, ana, kServer, 7));
  try {
    check_manages(his, ana, kServer, 7);
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status, 403);
  }
}

TEST(Ownership, ARowSaysWhoseItIsAndWithoutNamesDoesNot) {
  View view;
  spec::TrainJob job;
  job.name = "private-name";
  job.program.command = {"./private-command"};
  view.apply(Event{Seconds{1}, JobSubmitted{0, job, {1001, "ana"}}});
  const auto row = app::job_json(view, view.jobs[0]);
  EXPECT_EQ(owner_in(row), (Owner{1001, "ana"}));
  EXPECT_EQ(owner_in({{"job", 1}}), Owner{}) << "archived before there were owners";
  const auto shown = app::anonymous_row(row);
  EXPECT_EQ(shown.size(), row.size()) << "clients find every key";
  EXPECT_EQ(shown["state"], row["state"]);
  EXPECT_EQ(shown["resources"], row["resources"]);
  for (const char* hidden : {"private", "ana", "1001"})
    EXPECT_EQ(shown.dump().find(hidden), std::string::npos) << shown;
}

}  // namespace
}  // namespace tandem::server
