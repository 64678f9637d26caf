// Many runs in one table: a list of them (`tandem runs`), and some side by side (`tandem compare`), both from
// app/run_list.h's JSON. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tandem::report {

// A row a run, as they come; its note, where it has one, below it.
std::string runs_table(const nlohmann::json& rows);
// A column a run, a row for each thing that any of them has; `*` marks the best score where all have the same
// metric.
std::string comparison_table(const nlohmann::json& comparison);

}  // namespace tandem::report
