// The page `tandem report` makes of a run: one HTML file that needs nothing else.
//
// Style, plots and the few lines of script (tooltips, sorting) are inside; nothing is fetched. Everything
// comes from the view; a section without data says why. What is estimated says so. Pure: the same run gives
// the same page, byte for byte.
#pragma once

#include <string>
#include <string_view>

#include "event/view.h"
#include "store/store.h"

namespace tandem::report {

std::string report_page(const store::RunInfo&, const View&);

// A page of sections (html.h) with links to them on top. `head` and `body` are HTML; the others are escaped.
std::string whole_page(std::string_view title, const std::string& head, const std::string& body,
                       std::string_view made_from);

}  // namespace tandem::report
