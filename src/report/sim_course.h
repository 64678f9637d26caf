// What devices did during the first steps of a row, over time: for the Gantt chart and for the plots of
// utilisation and power. Pure.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/sim_grid.h"
#include "report/sim_timeline.h"
#include "report/svg.h"

namespace tandem::report {

enum class Doing { forward, backward, update, communicating, reading };
inline constexpr std::size_t kDoings = 5;
inline constexpr std::array<const char*, kDoings> kDoingNames{"forward pass", "backward pass", "update",
                                                              "communication", "reading samples"};
inline constexpr std::array<int, kDoings> kDoingColours{0, 4, 2, 1, 9};  // of the style sheet

// When a device did what, in order and without overlaps. Who sends and who receives both communicate.
using DeviceCourse = std::array<std::vector<Interval>, kDoings>;
std::map<sim::DeviceId, DeviceCourse> courses_of(const app::Beginning&);

// Sorted, and joined where they overlap or are less than `gap` apart.
std::vector<Interval> joined(std::vector<Interval>, double gap = 0);

// In equal slices of time: (slice's begin, value).
struct SharesOverTime {
  Points computing, communicating;  // % of the workers
  std::optional<Points> watts;      // of all powered devices; none: the power of one is not known
};
SharesOverTime shares_over_time(const app::SimRow&, const spec::Cluster&, int slices);

// A unit that suits times up to `longest` seconds, and how many of it a second has.
struct ShortUnit {
  std::string name;
  double in_a_second = 1;
};
ShortUnit short_unit(double longest);

// Devices as rows. At most `most` of them are drawn; what is left out is said in `left_out`.
std::string gantt_svg(const app::SimRow&, const spec::Cluster&, std::size_t most, std::size_t* left_out);

}  // namespace tandem::report
