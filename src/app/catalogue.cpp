#include "app/catalogue.h"

#include "data/dataset.h"
#include "data/models.h"
#include "graph/zoo.h"
#include "search/searcher.h"
#include "sim/step/strategy.h"

namespace tandem::app {

Catalogue catalogue() {
  Catalogue out{data::models(), data::datasets(), {}};
  for (const auto& entry : search::algorithms()) out.algorithms.push_back({entry.name, entry.description});
  for (const auto& entry : graph::zoo()) out.zoo.push_back({entry.name, entry.description});
  for (const auto& entry : sim::strategies()) out.strategies.push_back({entry.name, entry.description});
  out.schedulers = sim::schedulers();
  return out;
}

}  // namespace tandem::app
