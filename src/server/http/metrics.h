// Counters, gauges and histograms, shown in Prometheus' text format (version 0.0.4).
//
//   Metrics metrics;
//   metrics.counter("tandem_jobs_total", "Jobs submitted", {{"kind", "tune"}}).add();
//   metrics.text();
//
// Thread-safe. What counter(), gauge() and histogram() return lives as long as the Metrics; asking again with
// the same name and labels gives the same one. Names and labels are the program's own: a bad name, or a name
// used for two kinds, is a bug. Label values may hold anything, but each new one is kept for good: never
// label with what a client may choose freely.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tandem::server {

using Labels = std::map<std::string, std::string>;

// Only goes up.
class Counter {
 public:
  void add(double by = 1);  // by >= 0
  double value() const { return value_; }

 private:
  std::atomic<double> value_{0};
};

class Gauge {
 public:
  void set(double to) { value_ = to; }
  void add(double by) { value_ += by; }
  double value() const { return value_; }

 private:
  std::atomic<double> value_{0};
};

class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds);  // upper ones, rising; +Inf is added
  void observe(double);

  struct Counts {
    std::vector<std::uint64_t> up_to;  // how many were at most each bound, and last how many there were
    double sum = 0;
  };
  Counts counts() const;
  const std::vector<double>& bounds() const { return bounds_; }

 private:
  const std::vector<double> bounds_;
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> in_;  // each bucket's own
  double sum_ = 0;
};

class Metrics {
 public:
  Metrics();
  Metrics(const Metrics&) = delete;
  ~Metrics();

  Counter& counter(const std::string& name, const std::string& help, const Labels& = {});
  Gauge& gauge(const std::string& name, const std::string& help, const Labels& = {});
  Histogram& histogram(const std::string& name, const std::string& help, const std::vector<double>& bounds,
                       const Labels& = {});

  std::string text() const;
  static constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct Family;
  Family& family(const std::string& name, const std::string& help, const char* type, const Labels&);

  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Family>> families_;
};

}  // namespace tandem::server
