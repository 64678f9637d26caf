#include "trainer/boosting_model.h"

#include <fmt/format.h>

#include "data/files.h"
#include "trainer/hyper.h"

namespace tandem::trainer {

bool is_boosting(const std::string& model) {
  return model == "forest" || model == "boosting" || model == "linear";
}

stats::BoostingOptions boosting_options(const std::string& model, const Values& hyper, std::int64_t seed,
                                        std::int64_t classes) {
  using Kind = stats::BoostingOptions::Kind;
  stats::BoostingOptions options;
  options.kind = model == "forest" ? Kind::forest : model == "linear" ? Kind::linear : Kind::boosting;
  options.classes = classes;
  options.seed = static_cast<std::uint64_t>(seed);
  options.regularisation = real(hyper, "regularisation");
  if (options.kind != Kind::forest) options.learning_rate = real(hyper, "learning_rate");
  if (options.kind == Kind::linear) return options;
  options.max_depth = static_cast<int>(whole(hyper, "max_depth"));
  options.subsample = real(hyper, "subsample");
  options.column_sample = real(hyper, "column_sample");
  return options;
}

std::vector<std::pair<std::string, std::string>> boosting_files(const stats::Boosting& learner) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& model : learner.models())
    files.emplace_back(
        learner.models().size() == 1 ? "model.ubj" : fmt::format("model-{}.ubj", files.size() + 1), model);
  return files;
}

stats::Boosting read_boosting(const stats::BoostingOptions& options, const std::filesystem::path& folder,
                              const std::vector<std::string>& files) {
  std::vector<std::string> models;
  for (const std::string& file : files) models.emplace_back(data::as_text(data::read_file(folder / file)));
  return stats::Boosting(options, std::move(models));
}

}  // namespace tandem::trainer
