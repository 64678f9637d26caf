// The trainer's own loop: what tandem-trainer does between two reports, testing and checkpoint left out.
#include <map>
#include <memory>

#include "bench/trainer/questions.h"
#include "data/models.h"
#include "trainer/learner.h"
#include "trainer/threads.h"

int main() {
  using namespace tandem;
  trainer::keep_freed_memory();
  const data::Dataset mnist = bench::first_images();
  std::map<std::int64_t, std::unique_ptr<trainer::Learner>> learners;
  std::int64_t epoch = 0;
  bench::answer_questions([&](std::int64_t batch, int threads) {
    auto& learner = learners[batch];
    if (!learner) {
      const Values hyper{{"batch_size", batch},
                         {"learning_rate", bench::kLearningRate},
                         {"momentum", bench::kMomentum},
                         {"dropout", 0.0}};
      learner =
          trainer::make_learner({"lenet5", data::with_defaults(data::model("lenet5"), hyper), 1}, mnist);
    }
    learner->set_threads(threads);
    learner->train(++epoch);
  });
}
