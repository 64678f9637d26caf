// bench/search: what an ask and a tell cost when a search has many trials.
//
// Ten parameters. Requirements: under 1 ms at 10 000 trials for tpe, under 5 ms for tpe-multivariate. Prints
// the median with the spread and PASS or MISSED; exits 0 either way. `search_bench serve` is the other half
// of bench/search/run, which compares with Optuna.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>

#include "bench/search/bench.h"
#include "search/searcher.h"

namespace tandem::bench {
namespace {

spec::Space ten_parameters() {
  spec::Space out;
  for (int i = 0; i < 10; ++i)
    out.parameters.push_back(
        {fmt::format("x{}", i), i < 8 ? real(-5, 10) : log_whole(1, 1000), std::nullopt});
  return out;
}

double bowl(const Values& point) {
  double sum = 0;
  for (const auto& [name, value] : point) {
    const double x = *as_number(value) - 1;
    sum += x * x;
  }
  return sum;
}

// A searcher as jobs use it; every trial runs one epoch.
struct Search {
  Search(const std::string& algorithm, const spec::Space& space, std::uint64_t seed, std::int64_t trials)
      : searcher(search::make_searcher(spec_of(algorithm, seed, trials), space, 1)) {}
  static spec::SearchSpec spec_of(const std::string& algorithm, std::uint64_t seed, std::int64_t trials) {
    spec::SearchSpec out;
    out.algorithm = algorithm;
    out.max_epochs = 1;
    out.trials = trials;
    out.seed = static_cast<std::int64_t>(seed);
    return out;
  }
  double step(const std::function<double(const Values&)>& loss_at) {
    const auto ask = searcher->ask();
    const double loss = loss_at(ask->point);
    searcher->tell(ask->trial, 1, {loss});
    return loss;
  }

  std::unique_ptr<search::Searcher> searcher;
};

}  // namespace

std::vector<double> search_for(const Problem& problem, const std::string& algorithm, std::uint64_t seed) {
  Search search(algorithm, problem.space, seed, problem.trials);
  std::vector<double> out;
  for (int i = 0; i < problem.trials; ++i) out.push_back(search.step(problem.loss));
  return out;
}

std::vector<double> ask_tell_seconds(const std::string& algorithm, std::int64_t trials, int asks) {
  Search search(algorithm, ten_parameters(), 1, trials);
  for (std::int64_t i = 0; i < trials - asks; ++i) search.step(bowl);
  std::vector<double> out;
  for (int i = 0; i < asks; ++i) {
    const auto from = std::chrono::steady_clock::now();
    search.step(bowl);
    out.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count());
  }
  return out;
}

}  // namespace tandem::bench

int main(int count, char** arguments) {
  using namespace tandem::bench;
  const char* data = std::getenv("TANDEM_DATA");
  if (count > 1 && std::string(arguments[1]) == "serve") return serve(data ? data : "../shared/data");
  fmt::print("ask + tell, 10 parameters, one core: median ms [fastest, slowest] just before n trials\n");
  for (const std::string sampler : {"tpe", "tpe-multivariate"})
    for (const int trials : {100, 1000, 2000, 10000}) {
      auto seconds = ask_tell_seconds(sampler, trials, trials == 100 ? 50 : 100);
      std::sort(seconds.begin(), seconds.end());
      const double median = 1e3 * seconds[seconds.size() / 2], ceiling = sampler == "tpe" ? 1 : 5;
      fmt::print("{:17} n = {:6}: {:.3f} [{:.3f}, {:.3f}]", sampler, trials, median, 1e3 * seconds.front(),
                 1e3 * seconds.back());
      if (trials == 10000)
        fmt::print("   required < {} ms: {}", ceiling, median < ceiling ? "PASS" : "MISSED");
      fmt::print("\n");
    }
  return 0;
}
