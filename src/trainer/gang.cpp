#include "trainer/gang.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

namespace tandem::trainer {
namespace {

// What rank 0 tells the others before each epoch; epoch 0: there is none left.
std::string order(std::int64_t epoch, int threads) {
  return nlohmann::json{{"epoch", epoch}, {"threads", threads}}.dump();
}

}  // namespace

void Leader::begin() {
  if (!gang_ || begun_) return;
  begun_ = true;
  gang_->from_first(learner_.state());
}

void Leader::finish() {
  begin();
  if (gang_) gang_->from_first(order(0, threads_));
}

void Leader::set_threads(int threads) {
  threads_ = threads;
  learner_.set_threads(threads);
}

double Leader::train(std::int64_t epoch) {
  begin();
  if (gang_) gang_->from_first(order(epoch, threads_));
  return learner_.train(epoch);
}

void follow(Gang& gang, Learner& learner) {
  learner.restore(gang.from_first(""));
  while (true) {
    const auto told = parse_json(gang.from_first(""));
    if (!told.is_object()) throw SystemError("rank 0 said something that nobody understands");
    const std::int64_t epoch = told.value("epoch", std::int64_t{0});
    if (epoch == 0) return;
    learner.set_threads(told.value("threads", 1));
    learner.train(epoch);
  }
}

Setup same_setup(Gang& gang, const Setup& own) {
  const auto said = parse_json(gang.from_first(nlohmann::json{
      {"model", own.model}, {"hyper", to_json(own.hyper)}, {"seed", own.seed}, {"drop", own.drop}}
                                                   .dump()));
  if (!said.is_object()) throw SystemError("rank 0 did not say what it trains");
  return {said.at("model").get<std::string>(), values_from_json(said.at("hyper")),
          said.at("seed").get<std::int64_t>(), said.at("drop").get<double>()};
}

}  // namespace tandem::trainer
