// What a server answers (app/job_json.h), as a person reads it. Times of day are this machine's.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tandem::report {

// "11-16 20:38:00"; "-" where there is none.
std::string clock_time(const nlohmann::json& at);

// `GET /v1/jobs`, at the server's "now".
std::string queue_table(const nlohmann::json& answer);
// `GET /v1/nodes`.
std::string nodes_table(const nlohmann::json& nodes);
// `GET /v1/jobs/JOB/explain`.
std::string explanation_text(const nlohmann::json& answer);
// The jobs of a server that may be over, from its journal: rows of job_json.
std::string past_jobs_table(const nlohmann::json& jobs);

}  // namespace tandem::report
