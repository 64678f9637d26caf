// `hyper`: one value each in a training spec, values and domains in a tuning spec. Pure functions.
#pragma once

#include "base/catalogue.h"
#include "spec/document.h"
#include "spec/tune_job.h"

namespace tandem::spec {

// Everything in `hyper` but epochs, which the table has read; what is left out gets the model's default.
void read_hyper(const Node* hyper, const Catalogue&, TrainJob&, Issues&);

// What varies goes into job.hyper, what is fixed into job.base.hyper. A condition on what is fixed is decided
// here: the parameter is unconditional, or gone with those that depend on it. `constraints` may name any
// hyperparameter, and cores, memory and speed; the points of `start` go into job.search.start.
void read_hyper_space(const Node* hyper, const Node* constraints, const Node* start, const Catalogue&,
                      TuneJob& job, Issues&);

}  // namespace tandem::spec
