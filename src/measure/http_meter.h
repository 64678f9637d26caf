// A power meter on the network (a PDU, a smart plug): asked twice a second, integrated by trapezoid.
//
// A thread of its own asks, so a slow or dead meter never holds the control loop up; `read` only takes a
// lock. Where no answer came for longer than `longest_gap`, the stretch is unmeasured. The destructor ends
// the thread at once (but for a name being looked up).
#pragma once

#include <mutex>
#include <string>
#include <thread>

#include "measure/meter.h"
#include "measure/power_integral.h"
#include "platform/http_client.h"

namespace tandem::measure {

struct HttpMeterOptions {
  std::string url;
  Seconds period{0.5};
  Seconds timeout{2};
  Seconds longest_gap{5};
  Clock clock = steady_now;  // called from both threads
};

// Asks once. Throws UserError for a bad address, SystemError when there is no power in the answer.
Watts ask_power_meter(const std::string& url, Seconds timeout = Seconds{2}, int cancel_fd = -1);

class HttpMeter : public Meter {
 public:
  // Asks once itself, so that the first stretch is measured from its beginning, and throws as ask_power_meter
  // does.
  explicit HttpMeter(HttpMeterOptions);
  ~HttpMeter() override;
  HttpMeter(const HttpMeter&) = delete;
  HttpMeter& operator=(const HttpMeter&) = delete;

  std::string source() const override { return "pdu"; }
  bool measured() const override { return true; }
  std::optional<MeterReading> read() override;
  std::string last_trouble() const;  // of the newest question; empty when it was answered

 private:
  void ask();
  void keep_asking();

  const HttpMeterOptions options_;
  int cancel_fd_;
  mutable std::mutex mutex_;  // guards the two below
  PowerIntegral integral_;
  std::string trouble_;
  std::thread thread_;
};

}  // namespace tandem::measure
