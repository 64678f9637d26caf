#include "search/searcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "search/hyperband.h"
#include "search/points.h"
#include "search/schedule_testing.h"

namespace tandem::search {
namespace {

using spec::SearchSpec;

spec::Space finite_space() {
  return space_of({{"rate", choice({0.1, 0.01, 0.001})}, {"layers", whole(1, 4)}});
}

// Better near rate 0.01, worse with more layers; better with every epoch.
Losses pretend(const Values& point, std::int64_t epoch, std::size_t goals) {
  const double rate = std::log10(std::get<double>(point.at("rate")));
  const auto layers = static_cast<double>(std::get<std::int64_t>(point.at("layers")));
  Losses out{std::abs(rate + 2) + 1.0 / static_cast<double>(epoch) + 0.01 * layers};
  if (goals > 1) out.push_back(5 - layers);
  return out;
}

struct Case {
  SearchSpec spec;
  std::size_t goals;
};

// Every algorithm, and every one that can be pruned with every pruning, in a few sizes.
std::vector<Case> cases() {
  std::vector<Case> out;
  for (const auto& entry : algorithms()) {
    for (const char* pruning : {"none", "halving", "median"}) {
      for (std::int64_t most : {1, 5, 9}) {
        for (auto trials : {std::optional<std::int64_t>{}, std::optional<std::int64_t>{7}}) {
          SearchSpec spec;
          spec.algorithm = entry.name;
          spec.pruning = pruning;
          spec.max_epochs = most;
          spec.trials = trials;
          for (std::size_t goals : {1, 2}) out.push_back({spec, goals});
        }
      }
    }
  }
  std::erase_if(out, [](const Case& each) {
    static const std::set<std::string> own_rungs{"hyperband", "bohb", "asha", "successive-halving", "pbt"};
    return each.spec.pruning != "none" && own_rungs.contains(each.spec.algorithm);
  });
  return out;
}

std::string text(const Case& each) {
  return fmt::format("{} pruning {} epochs {} trials {} goals {}", each.spec.algorithm, each.spec.pruning,
                     each.spec.max_epochs, each.spec.trials.value_or(0), each.goals);
}

// A world whose losses come from the points, as they are known when asked for.
World world_for(const Case& each, std::uint64_t seed, std::vector<Values>& points) {
  Random random(seed, 17);
  const auto loss = [&points, goals = each.goals](TrialId id, std::int64_t epoch) {
    return pretend(points.at(static_cast<std::size_t>(id)), epoch, goals);
  };
  return {1 + static_cast<std::size_t>(random.below(12)), loss, seed % 3 == 0 ? 0 : random.uniform() * 0.15,
          seed};
}

// Fills the slots, notes the points, and makes one step.
bool step(World& world, Searcher& searcher, std::vector<Values>& points) {
  world.fill(searcher);
  for (std::size_t i = points.size(); i < world.trials.size(); ++i) points.push_back(world.trials[i].point);
  return world.step(searcher);
}

std::unique_ptr<Searcher> searcher_for(const Case& each) {
  return make_searcher(each.spec, finite_space(), each.goals);
}

std::string message_of(const SearchSpec& spec, const spec::Space& space) {
  try {
    make_searcher(spec, space, 1);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Algorithms, AllAreThere) {
  std::set<std::string> names;
  for (const auto& each : algorithms()) {
    names.insert(each.name);
    EXPECT_FALSE(each.description.empty());
  }
  EXPECT_EQ(names, (std::set<std::string>{"grid", "random", "quasirandom", "tpe", "tpe-multivariate", "nsga2",
                                          "successive-halving", "hyperband", "asha", "bohb", "pbt"}));
}

// Which of the first trials are where they were told to begin; the others as the algorithm likes.
TEST(Algorithms, BeginAtKnownPoints) {
  for (auto each : cases()) {
    if (each.spec.algorithm == "grid" || each.spec.trials == 1) continue;
    each.spec.start = {{{"rate", 0.001}, {"layers", std::int64_t{4}}}, {{"layers", std::int64_t{2}}}};
    std::vector<Values> points;
    World world = world_for(each, 1, points);
    const auto searcher = searcher_for(each);
    while (step(world, *searcher, points)) {
    }
    ASSERT_FALSE(points.empty()) << text(each);
    EXPECT_EQ(points[0], each.spec.start[0]) << text(each);
    if (points.size() == 1) continue;
    EXPECT_EQ(points[1].at("layers"), Value(std::int64_t{2})) << text(each);
    EXPECT_TRUE(points[1].contains("rate")) << text(each);
    EXPECT_TRUE(searcher->finished()) << text(each);
  }
}

TEST(MakeSearcher, NamesWhatIsWrong) {
  SearchSpec spec;
  spec.algorithm = "hyperbrand";
  EXPECT_NE(message_of(spec, finite_space()).find("did you mean 'hyperband'?"), std::string::npos);
  spec.algorithm = "grid";
  EXPECT_EQ(message_of(spec, finite_space()), "");
  const auto message = message_of(spec, space_of({{"rate", log_real(1e-4, 1)}, {"layers", whole(1, 4)}}));
  EXPECT_NE(message.find("rate"), std::string::npos) << message;
  EXPECT_EQ(message.find("layers"), std::string::npos) << message;
  spec = {};
  spec.pruning = "median";
  EXPECT_NE(message_of(spec, finite_space()).find("hyperband decides by itself"), std::string::npos);
  spec.algorithm = "random";
  EXPECT_EQ(message_of(spec, finite_space()), "");
  spec.pruning = "mean";
  EXPECT_NE(message_of(spec, finite_space()).find("did you mean 'median'?"), std::string::npos);
  for (auto change :
       {+[](SearchSpec& bad) { bad.max_epochs = 0; }, +[](SearchSpec& bad) { bad.reduction = 1; },
        +[](SearchSpec& bad) { bad.trials = 0; }}) {
    SearchSpec bad;
    change(bad);
    EXPECT_NE(message_of(bad, finite_space()), "");
  }
}

TEST(MakeSearcher, KnowsHowManyTrials) {
  const auto expected = [](const std::string& algorithm, std::optional<std::int64_t> trials) {
    SearchSpec spec;
    spec.algorithm = algorithm;
    spec.trials = trials;
    return make_searcher(spec, finite_space(), 1)->expected_trials();
  };
  EXPECT_EQ(expected("grid", {}), 12);
  EXPECT_EQ(expected("grid", 5), 5);
  EXPECT_EQ(expected("grid", 50), 12);
  EXPECT_EQ(expected("random", {}), 20);
  EXPECT_EQ(expected("tpe", 33), 33);
  EXPECT_EQ(expected("successive-halving", {}), 9);
  EXPECT_EQ(expected("successive-halving", 5), 5);
  EXPECT_EQ(expected("hyperband", {}), 17);
  EXPECT_EQ(expected("bohb", 40), 40);
  EXPECT_EQ(expected("asha", {}), 17);
  EXPECT_EQ(expected("pbt", {}), 8 + 8 * 2);
}

// Three levels of each of two real parameters are nine points; the end is known before it is met.
TEST(MakeSearcher, KnowsTheEndOfAGridOverRealParameters) {
  SearchSpec spec;
  spec.algorithm = "grid";
  spec.trials = 10;
  spec.max_epochs = 1;
  const auto space = space_of({{"x", real(0, 1)}, {"y", log_real(1e-3, 1)}});
  const auto searcher = make_searcher(spec, space, 1);
  EXPECT_EQ(searcher->expected_trials(), 9);
  std::set<Values> points;
  for (TrialId id = 0; id < 9; ++id) {
    EXPECT_FALSE(searcher->finished());
    points.insert(searcher->ask()->point);
    searcher->tell(id, 1, {0.5});
  }
  EXPECT_EQ(points.size(), 9u);
  EXPECT_TRUE(searcher->finished());
}

// Property: any algorithm, any number of slots, any order of reports and any failures: it ends, every trial
// in exactly one way, and it had said how much that would be.
TEST(Searchers, EndWhateverHappens) {
  for (const auto& each : cases()) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(text(each) + fmt::format(" seed {}", seed));
      const auto searcher = searcher_for(each);
      const auto at_most = searcher->expected_epochs();
      std::vector<Values> points;
      World world = world_for(each, seed, points);
      int steps = 0;
      while (step(world, *searcher, points)) ASSERT_LT(++steps, 10'000);
      EXPECT_TRUE(world.in_state(World::State::running).empty());
      EXPECT_TRUE(world.in_state(World::State::held).empty());
      EXPECT_EQ(searcher->expected_trials(), static_cast<std::int64_t>(world.trials.size()));
      EXPECT_EQ(searcher->expected_epochs(), world.epochs);
      EXPECT_TRUE(each.spec.algorithm == "asha" || world.epochs <= at_most);
      for (const auto& trial : world.trials) {
        expect_fits(finite_space(), trial.point);
        EXPECT_LE(trial.until, each.spec.max_epochs);
      }
      EXPECT_EQ(searcher->ask(), std::nullopt);
      EXPECT_TRUE(searcher->dropped().empty());
      if (HasFailure()) return;
    }
  }
}

// Property: resuming is folding. At any moment a searcher made anew from history answers all that follows as
// the one that decided itself does.
TEST(Searchers, FoldedFromHistoryGoOnTheSame) {
  for (const auto& each : cases()) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      SCOPED_TRACE(text(each) + fmt::format(" seed {}", seed));
      const auto lived = searcher_for(each);
      std::vector<Values> points;
      World world = world_for(each, seed, points);
      int steps = static_cast<int>(Random(seed, 23).below(60));
      while (steps-- > 0 && step(world, *lived, points)) {
      }

      const auto folded = searcher_for(each);
      std::set<TrialId> dropped;
      for (const auto& call : world.calls) {
        fold(call, *folded);
        if (seed % 2 == 0) continue;  // asking once at the end is as good
        for (TrialId id : folded->dropped()) dropped.insert(id);
      }
      for (TrialId id : folded->dropped()) dropped.insert(id);
      const auto in_life = world.in_state(World::State::dropped);
      EXPECT_EQ(dropped, std::set<TrialId>(in_life.begin(), in_life.end()));

      World again = world;  // continues with the same chance
      EXPECT_EQ(folded->expected_trials(), lived->expected_trials());
      EXPECT_EQ(folded->expected_epochs(), lived->expected_epochs());
      EXPECT_EQ(folded->finished(), lived->finished());
      std::vector<Values> points_again = points;
      while (step(world, *lived, points)) {
      }
      points = points_again;
      while (step(again, *folded, points)) {
      }
      EXPECT_EQ(again.log, world.log);
      ASSERT_EQ(again.calls.size(), world.calls.size());
      for (std::size_t i = 0; i < world.calls.size(); ++i) ASSERT_EQ(again.calls[i].ask, world.calls[i].ask);
      if (HasFailure()) return;
    }
  }
}

// Property: whatever verdicts history holds, also ones that nobody would reach today, the rest of the search
// takes them for granted and ends.
TEST(Searchers, TakeAnyVerdictOfHistory) {
  for (const auto& each : cases()) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(text(each) + fmt::format(" seed {}", seed));
      const auto searcher = searcher_for(each);
      std::vector<Values> points;
      World world = world_for(each, seed, points);
      world.contrary = 0.2;
      int steps = static_cast<int>(Random(seed, 29).below(60));
      while (steps-- > 0 && step(world, *searcher, points)) {
      }
      world.contrary = 0;
      steps = 0;
      while (step(world, *searcher, points)) ASSERT_LT(++steps, 10'000);
      EXPECT_TRUE(world.in_state(World::State::held).empty());
      EXPECT_EQ(searcher->expected_trials(), static_cast<std::int64_t>(world.trials.size()));
      EXPECT_EQ(searcher->expected_epochs(), world.epochs);
      if (HasFailure()) return;
    }
  }
}

TEST(Searchers, AreTheSameWithTheSameSeedAndOthersWithAnother) {
  for (const auto& each : cases()) {
    if (each.spec.max_epochs != 9 || each.goals != 1) continue;
    SCOPED_TRACE(text(each));
    std::vector<std::vector<Values>> points(3);
    for (std::size_t i = 0; i < 3; ++i) {
      Case seeded = each;
      seeded.spec.seed = i == 2 ? 2 : 1;
      const auto searcher = searcher_for(seeded);
      World world = world_for(seeded, 3, points[i]);
      while (step(world, *searcher, points[i])) {
      }
    }
    EXPECT_EQ(points[0], points[1]);
    EXPECT_NE(points[0], points[2]);
  }
}

TEST(Hyperband, PointsDoNotDependOnTheOrderOfReports) {
  Case each;
  each.goals = 1;
  std::vector<Values> first;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto searcher = searcher_for(each);
    std::vector<Values> points;
    World world = world_for(each, seed, points);
    while (step(world, *searcher, points)) {
    }
    ASSERT_EQ(points.size(), 17u);
    if (seed == 0) first = points;
    EXPECT_EQ(points, first);
    for (TrialId id = 0; id < 17; ++id) {
      Random random(1, static_cast<std::uint64_t>(id));
      EXPECT_EQ(points[static_cast<std::size_t>(id)], draw(finite_space(), random));
      const auto bracket = world.trials[static_cast<std::size_t>(id)].bracket;
      EXPECT_EQ(bracket, id < 9 ? 0 : id < 14 ? 1 : 2);
    }
  }
}

TEST(Composed, TellsTheSamplerEverythingOnce) {
  auto owned = std::make_unique<FakeSampler>();
  FakeSampler& sampler = *owned;
  const auto searcher =
      compose(std::make_unique<Halving>(hyperband_plan(9, 3, {})), std::move(owned), line(), 1, 1);
  World world(3, [](TrialId id, std::int64_t) { return Losses{static_cast<double>(id)}; });
  world.fill(*searcher);
  world.leave(*searcher, 1);
  searcher->left(1);  // it is over already
  world.run_in_order(*searcher);
  EXPECT_EQ(sampler.began_trials.size(), 17u);
  EXPECT_EQ(sampler.failed_trials, std::vector<TrialId>{1});
  EXPECT_EQ(sampler.observed, world.epochs);
}

TEST(Composed, SometimesRandomKeepsToItsFraction) {
  const auto space = space_of({{"x", real(0.25, 0.75)}});
  const auto sampler = sometimes_random(std::make_unique<FakeSampler>(), space, 1.0 / 3);
  int random_points = 0;
  for (TrialId id = 0; id < 3000; ++id) {
    Random random(1, static_cast<std::uint64_t>(id));
    const double x = std::get<double>(sampler->sample(id, random)->at("x"));
    random_points += x > 0.2 && x < 0.8;  // those of the fake are whole numbers
  }
  EXPECT_NEAR(random_points, 1000, 100);
}

// Losses by trial: which points they have does not matter to the schedule.
TEST(Bohb, HasTheTraceOfHyperband) {
  std::vector<std::string> logs[2];
  for (int i = 0; i < 2; ++i) {
    SearchSpec spec;
    spec.algorithm = i == 0 ? "hyperband" : "bohb";
    const auto searcher = make_searcher(spec, finite_space(), 1);
    World world(1, losses({9, 8, 2, 7, 1, 6, 5, 3, 4, 5, 1, 4, 3, 2, 3, 2, 1}));
    world.run_in_order(*searcher);
    logs[i] = world.log;
  }
  EXPECT_EQ(logs[1], logs[0]);
  const std::vector<std::string> promoted{"drop 8 6 5 3 1 0", "b0r1 #4 >3 hold", "b0r1 #2 >3 hold",
                                          "b0r1 #7 >3 hold",  "drop 2 7",        "b0r2 #4 >9 stop"};
  ASSERT_EQ(logs[1].size(), 25u);
  EXPECT_TRUE(std::equal(promoted.begin(), promoted.end(), logs[1].begin() + 9));
}

TEST(Bohb, LearnsWhereToLook) {
  const auto space = space_of({{"x", real(0, 1)}, {"y", real(0, 1)}});
  const auto mean_of_last = [&](const std::string& algorithm) {
    SearchSpec spec;
    spec.algorithm = algorithm;
    spec.trials = 102;  // six rounds
    const auto searcher = make_searcher(spec, space, 1);
    std::vector<Values> points;
    World world(1, [&](TrialId id, std::int64_t) {
      const auto& point = points.at(static_cast<std::size_t>(id));
      return Losses{std::abs(std::get<double>(point.at("x")) - 0.3) +
                    std::abs(std::get<double>(point.at("y")) - 0.7)};
    });
    while (step(world, *searcher, points)) {
    }
    EXPECT_EQ(points.size(), 102u);
    double sum = 0;
    for (std::size_t i = 51; i < 102; ++i) sum += world.trials[i].last[0];
    return sum / 51;
  };
  EXPECT_LT(mean_of_last("bohb"), 0.8 * mean_of_last("hyperband"));
}

std::string refused(SearchSpec spec, const spec::Space& space, std::size_t goals = 1) {
  try {
    require_bounded(spec, space, goals);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Searcher, ASearchThatWouldKeepASchedulerBusyIsRefused) {
  const auto small = finite_space();
  SearchSpec spec;
  EXPECT_EQ(refused(spec, small), "");
  spec.trials = 100'001;
  EXPECT_NE(refused(spec, small).find("would start 100001 trials; a search of 2 parameters has at most 100000"), std::string::npos);
  spec.trials.reset();
  spec.max_epochs = 1'000'000;
  EXPECT_NE(refused(spec, small).find("hyperband would start"), std::string::npos) << "its own number counts, too";
  spec.trials = 1000;
  EXPECT_EQ(refused(spec, small), "");

  std::vector<spec::Parameter> many;
  for (int i = 0; i < 500; ++i) many.push_back({"p" + std::to_string(i), real(0, 1)});
  spec.trials = 2001;
  EXPECT_NE(refused(spec, space_of(many)).find("has at most 2000"), std::string::npos);
  spec.trials = 1001;
  EXPECT_NE(refused(spec, small, 3).find("with 3 goals has at most 1000"), std::string::npos);
  spec.algorithm = "grid";
  spec.trials.reset();
  EXPECT_NE(refused(spec, space_of({{"a", whole(1, 1000)}, {"b", whole(1, 1000)}})).find("grid would start 1000000"),
            std::string::npos);
  spec.algorithm = "random";
  EXPECT_NE(refused(spec, space_of({{"a", real(0, 1)}}, {"a > 1"})).find("no point of the search space meets"),
            std::string::npos);
}

// It was counted beforehand by making all its points: a million took a minute.
TEST(Searcher, AGridsPointsAreMadeAsTheyAreAskedFor) {
  SearchSpec spec;
  spec.algorithm = "grid";
  spec.trials = 100;
  const auto space = space_of({{"a", whole(1, 12)}, {"b", whole(1, 12)}}, {"a * b == 12"});
  const auto searcher = make_searcher(spec, space, 1);
  std::set<Values> points;
  while (const auto ask = searcher->ask()) {
    points.insert(ask->point);
    searcher->tell(ask->trial, spec.max_epochs, {1});
  }
  EXPECT_EQ(points.size(), 6u);
  EXPECT_TRUE(searcher->finished());
  EXPECT_EQ(searcher->expected_trials(), 6);
}

}  // namespace
}  // namespace tandem::search
