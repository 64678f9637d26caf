#include "app/probing_tasks.h"

#include <gtest/gtest.h>

#include <map>

#include "app/catalogue.h"
#include "spec/parse.h"

namespace tandem::app {
namespace {

TEST(ProbingTasks, AreSpecsForEachTypeInSeveralAmounts) {
  const std::set<std::string> types{"quick", "AMD: [a] \"b\", 2 cores"};
  const auto tasks = probing_tasks(types, 2);
  std::map<std::pair<std::string, std::string>, std::set<int>> amounts;
  for (const auto& task : tasks) {
    amounts[{task.type, task.family}].insert(task.work);
    const auto parsed = spec::parse_train(task.spec, "probe", catalogue());
    ASSERT_TRUE(parsed.job) << task.spec;
    EXPECT_EQ(parsed.job->place.labels, std::vector<std::string>{task.type});
    EXPECT_EQ(parsed.job->place.family, task.family);
    EXPECT_EQ(parsed.job->place.work, task.work);
  }
  std::size_t once = 0;
  for (const auto& [of, work] : amounts) {
    EXPECT_GE(work.size(), 2u) << "one amount says nothing of what a unit takes";
    once += work.size();
  }
  EXPECT_EQ(tasks.size(), 2 * once);
}

}  // namespace
}  // namespace tandem::app
