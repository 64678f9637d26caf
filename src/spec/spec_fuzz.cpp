// Any bytes give either a job that survives its journal form, or issues that say where.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "spec/parse.h"
#include "spec/sample_catalogue.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  using namespace tandem;
  static const Catalogue catalogue = spec::sample_catalogue();
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto [job, issues] = spec::parse_train(text, "fuzz.yaml", catalogue);
  require(job.has_value() == issues.empty());
  for (const auto& issue : issues) {
    require(issue.line >= 1 && issue.column >= 1 && !issue.message.empty());
    require(spec::text(issue).find('\n') == std::string::npos);
  }
  if (job) {
    const auto journalled = nlohmann::json::to_cbor(to_json(*job));
    require(spec::train_job_from_json(nlohmann::json::from_cbor(journalled)) == *job);
    require(spec::train_job_from_json(nlohmann::json::parse(to_json(*job).dump())) == *job);
  }
  return 0;
}
