#include "app/inference.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tandem::app {
namespace {

TaskView served(std::optional<Energy> energy, std::optional<Joules> startup) {
  TaskView task;
  EpochRecord record;
  record.metrics = {{"requests_per_second", 800}};
  record.seconds = Seconds{10};
  record.startup = Seconds{8};
  record.energy = std::move(energy);
  record.startup_energy = startup;
  task.epochs.push_back(record);
  return task;
}

TEST(Inference, EnergyOfServingIsWithoutThatOfStartUp) {
  const auto told = inference_of(served(Energy{Joules{100}, "rapl"}, Joules{60}));
  EXPECT_EQ(told.joules->value, 40);
  EXPECT_EQ(told.startup_joules->value, 60);
  // Not told apart: by its time.
  const auto shared = inference_of(served(Energy{Joules{100}, "rapl"}, std::nullopt));
  EXPECT_NEAR(shared.joules->value, 20, 1e-9);
  EXPECT_NEAR(shared.startup_joules->value, 80, 1e-9);
}

TEST(Inference, WithoutASourceEnergyIsNull) {
  const auto unknown = inference_of(served(std::nullopt, std::nullopt));
  const auto json = inference_json("run", {}, unknown);
  EXPECT_TRUE(json["joules"].is_null());
  EXPECT_TRUE(json["startup_joules"].is_null());
  EXPECT_TRUE(json["energy_source"].is_null());
  EXPECT_EQ(json["metrics"]["requests_per_second"], 800);
}

}  // namespace
}  // namespace tandem::app
