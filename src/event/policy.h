// Everything that decides implements this: what happened goes in, decisions come out.
//
// Pure: `step` reads the view (which already holds the event), may change only the policy's own members, and
// draws randomness only from Random(seed, view.events). It keeps no references into the view.
//
// Resume is not replay: `fold` takes an event and the decisions it led to as history without deciding again.
// Policies whose state is all in the view need not override it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "event/view.h"

namespace tandem {

class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::vector<DecisionBody> step(const View&, const Event&) = 0;
  virtual void fold(const View&, const Event&, std::span<const Decision>) {}
  // What it knows beside the view, as bytes for `restore` of a new one: the two then decide alike. None: it
  // cannot say now, so that no snapshot is taken.
  virtual std::optional<std::string> save(const View&) const { return std::nullopt; }
  virtual bool restore(const std::string&) {
    return false;
  }  // false, and as before: these are none of its own
};

}  // namespace tandem
