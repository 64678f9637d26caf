#include "report/replay_table.h"

#include <fmt/format.h>

#include "app/tune_results.h"
#include "report/html.h"
#include "report/text_table.h"
#include "report/tune_table.h"

namespace tandem::report {
using namespace app;
namespace {

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string whole_text(const Replayed& replayed) {
  std::string out = fmt::format("replayed: {}, measured {}, error {}\n", text(replayed.played),
                                text(replayed.measured), percent(std::abs(replayed.error())));
  if (replayed.epochs_played != replayed.epochs_measured)
    out += fmt::format("  the replay ran {} epochs, the run {}\n", replayed.epochs_played,
                       replayed.epochs_measured);
  if (!replayed.finished)
    out += "  the run did not come to its own end; the replay goes on as if it had not been stopped\n";
  if (!replayed.played_out) out += "  the replay did not come to a good end: its job failed or got stuck\n";
  const auto& guesses = replayed.guesses;
  if (guesses.beyond + guesses.points + guesses.configurations > 0)
    out += fmt::format(
        "  guesses among {} epochs: {} beyond what the run did, {} of other hyperparameters, {} in "
        "configurations "
        "it did not try\n",
        guesses.epochs, guesses.beyond, guesses.points, guesses.configurations);
  return out;
}

}  // namespace

std::string replay_table(const store::RunInfo& run, const View& view, const Replayed& replayed) {
  const char* unit = view.jobs.front().as<spec::TuneJob>() ? "trial" : "task";
  std::vector<std::vector<std::string>> lines{{unit, "epochs", "measured s", "predicted s", "median error"}};
  for (const auto& task : replayed.tasks) {
    const bool some = task.epochs > task.unpredicted;
    lines.push_back({std::to_string(task.task), std::to_string(task.epochs),
                     some ? number_text(task.measured.value) : "-",
                     some ? number_text(task.predicted.value) : "-", some ? percent(task.median) : "-"});
  }
  std::string out = fmt::format("replay of {} ({})\n\n{}\n", run.name, run.id, text_table(lines, 0));
  std::int64_t unpredicted = 0;
  for (const auto& task : replayed.tasks) unpredicted += task.unpredicted;
  out += fmt::format("epochs: median error {}, each predicted from the others\n",
                     replayed.median ? percent(*replayed.median) : "unknown");
  if (unpredicted > 0)
    out += fmt::format("  {} of {} not predicted: nothing else like them was measured\n", unpredicted,
                       replayed.epochs.size());
  return out + whole_text(replayed);
}

}  // namespace tandem::report
