// What earlier trainings of a job that comes again and again taught (`tandem tune --recurring`), from their
// journals in the store.
#pragma once

#include "spec/tune_job.h"
#include "store/store.h"
#include "tune/recurring.h"

namespace tandem::app {

// Of runs of the same training on this type of machine, oldest first.
tune::Recurring learned_from_past(store::Store&, const spec::TuneJob&);

}  // namespace tandem::app
