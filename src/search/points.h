// Points of a space: drawn at random, put into the unit cube and back.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/random.h"
#include "spec/space.h"

namespace tandem::search {

// How many points may be looked at for one answer: 10 000, and fewer of a space whose points take longer to
// check (many parameters, long constraints and conditions), so that an answer takes tens of milliseconds at most.
int most_tries(const spec::Space&);

// A point: every parameter that exists, in order, independently; drawn again until all constraints hold.
// Throws UserError, naming them, when most_tries() draws met none that does.
Values draw(const spec::Space&, Random&);
// The same, but a point that is not among `seen`, unless a hundred points, or most_tries() draws, are all among them.
Values draw_unseen(const spec::Space&, const std::set<Values>& seen, Random&);
// `known` with what it leaves open drawn at random; what does not exist beside the rest is left out of it.
Values completed(const spec::Space&, const Values& known, Random&);
// The same error, for samplers that look for points in ways of their own.
[[noreturn]] void throw_unsatisfiable(const spec::Space&);

// The value of a parameter from u in [0, 1), and a u in [0, 1) back that gives the same value (real ones: up
// to rounding; the ends exactly). Equal shares of u are equally likely values: every choice and every whole
// number has a cell of its own, and `position` is inside it.
Value at(const spec::Domain&, double u);
double position(const spec::Domain&, const Value&);

// The point at `u` (one number a parameter): only the parameters that exist are in it. Constraints are not
// looked at.
Values point_at(const spec::Space&, const std::vector<double>& u);

}  // namespace tandem::search
