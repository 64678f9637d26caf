// Models of a program, fitted from the store's past runs and kept there until they should be fitted anew.
//
// Fitting takes up to seconds, reading a kept model milliseconds. A kept model is fitted anew when its
// predictions have drifted, when the machine has changed, when there are twice as many runs as it has seen
// (advise/drift.h), or when there are new runs and they still are few: `notes` says which it was.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/drift.h"
#include "advise/models.h"
#include "event/view.h"
#include "store/store.h"

namespace tandem::app {

struct LearnOptions {
  std::string regression;  // "": the best of the default ones
  std::string metric;      // "": accuracy, else error, else loss, as far as the runs report one
  store::Owners whose{};   // from whose runs
};

struct Learnt {
  advise::Models models;
  bool higher_is_better = true;
  std::size_t rows = 0;            // it was learnt from
  std::vector<std::string> notes;  // why it was fitted just now
};

// nullopt: there is no usable run of this program, on any machine.
std::optional<Learnt> learn(store::Store&, const std::string& program, const NodeView& machine,
                            const LearnOptions&);

// A probe's answer, which is not kept.
Learnt learn_from(const std::vector<advise::PastRun>&, const std::string& program, const NodeView& machine,
                  const LearnOptions&);

}  // namespace tandem::app
