#include "trainer/export.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "data/files.h"

namespace tandem::trainer {
namespace {

constexpr int kExportFormat = 1;
constexpr const char* kCard = "model.json";

data::Kind kind_of(const std::string& written) {
  for (const data::Kind kind : {data::Kind::image, data::Kind::text, data::Kind::table})
    if (written == name(kind)) return kind;
  throw UserError("unknown kind of data '" + written + "'");
}

}  // namespace

const char* name(data::Kind kind) {
  switch (kind) {
    case data::Kind::image:
      return "image";
    case data::Kind::text:
      return "text";
    case data::Kind::table:
      return "table";
  }
  return "";
}

void export_model(const Task& task, const data::Dataset& dataset, const Learner& learner,
                  const Metrics& last) {
  const Learner::Exported exported = learner.exported();
  std::vector<std::string> files;
  for (const auto& [file, bytes] : exported.files) {
    data::write_atomically(task.folder / file, bytes);
    files.push_back(file);
  }
  nlohmann::json card{
      {"tandem_model", kExportFormat},
      {"model", task.setup.model},
      {"dataset", task.dataset},
      {"format", exported.format},
      {"files", files},
      {"hyper", to_json(task.setup.hyper)},
      {"seed", task.setup.seed},
      {"kind", name(dataset.kind)},
      {"shape", dataset.shape},
      {"classes", dataset.classes},
      {"class_names", dataset.class_names},
      {"words", dataset.words},
      {"metrics", last},
      {"weights_digest", fmt::format("{:016x}", exported.digest)},
  };
  if (const auto& scaling = exported.scaling)
    card["scaling"] = {{"feature_mean", scaling->feature_mean},
                       {"feature_deviation", scaling->feature_deviation},
                       {"target_mean", scaling->target_mean},
                       {"target_deviation", scaling->target_deviation}};
  data::write_atomically(task.folder / kCard, card.dump(1) + "\n");
}

ModelCard read_card(const std::filesystem::path& folder) {
  const auto path = folder / kCard;
  if (!std::filesystem::exists(path))
    throw UserError("there is no trained model in " + folder.string() + ": " + kCard + " is not there");
  try {
    const auto card = parse_json(data::as_text(data::read_file(path)));
    if (card.at("tandem_model").get<int>() != kExportFormat)
      throw UserError(fmt::format("{}: format {} is not known to this version", path.string(),
                                  card.at("tandem_model").get<int>()));
    ModelCard read;
    read.model = card.at("model");
    read.dataset = card.at("dataset");
    read.format = card.at("format");
    read.hyper = values_from_json(card.at("hyper"));
    read.seed = card.at("seed");
    read.kind = kind_of(card.at("kind"));
    card.at("shape").get_to(read.shape);
    read.classes = card.at("classes");
    card.at("class_names").get_to(read.class_names);
    card.at("words").get_to(read.words);
    card.at("metrics").get_to(read.metrics);
    read.digest = card.at("weights_digest");
    card.at("files").get_to(read.files);
    return read;
  } catch (const nlohmann::json::exception& error) {
    throw UserError(path.string() + " cannot be understood: " + error.what());
  }
}

}  // namespace tandem::trainer
