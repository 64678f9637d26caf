#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace tandem {
namespace {

struct UnitName {
  std::string_view name;
  double factor;
};

constexpr std::array<UnitName, 8> kTimes{
    {{"ms", 1e-3}, {"us", 1e-6}, {"s", 1}, {"sec", 1}, {"min", 60}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
constexpr std::array<UnitName, 9> kSizes{{{"B", 1},
                                          {"KiB", 1024},
                                          {"MiB", 1024. * 1024},
                                          {"GiB", 1024. * 1024 * 1024},
                                          {"TiB", 1024. * 1024 * 1024 * 1024},
                                          {"kB", 1e3},
                                          {"MB", 1e6},
                                          {"GB", 1e9},
                                          {"TB", 1e12}}};
constexpr std::array<UnitName, 3> kPowers{{{"mW", 1e-3}, {"W", 1}, {"kW", 1e3}}};
constexpr std::array<UnitName, 5> kEnergies{
    {{"J", 1}, {"kJ", 1e3}, {"MJ", 1e6}, {"Wh", 3600}, {"kWh", 3.6e6}}};
constexpr std::array<UnitName, 14> kBandwidths{{{"B/s", 1},
                                                {"KiB/s", 1024},
                                                {"MiB/s", 1024. * 1024},
                                                {"GiB/s", 1024. * 1024 * 1024},
                                                {"TiB/s", 1024. * 1024 * 1024 * 1024},
                                                {"kB/s", 1e3},
                                                {"MB/s", 1e6},
                                                {"GB/s", 1e9},
                                                {"TB/s", 1e12},
                                                {"b/s", 1. / 8},
                                                {"kb/s", 1e3 / 8},
                                                {"Mb/s", 1e6 / 8},
                                                {"Gb/s", 1e9 / 8},
                                                {"Tb/s", 1e12 / 8}}};
constexpr std::array<UnitName, 4> kFrequencies{{{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}}};

// Splits "1.5 GiB" into 1.5 and its unit's factor; nullopt when either half is not understood.
std::optional<double> parse_with_unit(std::string_view written, std::span<const UnitName> units) {
  double number = 0;
  const char* end = written.data() + written.size();
  auto [rest, error] = std::from_chars(written.data(), end, number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  while (rest != end && *rest == ' ') ++rest;
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  for (const auto& known : units)
    if (known.name == unit && std::isfinite(number * known.factor)) return number * known.factor;
  return std::nullopt;
}

// With the unit that leaves less than a thousand of it, where there is one.
std::string text_in_thousands(double value, std::span<const char* const> names) {
  std::size_t unit = 0;
  while (std::abs(value) >= 999.95 && unit + 1 < names.size()) value /= 1000, ++unit;
  return fmt::format("{:.4g} {}", value, names[unit]);
}

}  // namespace

std::string text(Seconds s) {
  if (s.value < 0) return "-" + text(Seconds{-s.value});
  if (s.value == 0) return "0 s";
  // Limits just below the next unit, so that rounding never says "1000 ms".
  if (s.value < 0.9995e-3) return fmt::format("{:.0f} us", s.value * 1e6);
  if (s.value < 0.9995) return fmt::format("{:.0f} ms", s.value * 1e3);
  if (s.value < 99.95) return fmt::format("{:.1f} s", s.value);
  if (!(s.value < 1e15)) return fmt::format("{:g} s", s.value);
  const auto whole = std::llround(s.value);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  if (whole < 100 * 3600) return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} d {:02} h", whole / 86400, whole % 86400 / 3600);
}

std::string text(Joules j) {
  if (j.value != 0 && std::abs(j.value) < 0.05) return fmt::format("{:.2g} J", j.value);  // not "0.0 J"
  if (std::abs(j.value) < 999.95) return fmt::format("{:.1f} J", j.value);
  if (std::abs(j.value) < 999995) return fmt::format("{:.2f} kJ", j.value / 1e3);
  if (std::abs(j.value) < 999995e3) return fmt::format("{:.2f} MJ", j.value / 1e6);
  return fmt::format("{:.2f} GJ", j.value / 1e9);
}

std::string text(Watts w) {
  if (std::abs(w.value) >= 9999.5) return fmt::format("{:.4g} kW", w.value / 1e3);
  return fmt::format("{:.4g} W", w.value);
}

std::string text_bytes(Bytes bytes) {
  constexpr std::array<const char*, 5> kNames{"B", "KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (std::abs(size) >= (unit == 0 ? 1024 : 1023.5) && unit + 1 < kNames.size()) size /= 1024, ++unit;
  return fmt::format("{:.4g} {}", size, kNames[unit]);
}

std::string text_bandwidth(double bytes_a_second) {
  constexpr std::array<const char*, 5> kNames{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  return text_in_thousands(bytes_a_second, kNames);
}

std::string text_frequency(double hertz) {
  constexpr std::array<const char*, 4> kNames{"Hz", "kHz", "MHz", "GHz"};
  return text_in_thousands(hertz, kNames);
}

std::optional<Seconds> parse_seconds(std::string_view written) {
  if (auto value = parse_with_unit(written, kTimes)) return Seconds{*value};
  return std::nullopt;
}

std::optional<Bytes> parse_bytes(std::string_view written) {
  auto value = parse_with_unit(written, kSizes);
  if (!value || *value > 9e18) return std::nullopt;
  return static_cast<Bytes>(std::llround(*value));
}

std::optional<Watts> parse_watts(std::string_view written) {
  if (auto value = parse_with_unit(written, kPowers)) return Watts{*value};
  return std::nullopt;
}

std::optional<Joules> parse_joules(std::string_view written) {
  if (auto value = parse_with_unit(written, kEnergies)) return Joules{*value};
  return std::nullopt;
}

std::optional<double> parse_fraction(std::string_view written) {
  constexpr std::array<UnitName, 1> kPercent{{{"%", 1}}}, kPlain{{{"", 1}}};
  // Divided, because 70 * 0.01 is not 0.7.
  if (auto value = parse_with_unit(written, kPercent)) return *value / 100;
  return parse_with_unit(written, kPlain);
}

std::optional<double> parse_bandwidth(std::string_view written) {
  return parse_with_unit(written, kBandwidths);
}

std::optional<double> parse_frequency(std::string_view written) {
  return parse_with_unit(written, kFrequencies);
}

}  // namespace tandem
