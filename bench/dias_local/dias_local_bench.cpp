// DiAS on this machine: real bags of tasks, two priorities, beside the simulator on the same arrivals.
//
//   dias_local_bench [--jobs N] [--rounds N] [--runs N] [--seed N] [--bag PROGRAM]
//
// Exit code: 0 the directions agree; 1 one does not; 2 it could not be run.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>

#include "base/error.h"
#include "bench/dias_local/compare.h"

using namespace tandem;
using namespace tandem::bench;

namespace {

constexpr double kLoad = 0.8;
constexpr double kLowLoss = 0.3;  // what low jobs may lose: the thesis' use case

Table measured_table(const Calibration& measured) {
  Table table{
      "Measured one at a time: a job's median seconds, and its mean absolute relative error (largest)",
      {"class", "drop", "base speed", "of the whole", "sprinting", "loss", "largest"},
      {}};
  for (const std::size_t which : {kHigh, kLow}) {
    const auto& of = measured.classes[which];
    for (const auto& [drop, at] : of.by_drop)
      table.rows.push_back({kNames[which], percent(drop, 0), plain(at.seconds, 3),
                            percent(at.seconds / of.service(), 0),
                            drop == 0 && of.sprinting > 0 ? plain(of.sprinting, 3) : "–", percent(at.loss),
                            percent(at.worst)});
  }
  return table;
}

std::string said(const place::DiasDecision& decision) {
  const auto& timeout = decision.choice.timeouts[kHigh];
  return fmt::format(
      "The deflator, asked for no loss of high jobs and at most {} of low ones, tried {} choices on its "
      "queueing model: drop {} of low tasks, {}; it expects {:.2f} s for high jobs and {:.2f} s for low "
      "ones.",
      percent(kLowLoss, 0), decision.tried, percent(decision.choice.drops[kLow], 0),
      timeout ? fmt::format("sprint high jobs after {:.2f} s", timeout->value) : "no sprinting",
      decision.predicted.classes[kHigh].response, decision.predicted.classes[kLow].response);
}

struct Wanted {
  std::size_t jobs = 20, rounds = 5;
  int runs = 5;
  StageOptions stage{};
};

std::vector<Comparison> compare(Stage& stage, const Calibration& measured,
                                const std::vector<Contender>& policies, const Wanted& wanted) {
  std::vector<Real> here(policies.size());
  std::vector<Simulated> there;
  for (const auto& policy : policies) there.emplace_back(policy, measured);
  for (std::size_t round = 0; round < wanted.rounds; ++round) {
    const auto now = refreshed(stage, measured, wanted.runs);
    const auto arrivals = arrivals_of(rates_of(now, kLoad), wanted.jobs, wanted.stage.seed + round);
    for (std::size_t turn = 0; turn < policies.size(); ++turn) {
      const std::size_t i = (turn + round) % policies.size();  // so that none is always first
      fmt::print(stderr, "round {}, {} jobs in about {:.0f} s: {}\n", round + 1, arrivals.size(),
                 arrivals.back().at.value, policies[i].name);
      here[i].play(stage, policies[i], now, arrivals);
      there[i].play(policies[i], now, arrivals);
    }
  }
  std::vector<Comparison> out;
  for (std::size_t i = 0; i < policies.size(); ++i)
    out.push_back(
        {policies[i], here[i].outcome(), there[i].outcome(policies[i], measured), here[i].low_means()});
  return out;
}

int run(const Wanted& wanted) {
  Section section{"DiAS on this machine", {}, {}};
  Stage stage(wanted.stage);
  for (const auto& note : stage.notes()) section.say(note);
  const Calibration measured = calibrate(stage, wanted.runs);
  section.show(measured_table(measured));
  const auto system = system_of(stage, measured, kLoad);
  const auto decision = deflate(system, measured, stage.speed().can_sprint(), kLowLoss);
  if (!decision) throw UserError("the deflator found no choice that meets the targets");
  section.say(said(*decision));
  if (!stage.speed().can_sprint()) section.say("Nothing can sprint here: that policy is left out.");
  const auto all = compare(stage, measured, contenders(system, decision->choice), wanted);
  section.say(fmt::format(
      "{} high and {} low jobs at {} load, in {} rounds; in each, the machine's speed is measured again and "
      "every policy is given the same arrivals (seed {}), in turn first.",
      all[0].here.classes[kHigh].jobs, all[0].here.classes[kLow].jobs, percent(kLoad, 0), wanted.rounds,
      wanted.stage.seed));
  section.show(outcome_table("On this machine", all, true));
  section.show(outcome_table("In the simulator, with the measured times", all, false));
  section.show(spread_table(all));
  const auto judged = judge(all, kLowLoss);
  section.show(judged.table);
  section.verdict = judged.missed == 0 ? Verdict::held : Verdict::missed;
  section.summary = fmt::format("{} of {} asked hold", judged.held, judged.held + judged.missed);
  fmt::print("{}", as_text(section));
  return judged.missed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Wanted wanted;
  wanted.stage.bag = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "tandem-bag").string();
  CLI::App app{"DiAS on this machine, beside the simulator"};
  app.add_option("--jobs", wanted.jobs, "in a round")->check(CLI::Range(10, 100000));
  app.add_option("--rounds", wanted.rounds, "in which every policy is run")->check(CLI::Range(1, 1000));
  app.add_option("--runs", wanted.runs, "of each kind when calibrating")->check(CLI::Range(1, 1000));
  app.add_option("--seed", wanted.stage.seed, "of arrivals, inputs and what is dropped");
  app.add_option("--bag", wanted.stage.bag, "the program tandem-bag; default: beside this one");
  CLI11_PARSE(app, argc, argv);
  try {
    const auto begin = std::chrono::steady_clock::now();
    const int code = run(wanted);
    fmt::print("{:.0f} s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    return code;
  } catch (const std::runtime_error& error) {
    fmt::print(stderr, "dias_local_bench: {}\n", error.what());
    return 2;
  }
}
