// `tandem tune SPEC --recurring`: one more training of a job that comes again and again, with the batch size
// that earlier ones make look cheapest, or worth a try. What earlier ones taught is read from their journals.
#pragma once

#include "cli/command.h"
#include "cli/session.h"
#include "spec/tune_job.h"
#include "store/store.h"

namespace tandem::cli {

// Until the target is reached: an attempt that was stopped because it cost too much is followed by another
// one.
int run_recurring(store::Store&, const spec::TuneJob&, const JsonOption&, const SessionOptions&);

}  // namespace tandem::cli
