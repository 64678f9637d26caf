#include "event/knowledge.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tandem {
namespace {

using nlohmann::json;

double finite(const json& value) {
  const double number = value.get<double>();
  if (!std::isfinite(number) || number < 0) throw SystemError("a number of it is not a time, rate or energy");
  return number;
}

Metrics rates_from(const json& object) {
  Metrics rates;
  for (const auto& [name, value] : object.items()) rates[name] = finite(value);
  return rates;
}

Measured measured_from(const json& object) {
  Measured out{resources_from_json(object.at("system")), finite(object.at("seconds")), std::nullopt,
               object.at("epochs").get<std::int64_t>()};
  if (object.contains("joules") && !object["joules"].is_null()) out.joules = finite(object["joules"]);
  return out;
}

}  // namespace

json to_json(const KnownWorkload& workload) {
  auto measured = json::array();
  for (const auto& m : workload.measured)
    measured.push_back({{"system", to_json(m.system)},
                        {"seconds", m.seconds},
                        {"joules", m.joules ? json(*m.joules) : json(nullptr)},
                        {"epochs", m.epochs}});
  return {{"machine", workload.machine},
          {"batch", workload.batch},
          {"reference", to_json(workload.reference)},
          {"rates", workload.rates},
          {"spread", workload.spread},
          {"measured", measured},
          {"first_seconds", workload.first_seconds}};
}

KnownWorkload known_workload_from_json(const json& object) {
  try {
    KnownWorkload out{object.at("machine").get<std::string>(),
                      finite(object.at("batch")),
                      resources_from_json(object.at("reference")),
                      rates_from(object.at("rates")),
                      rates_from(object.at("spread")),
                      {}};
    for (const auto& m : object.at("measured")) out.measured.push_back(measured_from(m));
    // Older exports do not have it.
    if (object.contains("first_seconds")) out.first_seconds = finite(object["first_seconds"]);
    return out;
  } catch (const json::exception& e) {
    throw SystemError(std::string("a record of known work is damaged: ") + e.what());
  }
}

}  // namespace tandem
