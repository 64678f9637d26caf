// The page of an experiment: what matters, how sure that is, and what was measured.
#include "cli/characterize_result.h"
#include "cli/html.h"
#include "cli/report_parts.h"

namespace tandem::cli {

std::string experiment_body(const View&) {
  return "";
}

}  // namespace tandem::cli
