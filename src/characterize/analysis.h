// The analysis of variance of a study: which factors and interactions move a response, and by how much a
// step.
//
// In the table every factor is a set of levels, so that no shape is assumed of its effect; numbers of more
// values than kMostLevels are numbers. In the coefficients all numbers are numbers, as in Courier's tables 2,
// 3, 12 and 13: their slopes can be read, with t and a 95 % interval. The order of interactions is lowered
// until something is left to judge by; notes say so. Pure.
#pragma once

#include "characterize/study.h"
#include "stats/design/anova.h"
#include "stats/design/linear_model.h"

namespace tandem::characterize {

struct Analysis {
  std::string response;
  std::size_t observations = 0;  // jobs side by side are one
  std::size_t order = 0;         // of the interactions in the table
  stats::AnovaTable table;
  stats::LinearModel model;
};

// UserError: no such response, or no run that has it.
Analysis analyse(const Study&, const std::string& response, const stats::AnovaOptions& = {});

}  // namespace tandem::characterize
