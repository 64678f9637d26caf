// The result of `tandem sim SPEC` for scripts. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/sim_grid.h"

namespace tandem::app {

// {name, cluster, seed, rows: [...]}; the shape of a row is described in docs/simulate.md.
nlohmann::json sim_json(const spec::SimJob&, const std::vector<SimRow>&);

// A swept value as a number or a flag where it is one: "8" is 8, "110kB" stays a word.
nlohmann::json swept_json(const std::string& written);

}  // namespace tandem::app
