#include "report/sim_table.h"
#include "report/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "report/html.h"

namespace tandem::report {

using namespace app;
namespace {

using Cells = std::vector<std::string>;
constexpr std::size_t kMostNamed = 4;  // rows of a note

Cells heading(const std::vector<SimRow>& rows) {
  Cells out{"workload"};
  for (const auto& [key, value] : rows.front().cell.swept) out.push_back(key);
  for (const char* column :
       {"T_exec s", "T_comp s", "T_comm s", "T_mem s", "T_io s", "NET", "speed-up", "usage", "energy"})
    out.emplace_back(column);
  return out;
}

Cells line_of(const SimRow& row) {
  Cells out{row.cell.workload.name};
  for (const auto& [key, value] : row.cell.swept) out.push_back(value);
  if (!row.error.empty()) {
    out.push_back("cannot run");
    return out;
  }
  const auto& result = row.result;
  for (const double seconds : {result.t_exec, result.t_comp, result.t_comm, result.t_mem, result.t_io})
    out.push_back(number_text(seconds));
  out.push_back(bytes_text(result.traffic[static_cast<std::size_t>(sim::LinkClass::network)].sent));
  out.push_back(row.speedup ? fmt::format("{:.2f}", *row.speedup) : "-");
  out.push_back(fmt::format("{:.1f} %", 100 * result.usage));
  out.push_back(result.joules ? text(Joules{*result.joules}) : "-");
  return out;
}

// Each reason once, with the rows it is about.
class Notes {
 public:
  void add(const std::string& about, const std::string& row) {
    const auto known =
        std::find_if(all_.begin(), all_.end(), [&](const Note& one) { return one.about == about; });
    if (known == all_.end())
      all_.push_back({about, {row}});
    else
      known->rows.push_back(row);
  }
  std::vector<std::string> lines(std::size_t most) const {
    std::vector<std::string> out;
    for (const auto& note : all_) {
      if (out.size() == most) {
        out.push_back(fmt::format("... and {} more; --json has all of them", all_.size() - most));
        break;
      }
      auto rows = note.rows;
      if (rows.size() > kMostNamed) {
        rows.resize(kMostNamed - 1);
        rows.push_back(fmt::format("and {} more", note.rows.size() - rows.size()));
      }
      out.push_back(fmt::format("{}: {}", join(rows), note.about));
    }
    return out;
  }

 private:
  struct Note {
    std::string about;
    std::vector<std::string> rows;
  };
  std::vector<Note> all_;
};

std::string sim_legend(const std::vector<SimRow>& rows) {
  std::set<std::string> devices;
  bool network = false;
  for (const auto& row : rows) {
    if (!row.error.empty()) continue;
    devices.insert(row.device);
    network = network || row.result.network_joules;
  }
  if (devices.empty()) return "";
  return fmt::format(
      "T_exec = T_comp + T_comm + T_io of an average worker; T_mem is part of T_comp; NET is sent between "
      "nodes;\n"
      "speed-up is against one {} with strategy default and the same samples; energy is of devices{}.\n",
      devices.size() == 1 ? *devices.begin() : "device of the same type",
      network ? " and the network" : "; links are not counted");
}

std::string role_of(const sim::DeviceUse& device) {
  if (device.worker && device.server) return "worker and server";
  return device.worker ? "worker" : device.server ? "server" : "beside";
}

std::string device_lines(const sim::RunResult& result) {
  std::string out;
  for (const auto& group : device_groups(result)) {
    const double share = result.t_exec > 0 ? 100 * group.busy / result.t_exec : 0;
    out += fmt::format("  {:>4} x {:<16} {:<17}  busy {:5.1f} %   {}\n", group.count, group.type, group.role,
                       share, group.joules ? text(Joules{*group.joules}) : "energy unknown");
  }
  return out;
}

std::string link_lines(const sim::RunResult& result) {
  std::string out;
  for (std::size_t i = 0; i < sim::kLinkClasses; ++i) {
    const auto& traffic = result.traffic[i];
    if (traffic.sent <= 0) continue;
    const auto link = static_cast<sim::LinkClass>(i);
    const auto joules = link_joules(result, link);
    const double share = result.t_exec > 0 ? 100 * traffic.busy / result.t_exec : 0;
    out += fmt::format("  {:<22} {:>17}   busy {:5.1f} %{}\n", sim::name(link), bytes_text(traffic.sent),
                       share, joules ? "   " + text(Joules{*joules}) : "");
  }
  return out;
}

}  // namespace

std::string sim_table(const spec::SimJob& job, const std::vector<SimRow>& rows) {
  std::string out = fmt::format("{} on {} ({})\n\n", job.name, job.cluster.name,
                                count_text(job.cluster.node_count(), "node", "nodes"));
  if (rows.empty()) return out;
  std::vector<Cells> lines{heading(rows)};
  for (const auto& row : rows) lines.push_back(line_of(row));
  out += text_table(lines, 1);
  const std::string notes = join(sim_notes(rows), "\n");
  return out + (notes.empty() ? "" : "\n" + notes + "\n") + "\n" + sim_legend(rows);
}

std::vector<std::string> sim_notes(const std::vector<SimRow>& rows, std::size_t most) {
  Notes notes;
  for (const auto& row : rows) {
    const std::string label = row.cell.label();
    if (!row.error.empty()) {
      notes.add("cannot run: " + row.error, label);
      continue;
    }
    if (!row.speedup) notes.add("no speed-up: " + row.no_speedup, label);
    if (const auto why = no_joules(row.result); !why.empty()) notes.add("energy unknown: " + why, label);
    if (row.result.extrapolated)
      notes.add("asynchronous: the first steps were simulated, the rest goes on at their pace", label);
  }
  return notes.lines(most);
}

std::string sim_details(const std::vector<SimRow>& rows) {
  std::string out;
  for (const auto& row : rows)
    if (row.error.empty())
      out += fmt::format("\n{}: {}, {} samples\n", row.cell.label(),
                         count_text(row.result.steps, "step", "steps"), row.result.samples) +
             device_lines(row.result) + link_lines(row.result);
  return out;
}

std::vector<DeviceGroup> device_groups(const sim::RunResult& result) {
  std::vector<DeviceGroup> out;
  for (const auto& device : result.devices) {
    const std::string role = role_of(device);
    auto group = std::find_if(out.begin(), out.end(), [&](const DeviceGroup& one) {
      return one.type == device.type && one.role == role;
    });
    if (group == out.end()) group = out.insert(out.end(), DeviceGroup{device.type, role});
    ++group->count;
    group->busy += device.busy;
    if (device.joules && group->joules)
      *group->joules += *device.joules;
    else
      group->joules.reset();
  }
  for (auto& group : out) group.busy /= group.count;
  return out;
}

std::string bytes_text(double bytes) {
  return text_bytes(static_cast<Bytes>(std::min(bytes, 9e18)));
}

}  // namespace tandem::report
