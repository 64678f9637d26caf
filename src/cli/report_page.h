// The page `tandem report` makes of a run: one HTML file that needs nothing else.
//
// Style, plots and the few lines of script (tooltips, sorting) are inside; nothing is fetched. Everything
// comes from the view; a section without data says why. What is estimated says so. Pure: the same run gives
// the same page, byte for byte.
#pragma once

#include <string>

#include "event/view.h"
#include "store/store.h"

namespace tandem::cli {

std::string report_page(const store::RunInfo&, const View&);

}  // namespace tandem::cli
