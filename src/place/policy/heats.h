// HEATS: which machine type fits a task best, by the energy weight H that its owner chose.
//
//     score = H · (1 − E / E_max) + (1 − H) · (1 − T / T_max)
//
// E and T are predicted (heats_model.h), E without what the idle machine draws anyway, unless told otherwise.
// The maxima are over all types that could ever hold the task, with room now or not: a type's score does not
// change because another filled up, and scheduling and rescheduling speak of the same numbers. (Algorithm 4
// as printed adds T / T_max, so slow nodes would win; the prose means the above.)
//
// Ranking rules: the highest score first; among equals the type named first. A running task moves only where
// the type alone is better and what is left of it, with the cost of moving, still scores higher there than
// staying does. Pure functions of plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "place/policy/heats_model.h"

namespace tandem::place {

struct HeatsOption {
  std::uint32_t type = 0;
  Prediction predicted{};
};

struct HeatsScore {
  std::uint32_t type = 0;
  double score = 0, energy_part = 0, time_part = 0;  // the sum, and what each term gave
  Prediction predicted{};
};

// Best first. `out` is replaced.
void score(double h, std::span<const HeatsOption>, std::vector<HeatsScore>& out);
// "0.83 = 0.80 energy (210 J) + 0.03 time (8.1 s)"; "not known" for what nobody knows.
std::string why(const HeatsScore&);

struct HeatsOptions {
  enum class Moves { none, stateless, stateful };
  double h = 1;
  bool random_h = false;  // drawn for each task
  double every = 30;      // s between reschedulings; 0: never
  Moves moves = Moves::stateless;
  // Stateless: the task goes on where it is for so long while it starts on the new node; both hold their
  // resources. Stateful: it stands still for so long, while its checkpoint is written, moved and read.
  double cost = 2;  // s
  // Whether E counts a task's share of what its machine draws when idle (Prediction::idle_joules). Right
  // where machines are paid for as long as they are held, as in a batch that is run to its end; without it,
  // where they are on anyway: as the thesis has it.
  bool idle = false;
};

// Where the rest of a task should go; none: it stays. `left` is the share of its work still to be done,
// `here` what the whole of it takes where it is; `there` are better types that have room now.
std::optional<std::uint32_t> better_place(const HeatsOptions&, double h, double left, const Prediction& here,
                                          std::span<const HeatsOption> there);

}  // namespace tandem::place
