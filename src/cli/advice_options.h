// --slo and its companions, for every command that takes advice.
#pragma once

#include "app/advice.h"
#include "cli/command.h"

namespace tandem::cli {

void add_advice_options(CLI::App&, app::AdviceOptions&);

}  // namespace tandem::cli
