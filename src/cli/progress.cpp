#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "app/results.h"
#include "base/text.h"
#include "base/printable_stream.h"
#include "report/gpu_text.h"
#include "report/result_table.h"

namespace tandem::cli {
namespace {

constexpr int kBarWidth = 24;

std::string epoch_line(const EpochEnded& e, std::int64_t of) {
  std::string line = fmt::format("epoch {:>{}}/{}", e.epoch, fmt::formatted_size("{}", of), of);
  if (const auto score = score_of(e.metrics)) line += fmt::format("  {} {:.4f}", score->metric, score->value);
  for (const auto& [name, value] : e.metrics)
    if (name == "loss") line += fmt::format("  loss {:.4f}", value);
  line += "  " + text(e.seconds);
  if (e.energy) line += "  " + text(e.energy->joules);
  return line;
}

std::string failure_line(const TaskFailed& failed) {
  return fmt::format("attempt {} {}: {}", failed.attempt, name(failed.failure),
                     printable(failed.detail, 300));
}

int columns_at(int file, int otherwise) {
  winsize size{};
  return ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : otherwise;
}

}  // namespace

std::string said(const View& view, const EventBody& body) {
  if (const auto* failed = std::get_if<TaskFailed>(&body)) return failure_line(*failed);
  if (const auto* cancelled = std::get_if<JobCancelled>(&body)) return cancelled->reason + ": stopping";
  if (const auto* refused = std::get_if<DecisionRefused>(&body)) return "refused: " + refused->reason;
  if (const auto* started = std::get_if<TaskStarted>(&body)) {
    const auto& task = view.tasks.at(static_cast<std::size_t>(started->task));
    if (started->attempt > 1)
      return fmt::format("attempt {} goes on after epoch {}", started->attempt, task.reported());
  }
  return "";
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
    if (const auto* epoch = std::get_if<EpochEnded>(&entry.event.body))
      std::cerr << epoch_line(*epoch, view.jobs.front().base().epochs) << std::endl;
    else if (const auto line = said(view, entry.event.body); !line.empty())
      std::cerr << line << std::endl;
  }
};

class LiveProgress final : public control::Observer {
 public:
  LiveProgress(std::string name, const std::string& run) : name_(std::move(name)) {
    std::cerr << name_ << ": run " << run << "\n";
  }

  void saw(const View& view, const control::Entry& entry) override {
    if (const auto* epoch = std::get_if<EpochEnded>(&entry.event.body)) {
      last_ = epoch_line(*epoch, view.jobs.front().base().epochs);
      epoch_began_ = std::chrono::steady_clock::now();
    } else if (const auto line = said(view, entry.event.body); !line.empty()) {
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
    for (const auto& record : task.epochs) typical += record.seconds.value;
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
  GpuLines gpus_;
  LiveBlock block_;
};

}  // namespace

std::unique_ptr<control::Observer> make_progress(const std::string& name, const std::string& run) {
  if (::isatty(STDERR_FILENO)) return std::make_unique<LiveProgress>(name, run);
  return std::make_unique<PlainProgress>(name, run);
}

}  // namespace tandem::cli
