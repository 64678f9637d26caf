// Advice as a person reads it: a table, the reasons and notes, broken at `width` columns. Pure.
#pragma once

#include <string>

#include "app/advice.h"

namespace tandem::report {

std::string advice_text(const app::Advised&, int width);

}  // namespace tandem::report
