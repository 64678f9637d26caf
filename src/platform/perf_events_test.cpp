#include "platform/perf_events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "platform/fake_tree.h"

namespace tandem::platform {
namespace {

const EventCode* find(const std::vector<EventCode>& events, const std::string& name) {
  const auto it =
      std::find_if(events.begin(), events.end(), [&](const EventCode& e) { return e.name == name; });
  return it == events.end() ? nullptr : &*it;
}

TEST(KnownEvents, FiftyOneGenericOnesWithoutRepeats) {
  const auto events = known_events("/nonexistent");
  std::set<std::string> names;
  for (const auto& event : events) names.insert(event.name);
  EXPECT_EQ(events.size(), 51u);
  EXPECT_EQ(names.size(), 51u);
  for (const char* name : {"cpu-cycles", "instructions", "branch-misses", "cache-misses", "LLC-load-misses",
                           "dTLB-store-misses", "iTLB-load-misses", "node-prefetch-misses", "task-clock"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(KnownEvents, EveryAliasNamesAnEventThatIsKept) {
  const auto events = known_events("/nonexistent");
  for (const auto& event : events) {
    if (event.alias_of.empty()) continue;
    const auto* kept = find(events, event.alias_of);
    ASSERT_TRUE(kept) << event.name;
    EXPECT_TRUE(kept->alias_of.empty()) << event.name;
  }
}

TEST(KnownEvents, CacheCodesAreThoseOfTheKernel) {
  const auto events = known_events("/nonexistent");
  EXPECT_EQ(find(events, "L1-dcache-loads")->config, 0u);
  EXPECT_EQ(find(events, "LLC-store-misses")->config, 0x10102u);
  EXPECT_EQ(find(events, "node-prefetches")->config, 0x206u);
  EXPECT_EQ(find(events, "LLC-store-misses")->group, find(events, "LLC-stores")->group);
}

TEST(KnownEvents, DescribedOnesAreEncodedByTheirFormat) {
  FakeTree sys;
  const std::string cpu = "bus/event_source/devices/cpu/";
  sys.write(cpu + "type", "4\n");
  sys.write(cpu + "events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
  sys.write(cpu + "events/topdown-total-slots", "event=0x13c,any\n");
  sys.write(cpu + "events/mem-stores", "event=0xd0,unheard=0x2\n");
  sys.write(cpu + "format/event", "config:0-7,32\n");
  sys.write(cpu + "format/umask", "config:8-15\n");
  sys.write(cpu + "format/any", "config:21\n");
  sys.write(cpu + "format/ldlat", "config1:0-15\n");
  const auto events = known_events(sys.root());
  ASSERT_EQ(events.size(), 53u) << "an event with a term nobody describes is left out";
  EXPECT_EQ(find(events, "mem-loads")->type, 4u);
  EXPECT_EQ(find(events, "mem-loads")->config, 0x1cdu);
  EXPECT_EQ(find(events, "mem-loads")->config1, 3u);
  EXPECT_EQ(find(events, "topdown-total-slots")->config, 0x3cu | 1ull << 32 | 1ull << 21);
}

TEST(KnownEvents, NonsenseInSysIsLeftOut) {
  FakeTree sys;
  const std::string cpu = "bus/event_source/devices/cpu/";
  sys.write(cpu + "type", "4\n");
  sys.write(cpu + "events/mem-loads", "event=0x1cd\n");
  sys.write(cpu + "events/mem-stores", "umask=12x\n");
  sys.write(cpu + "events/topdown-total-slots", "any=1\n");
  sys.write(cpu + "format/event", "config:0-7\n");
  sys.write(cpu + "format/umask", "config:8-15\n");
  sys.write(cpu + "format/any", "config:9-99\n");
  EXPECT_EQ(known_events(sys.root()).size(), 51u);
}

TEST(LinuxCounters, CountsThisProcessOrSaysWhyNot) {
  LinuxCounters source;
  const auto events = known_events("/sys");
  const auto opened = source.open(*find(events, "task-clock"), 0, true, nullptr);
  if (!opened.counter) {
    EXPECT_NE(opened.error, 0);
    GTEST_SKIP() << "no perf_event_open here: errno " << opened.error;
  }
  const auto before = opened.counter->read();
  ASSERT_TRUE(before);
  volatile unsigned work = 0;
  for (unsigned i = 0; i < 100000; ++i) work = work + i;
  const auto after = opened.counter->read();
  ASSERT_TRUE(after);
  EXPECT_GT(after->value, before->value);
}

TEST(LinuxCounters, NoSuchProcess) {
  LinuxCounters source;
  const auto opened = source.open(known_events("/sys").front(), 1 << 30, true, nullptr);
  EXPECT_FALSE(opened.counter);
  EXPECT_NE(opened.error, 0);
}

}  // namespace
}  // namespace tandem::platform
