// How a classical learner lies on disk: model.ubj, for a forest model-1.ubj, model-2.ubj ... (XGBoost's
// UBJSON).
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/value.h"
#include "stats/regression/boosting.h"

namespace tandem::trainer {

bool is_boosting(const std::string& model);

// `hyper` is complete.
stats::BoostingOptions boosting_options(const std::string& model, const Values& hyper, std::int64_t seed,
                                        std::int64_t classes);

std::vector<std::pair<std::string, std::string>> boosting_files(const stats::Boosting&);
stats::Boosting read_boosting(const stats::BoostingOptions&, const std::filesystem::path& folder,
                              const std::vector<std::string>& files);

}  // namespace tandem::trainer
