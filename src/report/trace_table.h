// A replayed trace as a person reads it: what was replayed, a row a policy, and what must be known to read
// it.
#pragma once

#include <string>
#include <vector>

#include "app/trace_study.h"

namespace tandem::report {

std::string trace_summary(const app::TraceStudy&);
std::string trace_table(const app::TraceStudy&, const std::vector<app::PolicyRow>&);
std::string trace_remarks(const app::TraceStudy&, const std::vector<app::PolicyRow>&);
// When each job started and ended, as CSV.
void write_trace_jobs(const std::string& file, const app::TraceStudy&, const std::vector<app::PolicyRow>&);

}  // namespace tandem::report
