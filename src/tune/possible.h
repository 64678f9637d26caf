// What can never be run on the nodes there are. Asked before there is a run or a queued job, so that nothing is
// left behind of it, and again by the controllers: nodes may have changed since.
#pragma once

#include "event/view.h"
#include "spec/tune_job.h"

namespace tandem::tune {

// Could so many nodes of one type each hold this, were they empty? One that is down may come back.
bool fits_somewhere(const View&, const Resources& wanted, int nodes = 1);

// UserError that says what is asked for and what there is. Of a search also where its algorithm and its space
// do not fit.
void require_possible(const spec::TrainJob&, const View&);
void require_possible(const spec::TuneJob&, const View&);

// Of several nodes the largest sets what a trial may be given. There is one.
const NodeView& largest_node(const View&);
// That one. UserError when it has not what is asked for.
const NodeView& node_for(const spec::TuneJob&, const View&);

}  // namespace tandem::tune
