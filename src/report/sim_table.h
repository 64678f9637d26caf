// What `tandem sim` prints: one row a cell, and what each device type and each class of links did. Pure.
#pragma once

#include <string>
#include <vector>

#include "app/sim_grid.h"

namespace tandem::report {

// One row a cell, and below it what needs saying: why something is missing, what was extrapolated.
std::string sim_table(const spec::SimJob&, const std::vector<app::SimRow>&);

// What needs saying of the rows, each once and with the rows it is about; `most` of them, and how many more
// there are.
std::vector<std::string> sim_notes(const std::vector<app::SimRow>&, std::size_t most = 20);

// Devices and links of each row, for when there are few of them.
std::string sim_details(const std::vector<app::SimRow>&);

// Devices of a row that are alike, together.
struct DeviceGroup {
  std::string type, role;  // "worker", "server", "worker and server", "beside" (a processor of their nodes)
  int count = 0;
  double busy = 0;                  // s, in the mean
  std::optional<double> joules{0};  // of all
};
std::vector<DeviceGroup> device_groups(const sim::RunResult&);

std::string bytes_text(double);  // of any size

}  // namespace tandem::report
