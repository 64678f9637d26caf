// What was assumed, and the deflator's search.
#include <fmt/format.h>

#include "bench/dias/sections.h"
#include "bench/dias/setups.h"

namespace tandem::bench {
namespace {

using place::DiasDecision;
using place::DiasSearch;
using place::DiasSystem;
using place::DiasTarget;

// What was chosen, predicted, and then seen in the simulator.
void decided(Table& table, const std::string& what, const DiasSystem& system,
             const std::vector<DiasTarget>& targets, const DiasSearch& search) {
  const auto decision = place::choose(system, targets, search);
  if (!decision) {
    table.rows.push_back({what, "no choice meets them", "", "", "", "", ""});
    return;
  }
  Policy policy{"chosen", system.discipline, decision->choice, system.limit};
  const auto seen =
      play(system, {policy}, {.half_width = 0.02, .at_least = 60'000, .at_most = 120'000}, 9)[0];
  const auto& timeout = decision->choice.timeouts[0];
  const auto& predicted = decision->predicted;
  table.rows.push_back(
      {what,
       fmt::format("drop {} of low, {}", percent(decision->choice.drops[1], 0),
                   timeout ? fmt::format("sprint high after {:.0f} s", timeout->value) : "no sprint"),
       fmt::format("{} of {}", decision->feasible, decision->tried),
       fmt::format("{} / {}", short_number(predicted.classes[0].response),
                   short_number(seen.classes[0].mean)),
       fmt::format("{} / {}", short_number(predicted.classes[1].response),
                   short_number(seen.classes[1].mean)),
       percent(predicted.classes[1].loss),
       fmt::format("{} / {}", plain(predicted.power.value, 1), plain(seen.watts, 1))});
}

}  // namespace

Section assumptions_section() {
  Section section{"what the thesis leaves open, and what is assumed", {}, {}};
  const auto text = text_system({});
  const auto mean = [](const place::DiasJob& job) { return place::processing_time(job, kSlots).mean(); };
  section.say(
      "One job holds all 20 slots. The measured baseline P kills an evicted job and restarts it from zero "
      "with the same task times (preemptive-restart); the cited queueing method is preemptive-resume. Each "
      "place "
      "names which one it means.");
  section.say(fmt::format(
      "Word count: 50 map tasks, set-up 6.2 s (exponential), 20 reduce tasks of a twentieth of a map "
      "task, only maps are dropped. Task lengths grow with the data: {:.1f} s at 1117 MB. Tasks are "
      "steady (Erlang of 100 phases), since a drop of 20 % is said to save a wave. Jobs take {:.1f} s "
      "(high) and {:.1f} s (low); the scale was set so that low jobs queue 310 s under P.",
      text.classes[1].job.stages[0].task, mean(text.classes[0].job), mean(text.classes[1].job)));
  section.say(
      "Same sizes (figure 4.6 b): both 473 MB. Three priorities: medium at 795 MB, all scaled to 2.3 jobs a "
      "minute at a load of 80 %. Load is what jobs without drops would keep busy, waste not counted.");
  section.say(fmt::format(
      "Triangle count: six shuffle-map stages of 100 exponential tasks of 3 s and a result stage of 20, "
      "set-up 4 s: {:.1f} s, as table 4.2's low jobs; only shuffle-map tasks are dropped. The load "
      "is not told: 0.87 (bench/dias/setups.cpp says why).",
      mean(graph_job())));
  section.say(fmt::format(
      "Sprinting: 60 % less time at three times the clock means that 90 % of it follows the clock: {:.2f} "
      "times as fast. The budget of 22 kJ counts what a sprint takes beyond the usual power (90 W), "
      "so it lasts 244 s; six minutes an hour come back, always. Energy is counted while a job "
      "runs; idle power is not told and taken as 0.",
      place::PowerStates{}.sprint_speed()));
  section.say(
      "\"100 ms\" in the use case is read as 100 s. Killing, dispatching and changing the clock take no "
      "time.");
  section.summary = "stated";
  return section;
}

Section deflator_section() {
  Section section{"the deflator's search", {}, {}};
  Table table{"Chosen by the model, then simulated (predicted / seen)",
              {"targets", "choice", "feasible", "high mean s", "low mean s", "low loses", "W"},
              {}};
  const DiasSearch drops{.drops = {0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4}};
  const auto text = text_system({});
  decided(table, "high under 100 s, low loses at most 30 % (the thesis' use case)", text,
          {{Seconds{100}, {}, 0}, {{}, {}, 0.3}}, drops);
  decided(table, "high under 75 s, low loses at most 30 %", text, {{Seconds{75}, {}, 0}, {{}, {}, 0.3}},
          drops);
  decided(table, "high under 75 s, low loses at most 10 %", text, {{Seconds{75}, {}, 0}, {{}, {}, 0.1}},
          drops);
  DiasSearch balanced = drops;
  balanced.latency = 0.1;
  decided(table, "high under 100 s, low at most 30 %; latency weighs a tenth of accuracy", text,
          {{Seconds{100}, {}, 0}, {{}, {}, 0.3}}, balanced);
  auto graph = graph_system();
  graph.limit = graph_limit(graph.power);
  DiasSearch both{.drops = {0, 0.05, 0.1, 0.2},
                  .timeouts = {std::nullopt, Seconds{120}, Seconds{90}, Seconds{65}, Seconds{40}, Seconds{20},
                               Seconds{0}},
                  .sprints = {true, false}};
  decided(table, "graphs: high under 155 s, low under 400 s and loses at most 15 %", graph,
          {{Seconds{155}, {}, 0}, {Seconds{400}, {}, 0.15}}, both);
  both.drops = {0, 0.1, 0.2};
  decided(table, "graphs: 95 of 100 high under 220 s, of low under 1000 s, at most 15 %", graph,
          {{{}, Seconds{220}, 0}, {{}, Seconds{1000}, 0.15}}, both);
  section.show(table);
  section.say(
      "Of the choices that meet the targets the one that loses least accuracy is taken, of equals the one "
      "that sprints least; weights can put latency and power beside it. In our reference set-up the use "
      "case's 100 s are met without dropping; the thesis took 20 %.");
  section.summary = "drop ratios and timeouts found by exhausting the model";
  return section;
}

}  // namespace tandem::bench
