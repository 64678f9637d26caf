#include "cli/sim_calibrate.h"

#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/calibration.h"
#include "base/error.h"
#include "app/output_file.h"

namespace tandem::cli {
namespace {

std::string found_text(const store::RunInfo& run, const sim::Calibration& found,
                       const std::vector<sim::MeasuredEpoch>& epochs) {
  const auto& device = found.device;
  std::string out = fmt::format("from {} ({}), {} combinations of batch size and cores:\n", run.name, run.id,
                                epochs.size());
  out += fmt::format("  a core reaches {:.2f} GFLOP/s; each further one adds {:.0f} % of it\n",
                     device.clock * device.flops_a_cycle * 1e-9, 100 * device.added_core);
  out += fmt::format("  starting an operation takes {:.1f} us\n", device.overhead * 1e6);
  out += fmt::format("  its own epochs are met with a median error of {:.1f} %, at worst {:.1f} %\n",
                     100 * found.median_error, 100 * found.worst_error);
  for (const auto& note : found.notes) out += "  " + note + "\n";
  return out;
}

}  // namespace

int calibrate_machine(const StoreOption& where, const CalibrateOptions& options, const JsonOption& as_json) {
  auto store = where.open();
  const auto calibrated = calibrate_run(store, options.run);
  const auto& [run, found, epochs, yaml] = calibrated;
  as_json.write(calibration_json(calibrated));
  if (!as_json.alone()) std::cout << found_text(run, found, epochs);
  if (!options.output.empty()) {
    write_file(options.output, yaml);
    if (!as_json.alone())
      std::cout << "\ntry: " << own_command() << " sim " << options.output
                << " --sweep batch=32,256 threads=" << (found.device.cores > 1 ? "1,2" : "1") << "\n";
  } else if (!as_json.alone()) {
    std::cout << "\n" << yaml;
  }
  return kDone;
}

}  // namespace tandem::cli
