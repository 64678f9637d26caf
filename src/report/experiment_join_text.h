// What several experiments say together, for a person at a terminal and as a page. Pure.
#pragma once

#include <string>

#include "app/experiment_join.h"

namespace tandem::report {

std::string joined_table(const app::Joined&);
std::string joined_page(const app::Joined&);

}  // namespace tandem::report
