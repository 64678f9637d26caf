// tandem tell NAME=VALUE...: how a shell script reports an epoch
#include <fmt/format.h>

#include <charconv>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/command.h"
#include "protocol/client.h"

namespace tandem::cli {
namespace {

using nlohmann::json;

struct TellOptions {
  JsonOption json;
  std::vector<std::string> metrics;
  std::optional<std::int64_t> epoch;
};

Metrics parse_metrics(const std::vector<std::string>& written) {
  Metrics metrics;
  for (const auto& word : written) {
    const auto equals = word.find('=');
    double value = 0;
    const char* end = word.data() + word.size();
    if (equals == 0 || equals == std::string::npos ||
        std::from_chars(word.data() + equals + 1, end, value).ptr != end || equals + 1 == word.size())
      throw UserError("'" + word + "' is not NAME=NUMBER, such as accuracy=0.93");
    metrics[word.substr(0, equals)] = value;
  }
  return metrics;
}

bool was_the_last(const protocol::Answer& answer) {
  const char* epochs = std::getenv("TANDEM_EPOCHS");
  return answer.epoch && epochs && *answer.epoch >= std::atoll(epochs);
}

int tell(const TellOptions& options) {
  const protocol::Epoch report{options.epoch, parse_metrics(options.metrics)};
  try {
    auto client = protocol::Client::connect();
    if (!client) {
      std::cerr << "tandem: not inside a run, nobody to tell:";
      for (const auto& [name, value] : report.metrics) std::cerr << " " << name << "=" << value;
      std::cerr << "\n";
      options.json.write({{"told", false}, {"epoch", nullptr}, {"stop", false}});
      return kDone;
    }
    const auto answer = client->report(report);
    const bool stop = answer.stop || was_the_last(answer);
    options.json.write({{"told", true}, {"epoch", answer.epoch ? json(*answer.epoch) : json(nullptr)}, {"stop", stop}});
    return stop ? protocol::kToldToStop : kDone;
  } catch (const protocol::Gone&) {
    throw SystemError("Tandem is gone; end the script, `tandem resume` will start it again");
  } catch (const protocol::ProtocolError& e) {
    throw SystemError(e.what());
  }
}

}  // namespace

void add_tell(CLI::App& app, Action& action) {
  auto options = std::make_shared<TellOptions>();
  CLI::App* command =
      add_command(app, "tell", "From inside a shell script that Tandem runs: report an epoch",
                  "  while train_one_epoch; do\n    tandem tell accuracy=$acc loss=$loss || break\n  done\n\n"
                  "Exit codes: 0 go on, 3 stop (enough epochs, or asked to). Outside Tandem it prints the "
                  "metrics and says go on.");
  command->add_option("METRIC", options->metrics, "NAME=NUMBER, one or more")->required();
  command->add_option("--epoch", options->epoch, "the epoch's number, from 1 (default: the next one)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  options->json.add_to(*command);
  command->callback([options, &action] { action = [options] { return tell(*options); }; });
}

}  // namespace tandem::cli
