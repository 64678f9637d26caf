#include "place/policy/queue.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/random.h"

namespace tandem::place {
namespace {

std::vector<std::uint32_t> served(Queue& queue, const std::function<bool(std::uint32_t)>& has_room) {
  std::vector<std::uint32_t> out;
  queue.serve([&](std::uint32_t job) {
    if (!has_room(job)) return false;
    out.push_back(job);
    return true;
  });
  return out;
}

TEST(Queue, FirstInFirstOutIsBlockedByOneWithoutRoom) {
  Queue queue(find_order("fifo"));
  for (std::uint32_t job = 0; job < 4; ++job) queue.add(job, job, {1.0 * job, 1, 1, 0});
  EXPECT_EQ(served(queue, [](auto job) { return job != 1; }), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_EQ(served(queue, [](auto) { return true; }), (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(Queue, FirstFitGoesOnBehindOneWithoutRoomAndKeepsItsPlace) {
  Queue queue(find_order("first-fit"));
  for (std::uint32_t job = 0; job < 4; ++job) queue.add(job, job, {1.0 * job, 1, 1, 0});
  EXPECT_EQ(served(queue, [](auto job) { return job == 2; }), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(served(queue, [](auto) { return true; }), (std::vector<std::uint32_t>{0, 1, 3}));
}

TEST(Queue, OneOfAShapeWithoutRoomSpeaksForAllOfIt) {
  Queue queue(find_order("first-fit"));
  for (std::uint32_t job = 0; job < 1000; ++job) queue.add(job, job % 2, {1.0 * job, 1, 1, 0});
  int asked = 0;
  queue.serve([&](std::uint32_t) { return ++asked, false; });
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(queue.size(), 1000u);
}

TEST(Queue, LeastWorkCountsPartsAndShortestDoesNot) {
  const JobFacts wide{0, 10, 8, 0}, narrow{1, 20, 1, 0};
  for (const auto& [name, first] : {std::pair{"least-work", 1u}, std::pair{"shortest", 0u}}) {
    Queue queue(find_order(name));
    queue.add(0, 0, wide);
    queue.add(1, 1, narrow);
    EXPECT_EQ(served(queue, [](auto) { return true; }).front(), first) << name;
  }
}

TEST(Queue, ServesAsASortedListWould) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed, 0);
    Queue queue(find_order("least-work"));
    std::vector<std::pair<double, std::uint32_t>> list;  // waiting
    std::vector<std::uint32_t> shape;
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 5; ++i) {
        const auto job = static_cast<std::uint32_t>(shape.size());
        const double seconds = static_cast<double>(random.below(10));
        shape.push_back(static_cast<std::uint32_t>(random.below(4)));
        queue.add(job, shape.back(), {1.0 * round, seconds, 1, 0});
        list.emplace_back(seconds, job);
      }
      std::sort(list.begin(), list.end());
      const auto closed = static_cast<std::uint32_t>(random.below(5));  // this shape finds no room
      const auto room = [&](std::uint32_t job) { return shape[job] != closed; };
      std::vector<std::uint32_t> expected;
      for (const auto& [key, job] : list)
        if (room(job)) expected.push_back(job);
      EXPECT_EQ(served(queue, room), expected) << seed;
      std::erase_if(list, [&](const auto& waiting) { return room(waiting.second); });
      ASSERT_EQ(queue.size(), list.size());
    }
  }
}

TEST(Queue, AnUnknownPolicyIsNamedWithTheNearest) {
  try {
    find_order("fifoo");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("did you mean 'fifo'"), std::string::npos) << e.what();
  }
}

TEST(Queue, WhoFindsNoRoomGoesToTheEnd) {
  Queue queue(find_order("to-the-end"));
  for (std::uint32_t job = 0; job < 3; ++job) queue.add(job, job, {1.0 * job, 1, 1, 0});
  EXPECT_TRUE(served(queue, [](auto) { return false; }).empty());  // 0, 1, 2 again, all behind
  queue.add(3, 3, {3, 1, 1, 0});
  queue.add(4, 0, {4, 1, 1, 0});
  EXPECT_EQ(served(queue, [](auto job) { return job == 1; }), (std::vector<std::uint32_t>{1}));
  queue.add(5, 5, {5, 1, 1, 0});  // 0, 2, 3 and with 0's shape 4 were sent behind; then 5 came
  EXPECT_EQ(served(queue, [](auto) { return true; }), (std::vector<std::uint32_t>{0, 4, 2, 3, 5}));
}

TEST(Queue, PriorityBeforeArrival) {
  Queue queue(find_order("priority"));
  queue.add(0, 0, {0, 1, 1, 1});
  queue.add(1, 0, {1, 1, 1, 5});
  queue.add(2, 1, {2, 1, 1, 5});
  EXPECT_EQ(served(queue, [](auto) { return true; }), (std::vector<std::uint32_t>{1, 2, 0}));
}

}  // namespace
}  // namespace tandem::place
