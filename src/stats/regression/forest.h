// A random forest (Breiman 2001): regression trees, each grown from rows drawn with replacement, averaged.
//
// A tree splits where the squared deviation from the means falls most, half-way between neighbouring values,
// until its rows are alike, too few or too deep; the defaults are scikit-learn's. Every column is sorted once
// and each split deals the sorted rows on, so that a level of a tree costs one pass over them. Like any
// forest it cannot go beyond what it has seen.
//
// Why not XGBoost's parallel trees (stats/regression/boosting.h): they draw rows without replacement, put
// splits on values instead of between them, and take tens of milliseconds for fifty rows where these take
// one. Pure.
#pragma once

#include "stats/regression/regression.h"

namespace tandem::stats {

std::unique_ptr<Regression> make_forest(const std::vector<std::string>& columns);
const std::vector<RegressionOption>& forest_options();

}  // namespace tandem::stats
