// Whether an entry of a journal can have followed what is known: asked of what was read, which may be damaged,
// before it is folded. Whatever folds (View::apply, policies) may then take for granted that tasks, jobs and
// nodes are there and numbers are numbers. Pure.
#pragma once

#include <span>

#include "base/error.h"
#include "event/decision.h"
#include "event/event.h"
#include "event/view.h"

namespace tandem {

// The entry says what cannot be; whoever reads the journal adds which entry of which run it is.
class Contradiction : public SystemError {
 public:
  explicit Contradiction(const std::string& what) : SystemError(what) {}
};

void check_consistent(const View& before, const Event&);
void check_consistent(const View& with_the_event, std::span<const Decision>);
// Both, and the fold between and after them.
void apply_checked(View&, const Event&, std::span<const Decision>);

}  // namespace tandem
