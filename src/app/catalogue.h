// The tables of all modules, put together: the names that specs may use, with a line on each.
#pragma once

#include "base/catalogue.h"

namespace tandem::app {

// The tables of all folders, put together.
Catalogue catalogue();

}  // namespace tandem::app
