// Quantities that carry their unit in their type, so that seconds are never added to joules.
//
// A Quantity is a plain double with arithmetic inside its own unit and scaling by numbers. `text()` renders
// it for people ("1.5 s", "2 GiB"); `parse_*` read what people write ("90s", "2GiB", "150W", "80%").
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tandem {

template <class Unit>
struct Quantity {
  double value = 0;

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value -= other.value;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(Quantity a, double by) { return {a.value * by}; }
  friend constexpr Quantity operator*(double by, Quantity a) { return {a.value * by}; }
  friend constexpr Quantity operator/(Quantity a, double by) { return {a.value / by}; }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
};

using Seconds = Quantity<struct SecondsUnit>;
using Joules = Quantity<struct JoulesUnit>;
using Watts = Quantity<struct WattsUnit>;

constexpr Joules operator*(Watts power, Seconds time) {
  return {power.value * time.value};
}

// A count of bytes; whole, never negative in practice.
using Bytes = std::int64_t;
inline constexpr Bytes kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

// What people read.
std::string text(Seconds);      // "850 ms", "12.3 s", "4 min 05 s", "3 h 20 min", "12 d 03 h"
std::string text(Joules);       // "12.3 J", "1.2 kJ"
std::string text(Watts);        // "95 W"
std::string text_bytes(Bytes);  // "512 MiB", "1.5 GiB"
std::string text_bandwidth(double bytes_a_second);  // "12 GB/s", "1.25 GB/s"
std::string text_frequency(double hertz);           // "824 MHz", "3.498 GHz"

// What people write; nullopt when it is not that quantity. A unit is required where guessing could hurt.
std::optional<Seconds> parse_seconds(std::string_view);  // "90s", "1.5h", "5min", "250ms", "2d"
std::optional<Bytes> parse_bytes(std::string_view);      // "2GiB", "512MB", "1024B"
std::optional<Watts> parse_watts(std::string_view);      // "150W", "1.2kW"
std::optional<Joules> parse_joules(std::string_view);    // "500J", "20kJ", "1.5MJ", "3Wh", "0.2kWh"
std::optional<double> parse_fraction(std::string_view);  // "80%", "0.8"
// Bytes a second; a small b counts bits: "12GB/s", "800MiB/s", "10Gb/s".
std::optional<double> parse_bandwidth(std::string_view);
std::optional<double> parse_frequency(std::string_view);  // Hz: "824MHz", "1.2GHz"

}  // namespace tandem
