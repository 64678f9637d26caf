#include "measure/gpu_meter.h"

#include <algorithm>

#include "base/text.h"

namespace tandem::measure {
namespace {

constexpr Seconds kLongestGap{5};
constexpr int kMostAgain = 2000;  // readings until a step is over: some milliseconds
constexpr int kMostPolls = 400;   // until two steps were seen
constexpr Seconds kPause{0.003};  // between them: the program trains meanwhile

}  // namespace

GpuMeter::GpuMeter(std::shared_ptr<platform::Nvml> nvml, std::size_t gpu, Clock clock)
    : nvml_(std::move(nvml)),
      gpu_(gpu),
      clock_(std::move(clock)),
      counts_(nvml_->gpus().at(gpu).reports_energy),
      integral_(kLongestGap) {}

std::string GpuMeter::source() const {
  return nvml_->source() + (counts_ ? "" : " (power samples)");
}

std::optional<MeterReading> GpuMeter::read() {
  return counts_ ? read_counter() : read_power();
}

// A call takes some milliseconds: it is taken to tell of their middle.
std::optional<GpuMeter::Count> GpuMeter::count() const {
  const Seconds before = clock_();
  const auto millijoules = nvml_->energy(gpu_);
  if (!millijoules) return std::nullopt;
  return Count{(before + clock_()) / 2, *millijoules};
}

std::optional<MeterReading> GpuMeter::read_counter() {
  auto now = count();
  for (int again = 0; now && steps_.stepping(now->at) && again < kMostAgain; ++again) now = count();
  if (!now) return std::nullopt;  // the next reading covers this stretch as well
  if (last_) {
    if (const auto added = platform::millijoules_between(last_->millijoules, now->millijoules))
      reading_.total += Joules{static_cast<double>(*added) * 1e-3};
    else
      ++reading_.breaks, steps_ = {};
  }
  last_ = now;
  // Never back: what was taken to be used since a step may have been too much.
  told_ = std::max(told_, reading_.total.value + steps_.missed(now->at, reading_.total.value) - ahead_);
  return MeterReading{Joules{told_}, reading_.breaks};
}

void GpuMeter::find_steps(const std::function<void(Seconds)>& pause) {
  if (!counts_ || !last_) return;
  double joules = reading_.total.value;
  auto before = *last_;
  auto search = CounterSteps::Search::goes_on;
  steps_.begin(before.at, joules);
  for (int poll = 0; search == CounterSteps::Search::goes_on && poll < kMostPolls; ++poll) {
    pause(kPause);
    const auto now = count();
    const auto added =
        now ? platform::millijoules_between(before.millijoules, now->millijoules) : std::nullopt;
    if (!added) break;
    joules += static_cast<double>(*added) * 1e-3;
    search = steps_.poll(now->at, joules);
    before = *now;
  }
  // The last reading was told already.
  if (search == CounterSteps::Search::found)
    ahead_ = reading_.total.value + steps_.first_missed() - told_;
  else
    steps_ = {};
}

std::optional<MeterReading> GpuMeter::read_power() {
  const Seconds now = clock_();
  if (const auto watts = nvml_->watts(gpu_)) integral_.add(now, Watts{*watts});
  return integral_.at(now);
}

NvmlMeter::NvmlMeter(const std::shared_ptr<platform::Nvml>& nvml, const Clock& clock) {
  for (std::size_t gpu = 0; gpu < nvml->gpus().size(); ++gpu) gpus_.emplace_back(nvml, gpu, clock);
}

std::string NvmlMeter::source() const {
  std::vector<std::string> sources;
  for (const auto& gpu : gpus_)
    if (std::find(sources.begin(), sources.end(), gpu.source()) == sources.end())
      sources.push_back(gpu.source());
  return join(sources, " + ");
}

std::optional<MeterReading> NvmlMeter::read() {
  MeterReading sum;
  bool all = true;
  for (auto& gpu : gpus_) {
    const auto reading = gpu.read();  // each of them, so that none misses a sample
    all &= reading.has_value();
    if (!reading) continue;
    sum.total += reading->total;
    sum.breaks += reading->breaks;
  }
  if (!all) return std::nullopt;
  return sum;
}

}  // namespace tandem::measure
