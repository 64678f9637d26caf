#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <utility>

#include "app/results.h"
#include "base/printable_stream.h"
#include "base/text.h"
#include "app/gpu_text.h"
#include "report/result_table.h"

namespace tandem::cli {
namespace {

constexpr int kBarWidth = 24;

std::string epoch_line(const EpochEnded& e, std::int64_t of, bool again) {
  std::string line = fmt::format("epoch {:>{}}/{}", e.epoch, fmt::formatted_size("{}", of), of);
  if (const auto score = score_of(e.metrics)) line += fmt::format("  {} {:.4f}", score->metric, score->value);
  for (const auto& [name, value] : e.metrics)
    if (name == "loss") line += fmt::format("  loss {:.4f}", value);
  for (const auto& name : e.not_finite) line += fmt::format("  {} null", name);
  line += "  " + text(e.seconds);
  if (e.energy) line += "  " + text(e.energy->joules);
  return again ? line + "  again" : line;
}

std::string failure_line(const TaskFailed& failed) {
  return fmt::format("attempt {} {}: {}", failed.attempt, name(failed.failure),
                     printable(failed.detail, 300));
}

// Once for each metric of a task.
std::string not_finite_line(const View& view, const EpochEnded& e) {
  std::string out;
  for (const auto& name : e.not_finite) {
    const auto& epochs = view.tasks.at(static_cast<std::size_t>(e.task)).epochs;
    const bool before = std::any_of(epochs.begin(), epochs.end(), [&](const EpochRecord& record) {
      return record.epoch < e.epoch &&
             std::count(record.not_finite.begin(), record.not_finite.end(), name) > 0;
    });
    if (!before)
      out += fmt::format("{}task {}: metric '{}' is not a finite number in epoch {}: kept as null",
                         out.empty() ? "" : "; ", e.task, name, e.epoch);
  }
  return out;
}

int columns_at(int file, int otherwise) {
  winsize size{};
  return ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : otherwise;
}

}  // namespace

std::string said(const View& view, const EventBody& body) {
  if (const auto* failed = std::get_if<TaskFailed>(&body)) return failure_line(*failed);
  if (const auto* ended = std::get_if<TaskEnded>(&body); ended && view.jobs.front().tasks.front() == ended->task)
    return unread_text(view.jobs.front());
  if (const auto* epoch = std::get_if<EpochEnded>(&body)) return not_finite_line(view, *epoch);
  if (const auto* cancelled = std::get_if<JobCancelled>(&body)) return cancelled->reason + ": stopping";
  if (const auto* refused = std::get_if<DecisionRefused>(&body)) return "refused: " + refused->reason;
  if (const auto* started = std::get_if<TaskStarted>(&body)) {
    const auto& task = view.tasks.at(static_cast<std::size_t>(started->task));
    if (started->attempt > 1)
      return fmt::format("attempt {} goes on after epoch {}", started->attempt, task.reported());
  }
  return "";
}

bool SeenEpochs::again(const View& view, const control::Entry& entry) {
  if (!std::exchange(begun_, true))
    for (const auto& task : view.tasks)
      if (!task.epochs.empty()) reached_[task.id] = task.epochs.back().epoch;
  const auto* e = std::get_if<EpochEnded>(&entry.event.body);
  if (e == nullptr) return false;
  auto& reached = reached_[e->task];
  const bool again = e->epoch <= reached;
  reached = std::max(reached, e->epoch);
  return again;
}

int terminal_width() {
  return columns_at(STDERR_FILENO, 80);
}

int output_width() {
  return columns_at(STDOUT_FILENO, 100);
}

void LiveBlock::draw(const std::vector<std::string>& lines) {
  std::string out = drawn_ > 0 ? fmt::format("\x1b[{}A", drawn_) : "";
  for (const auto& line : lines) out += "\r\x1b[2K" + cut_to(printable_line(line), terminal_width() - 1) + "\n";
  out += "\x1b[J";
  write_as_it_is(std::cerr, out);
  std::cerr << std::flush;
  drawn_ = static_cast<int>(lines.size());
}

void LiveBlock::clear() {
  if (drawn_ > 0) write_as_it_is(std::cerr, fmt::format("\x1b[{}A\r\x1b[J", drawn_));
  std::cerr << std::flush;
  drawn_ = 0;
}

namespace {

class PlainProgress final : public control::Observer {
 public:
  PlainProgress(const std::string& name, const std::string& run) {
    std::cerr << name << ": run " << run << "\n";
  }

  void saw(const View& view, const control::Entry& entry) override {
    const bool again = seen_.again(view, entry);
    if (const auto* epoch = std::get_if<EpochEnded>(&entry.event.body))
      std::cerr << epoch_line(*epoch, view.jobs.front().base().epochs, again) << std::endl;
    if (const auto line = said(view, entry.event.body); !line.empty()) std::cerr << line << std::endl;
  }

 private:
  SeenEpochs seen_;
};

class LiveProgress final : public control::Observer {
 public:
  LiveProgress(std::string name, const std::string& run) : name_(std::move(name)) {
    std::cerr << name_ << ": run " << run << "\n";
  }

  void saw(const View& view, const control::Entry& entry) override {
    const bool again = seen_.again(view, entry);
    if (const auto* epoch = std::get_if<EpochEnded>(&entry.event.body)) {
      last_ = epoch_line(*epoch, view.jobs.front().base().epochs, again);
      epoch_began_ = std::chrono::steady_clock::now();
    }
    if (const auto line = said(view, entry.event.body); !line.empty()) {
      block_.clear();
      std::cerr << line << std::endl;
    } else if (std::holds_alternative<TaskStarted>(entry.event.body)) {
      epoch_began_ = std::chrono::steady_clock::now();
    }
    tick(view);
  }

  void tick(const View& view) override {
    if (view.jobs.empty() || view.tasks.empty()) return;
    const auto& task = view.tasks.front();
    const auto wanted = static_cast<double>(view.jobs.front().base().epochs);
    const double in_epoch =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - epoch_began_).count();
    double typical = 0;
    for (const auto& record : task.epochs) typical += record.working().value;
    typical = task.epochs.empty() ? 0 : typical / static_cast<double>(task.epochs.size());
    const double part = typical > 0 ? std::min(in_epoch / typical, 1.0) : 0;
    const double done = std::min(static_cast<double>(task.reported()) + part, wanted);

    std::string line =
        fmt::format("{}  {}", bar(done / wanted), last_.empty() ? tandem::name(task.state) : last_.c_str());
    line += fmt::format("  {}", text(task.granted));
    if (typical > 0 && task.reported() < static_cast<std::int64_t>(wanted))
      line += fmt::format("  {} left", text(Seconds{typical * (wanted - done)}));
    std::vector<std::string> lines{line};
    for (const auto& gpu : gpus_.look()) lines.push_back(gpu);
    block_.draw(lines);
  }

 private:
  static std::string bar(double share) {
    const int full = static_cast<int>(share * kBarWidth + 0.5);
    std::string out;
    for (int i = 0; i < kBarWidth; ++i) out += i < full ? "━" : "╌";
    return out;
  }

  std::string name_, last_;
  std::chrono::steady_clock::time_point epoch_began_ = std::chrono::steady_clock::now();
  SeenEpochs seen_;
  GpuLines gpus_;
  LiveBlock block_;
};

}  // namespace

std::unique_ptr<control::Observer> make_progress(const std::string& name, const std::string& run) {
  if (::isatty(STDERR_FILENO)) return std::make_unique<LiveProgress>(name, run);
  return std::make_unique<PlainProgress>(name, run);
}

}  // namespace tandem::cli
