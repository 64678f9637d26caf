#include "server/http/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <string_view>

#include "base/text.h"

namespace tandem::server {
namespace {

bool name_is_good(std::string_view name, bool colons) {
  const auto good = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (colons && c == ':');
  };
  return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
         std::all_of(name.begin(), name.end(), good);
}

bool labels_are_good(const Labels& labels) {
  return std::all_of(labels.begin(), labels.end(), [](const auto& label) {
    return name_is_good(label.first, false) && !label.first.starts_with("__") && label.first != "le";
  });
}

std::string escaped(const std::string& text, bool quotes) {
  std::string out;
  for (const char c : printable(text, text.size() + 1)) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else if (c == '"' && quotes)
      out += "\\\"";
    else
      out += c;
  }
  return out;
}

std::string number_shown(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

// {a="x",le="0.5"}; `more` is ready-made.
std::string in_braces(const Labels& labels, const std::string& more = "") {
  std::vector<std::string> parts;
  for (const auto& [name, value] : labels) parts.push_back(name + "=\"" + escaped(value, true) + "\"");
  if (!more.empty()) parts.push_back(more);
  return parts.empty() ? "" : "{" + join(parts, ",") + "}";
}

void show_histogram(std::string& out, const std::string& name, const Labels& labels,
                    const Histogram& histogram) {
  const auto counts = histogram.counts();
  for (std::size_t i = 0; i < counts.up_to.size(); ++i) {
    const double bound = i < histogram.bounds().size() ? histogram.bounds()[i] : INFINITY;
    out += fmt::format("{}_bucket{} {}\n", name, in_braces(labels, "le=\"" + number_shown(bound) + "\""),
                       counts.up_to[i]);
  }
  out += fmt::format("{}_sum{} {}\n", name, in_braces(labels), number_shown(counts.sum));
  out += fmt::format("{}_count{} {}\n", name, in_braces(labels), counts.up_to.back());
}

}  // namespace

void Counter::add(double by) {
  assert(by >= 0);
  value_ += by;
}

Histogram::Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), in_(bounds_.size() + 1) {
  assert(std::is_sorted(bounds_.begin(), bounds_.end(), std::less_equal<>()));
}

void Histogram::observe(double value) {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  const std::lock_guard lock(mutex_);
  ++in_[std::isnan(value) ? bounds_.size() : static_cast<std::size_t>(bucket)];
  sum_ += value;
}

Histogram::Counts Histogram::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts{in_, sum_};
  for (std::size_t i = 1; i < counts.up_to.size(); ++i) counts.up_to[i] += counts.up_to[i - 1];
  return counts;
}

struct Metrics::Family {
  std::string help;
  const char* type;
  std::map<Labels, std::unique_ptr<Counter>> counters;
  std::map<Labels, std::unique_ptr<Gauge>> gauges;
  std::map<Labels, std::unique_ptr<Histogram>> histograms;
};

Metrics::Metrics() = default;
Metrics::~Metrics() = default;

Metrics::Family& Metrics::family(const std::string& name, const std::string& help, const char* type,
                                 const Labels& labels) {
  assert(name_is_good(name, true));
  assert(labels_are_good(labels));
  auto& found = families_[name];
  if (!found) found = std::make_unique<Family>(Family{help, type, {}, {}, {}});
  assert(std::strcmp(found->type, type) == 0);
  return *found;
}

Counter& Metrics::counter(const std::string& name, const std::string& help, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  auto& one = family(name, help, "counter", labels).counters[labels];
  if (!one) one = std::make_unique<Counter>();
  return *one;
}

Gauge& Metrics::gauge(const std::string& name, const std::string& help, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  auto& one = family(name, help, "gauge", labels).gauges[labels];
  if (!one) one = std::make_unique<Gauge>();
  return *one;
}

Histogram& Metrics::histogram(const std::string& name, const std::string& help,
                              const std::vector<double>& bounds, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  auto& one = family(name, help, "histogram", labels).histograms[labels];
  if (!one) one = std::make_unique<Histogram>(bounds);
  assert(one->bounds() == bounds);
  return *one;
}

std::string Metrics::text() const {
  const std::lock_guard lock(mutex_);
  std::string out;
  for (const auto& [name, family] : families_) {
    out +=
        fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, escaped(family->help, false), name, family->type);
    for (const auto& [labels, counter] : family->counters)
      out += fmt::format("{}{} {}\n", name, in_braces(labels), number_shown(counter->value()));
    for (const auto& [labels, gauge] : family->gauges)
      out += fmt::format("{}{} {}\n", name, in_braces(labels), number_shown(gauge->value()));
    for (const auto& [labels, histogram] : family->histograms) show_histogram(out, name, labels, *histogram);
  }
  return out;
}

}  // namespace tandem::server
