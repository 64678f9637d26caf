#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "protocol/client.h"
#include "trainer/commands.h"
#include "trainer/hang_up.h"
#include "trainer/inputs.h"
#include "trainer/served_model.h"
#include "trainer/threads.h"

namespace tandem::trainer {
namespace {

double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

std::string class_name(const ModelCard& card, std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  return at < card.class_names.size() ? card.class_names[at] : std::to_string(index);
}

// Asks for batches of the test part, round and round, until enough requests or seconds have passed.
Metrics serve(ServedModel& model, const data::Part& part, const InferOptions& options) {
  using Clock = std::chrono::steady_clock;
  const std::int64_t batch = std::min(options.batch, part.count);
  const auto seconds_since = [](Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  };
  for (int warm_up = 0; warm_up < 3; ++warm_up)
    model.predict(part, 0, batch);  // TorchScript specialises itself first
  std::vector<double> latencies;
  std::int64_t at = 0;
  const auto begin = Clock::now();
  const auto done = [&] {
    if (options.requests && static_cast<std::int64_t>(latencies.size()) >= *options.requests) return true;
    return options.seconds && seconds_since(begin) >= *options.seconds;
  };
  while (!done()) {
    const auto asked = Clock::now();
    model.predict(part, at, batch);
    latencies.push_back(seconds_since(asked));
    at = at + 2 * batch <= part.count ? at + batch : 0;
  }
  const double elapsed = seconds_since(begin);
  std::sort(latencies.begin(), latencies.end());
  const auto requests = static_cast<double>(latencies.size());
  return {{"requests", requests},
          {"seconds", elapsed},
          {"requests_per_second", requests / elapsed},
          {"samples_per_second", requests * static_cast<double>(batch) / elapsed},
          {"latency_p50", percentile(latencies, 0.50)},
          {"latency_p95", percentile(latencies, 0.95)},
          {"latency_p99", percentile(latencies, 0.99)}};
}

}  // namespace

Value parse_value(const std::string& written) {
  if (written == "true" || written == "false") return written == "true";
  const char* end = written.data() + written.size();
  std::int64_t whole = 0;
  if (const auto parsed = std::from_chars(written.data(), end, whole);
      parsed.ec == std::errc() && parsed.ptr == end)
    return whole;
  double real = 0;
  if (const auto parsed = std::from_chars(written.data(), end, real);
      parsed.ec == std::errc() && parsed.ptr == end)
    return real;
  return written;
}

int predict_command(const PredictOptions& options) {
  const ModelCard card = read_card(options.folder);
  const auto model = open_model(options.folder, card);
  const data::Part part = read_samples(options.file, card);
  const std::int64_t outputs = std::max<std::int64_t>(1, card.classes);
  auto rows = nlohmann::json::array();
  constexpr std::int64_t kBatch = 256;
  for (std::int64_t begin = 0; begin < part.count; begin += kBatch) {
    const std::int64_t count = std::min(kBatch, part.count - begin);
    const std::vector<float> out = model->predict(part, begin, count);
    for (std::int64_t row = 0; row < count; ++row) {
      const float* of = out.data() + row * outputs;
      const std::int64_t best = std::max_element(of, of + outputs) - of;
      if (card.classes == 0)
        rows.push_back({{"value", of[0]}});
      else
        rows.push_back({{"class", class_name(card, best)}, {"probability", of[best]}});
    }
  }
  if (options.json) {
    fmt::print("{}\n", nlohmann::json{{"model", card.model}, {"predictions", rows}}.dump());
    return 0;
  }
  for (const auto& row : rows)
    if (card.classes == 0)
      fmt::print("{:.6g}\n", row.at("value").get<double>());
    else
      fmt::print("{} {:.4f}\n", row.at("class").get<std::string>(), row.at("probability").get<double>());
  return 0;
}

int infer_command(const InferOptions& written) {
  InferOptions options = written;
  auto client = protocol::Client::connect();
  std::optional<HangUpWatch> watch;
  if (client) {
    watch.emplace(socket_of_environment());
    const protocol::Begin begin = client->hello({protocol::kVersion, {"threads"}, std::nullopt});
    options.threads = begin.system.cores;
    if (options.folder.empty()) options.folder = begin.folder;
  }
  if (options.folder.empty()) throw UserError("say where the trained model is, with --folder");
  if (!options.requests && !options.seconds) options.requests = 1000;
  use_threads(options.threads);
  const ModelCard card = read_card(options.folder);
  const auto model = open_model(options.folder, card);
  const data::Dataset dataset = data::load(card.dataset, data::folders_from_environment());
  if (dataset.shape != card.shape || dataset.words != card.words)
    throw UserError(
        fmt::format("{} has changed since the model was trained: its samples no longer fit", card.dataset));
  if (client) client->ready();  // what follows is serving
  const Metrics metrics = serve(*model, dataset.test, options);
  if (client) {
    watch->disarm();
    client->report({std::int64_t{1}, metrics});
  }
  if (options.json)
    fmt::print("{}\n", nlohmann::json(metrics).dump());
  else
    for (const auto& [name, value] : metrics) fmt::print("{} {:.6g}\n", name, value);
  return 0;
}

int blas_command(bool json) {
  const Blas blas = blas_in_use();
  if (json)
    fmt::print("{}\n", nlohmann::json{{"path", blas.path}, {"threading", blas.threading}}.dump());
  else
    fmt::print("{} ({} threads)\n", blas.path.empty() ? "no BLAS found" : blas.path, blas.threading);
  return blas.shares_openmp() ? 0 : 3;
}

}  // namespace tandem::trainer
