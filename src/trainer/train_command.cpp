#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "data/models.h"
#include "protocol/client.h"
#include "trainer/commands.h"
#include "trainer/gang.h"
#include "trainer/hang_up.h"
#include "trainer/session.h"

namespace tandem::trainer {
namespace {

void warn_user(const std::string& message) {
  fmt::print(stderr, "tandem-trainer: {}\n", message);
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string epoch_line(std::int64_t epoch, std::int64_t epochs, const Metrics& metrics) {
  std::string line = fmt::format("epoch {}/{}:", epoch, epochs);
  for (const auto& [name, value] : metrics) line += fmt::format(" {} {:.4g}", name, value);
  return line;
}

struct Loaded {
  data::Dataset dataset;
  double seconds = 0;
};

Loaded load_data(const std::string& name) {
  const double begin = steady_seconds();
  data::Dataset dataset = data::load(name, data::folders_from_environment());
  return {std::move(dataset), steady_seconds() - begin};
}

Metrics run(Task task, const data::Dataset& dataset, const std::optional<Checkpoint>& found,
            const Outside& outside, Gang* gang) {
  if (gang) task.setup = same_setup(*gang, task.setup);
  const auto learner = make_learner(task.setup, dataset, gang);
  Leader leader(*learner, gang);
  const Metrics last = run_session(task, dataset, leader, found, outside);
  leader.finish();
  return last;
}

// Of a gang, but not rank 0: what and how long it learns is rank 0's to say.
int train_following(const TrainOptions& options, Gang& gang) {
  const data::Dataset dataset = load_data(options.dataset).dataset;
  const Setup setup = same_setup(gang, {options.model, {}, 1});
  follow(gang, *make_learner(setup, dataset, &gang));
  return 0;
}

int train_alone(const TrainOptions& options, Gang* gang) {
  Task task;
  task.setup = {options.model, data::with_defaults(data::model(options.model), hyper_from(options.hyper)),
                options.seed};
  task.dataset = options.dataset;
  task.epochs = options.epochs;
  task.keep_checkpoints = options.keep;
  task.threads = options.threads;
  task.folder =
      options.folder.empty() ? std::filesystem::path(options.model + "-" + options.dataset) : options.folder;
  const auto found = newest_checkpoint(task.folder, warn_user);
  // Nobody else counts: what is in the checkpoint was shown when it was trained.
  task.reported = found ? std::min(found->epoch(), task.epochs) : 0;
  if (found) warn_user(fmt::format("going on after epoch {} in {}", found->epoch(), task.folder.string()));
  Outside outside;
  outside.warn = warn_user;
  outside.seconds = steady_seconds;
  outside.checkpointed = [](std::int64_t) {};
  outside.report = [&](std::int64_t epoch, const Metrics& metrics) {
    fmt::print(stderr, "{}\n", epoch_line(epoch, task.epochs, metrics));
    return protocol::Answer{};
  };
  const Loaded loaded = load_data(task.dataset);
  task.load_seconds = loaded.seconds;
  const Metrics last = run(task, loaded.dataset, found, outside, gang);
  for (const auto& [name, value] : last) fmt::print("{} {:.6g}\n", name, value);
  fmt::print("model {}\n", (task.folder / "model.json").string());
  return 0;
}

int train_inside(const TrainOptions& options, protocol::Client& client, Gang* gang) {
  const HangUpWatch watch(socket_of_environment());
  const char* folder = std::getenv("TANDEM_FOLDER");
  const auto found = folder ? newest_checkpoint(folder, warn_user) : std::nullopt;
  const Loaded loaded = load_data(options.dataset);
  const protocol::Begin begin =
      client.hello({protocol::kVersion, {"threads"}, found ? found->epoch() : std::int64_t{0}});
  if (folder && std::filesystem::path(folder) != begin.folder)
    throw UserError(fmt::format("TANDEM_FOLDER is {}, but Tandem said {}", folder, begin.folder));
  client.ready();
  Task task;
  task.setup = {options.model, data::with_defaults(data::model(options.model), begin.hyper), begin.seed,
                begin.drop};
  task.dataset = options.dataset;
  task.epochs = begin.epochs;
  task.reported = begin.reported;
  task.cloned = begin.cloned;
  task.keep_checkpoints = begin.keep_checkpoints;
  task.threads = begin.system.cores;
  task.folder = begin.folder;
  task.load_seconds = loaded.seconds;
  Outside outside;
  outside.warn = warn_user;
  outside.seconds = steady_seconds;
  outside.checkpointed = [&](std::int64_t epoch) { client.checkpointed(epoch); };
  outside.report = [&](std::int64_t epoch, const Metrics& metrics) {
    fmt::print(stderr, "{}\n", epoch_line(epoch, task.epochs, metrics));
    const protocol::Answer answer = client.report({epoch, metrics});
    // From here on Tandem may hang up at any time, and the model must still be written.
    if (answer.stop || epoch == task.epochs) watch.disarm();
    return answer;
  };
  run(task, loaded.dataset, found, outside, gang);
  return 0;
}

}  // namespace

Values hyper_from(const std::vector<std::string>& written) {
  Values hyper;
  for (const std::string& pair : written) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UserError("--hyper " + printable(pair, 80) +
                      ": write it as name=value, as in --hyper batch_size=64");
    hyper[pair.substr(0, equals)] = parse_value(pair.substr(equals + 1));
  }
  return hyper;
}

int train_command(const TrainOptions& options) {
  data::model(options.model);
  const auto gang = gang_of_environment();
  if (gang && gang->rank() > 0) return train_following(options, *gang);
  auto client = protocol::Client::connect();
  return client ? train_inside(options, *client, gang.get()) : train_alone(options, gang.get());
}

}  // namespace tandem::trainer
