#include <fmt/format.h>
#include <torch/utils.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <sstream>

#include "base/error.h"
#include "base/random.h"
#include "trainer/bytes.h"
#include "trainer/gang.h"
#include "trainer/hyper.h"
#include "trainer/net.h"
#include "trainer/optimizer.h"
#include "trainer/scores.h"
#include "trainer/threads.h"

namespace tandem::trainer {
namespace {

constexpr std::int64_t kTestBatch = 256;  // stays in the cache

OptimizerOptions optimizer_options(const Values& hyper) {
  const bool sgd = word(hyper, "optimizer") == "sgd";
  return {sgd ? OptimizerOptions::Kind::sgd : OptimizerOptions::Kind::adam, real(hyper, "learning_rate"),
          real(hyper, "momentum"), real(hyper, "weight_decay")};
}

// libtorch's exceptions end here; what it says without its backtrace is what a person can use.
template <class Work>
auto guarded(const Work& work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    throw SystemError(std::string("libtorch: ") + error.what_without_backtrace());
  }
}

Learner::Scaling scaling_of(const data::Part& part, std::int64_t features, bool targets) {
  const auto moments = [&](const float* first, std::int64_t stride) {
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < part.count; ++i) sum += first[i * stride];
    const double mean = sum / static_cast<double>(part.count);
    for (std::int64_t i = 0; i < part.count; ++i) squares += std::pow(first[i * stride] - mean, 2);
    const double deviation = std::sqrt(squares / static_cast<double>(part.count));
    return std::pair(static_cast<float>(mean), deviation > 0 ? static_cast<float>(deviation) : 1.0F);
  };
  Learner::Scaling scaling;
  for (std::int64_t feature = 0; feature < features; ++feature) {
    const auto [mean, deviation] = moments(part.values.data() + feature, features);
    scaling.feature_mean.push_back(mean);
    scaling.feature_deviation.push_back(deviation);
  }
  if (targets) std::tie(scaling.target_mean, scaling.target_deviation) = moments(part.targets.data(), 1);
  return scaling;
}

// A part as tensors. Images and texts are used where they lie; tables are copied, scaled.
struct Samples {
  torch::Tensor inputs, targets;
  std::int64_t count = 0;
};

Samples samples_of(const data::Part& part, const data::Dataset& dataset, const Learner::Scaling* scaling) {
  std::vector<std::int64_t> sizes{part.count};
  sizes.insert(sizes.end(), dataset.shape.begin(), dataset.shape.end());
  const auto wrap = [](const auto& values, const std::vector<std::int64_t>& shape, torch::ScalarType type) {
    return torch::from_blob(const_cast<void*>(static_cast<const void*>(values.data())), shape, type);
  };
  Samples samples;
  samples.count = part.count;
  samples.inputs = dataset.kind == data::Kind::text ? wrap(part.tokens, sizes, torch::kInt64)
                                                    : wrap(part.values, sizes, torch::kFloat32);
  samples.targets = dataset.classes > 0 ? wrap(part.labels, {part.count}, torch::kInt64)
                                        : wrap(part.targets, {part.count}, torch::kFloat32);
  if (scaling) {
    samples.inputs =
        (samples.inputs - torch::tensor(scaling->feature_mean)) / torch::tensor(scaling->feature_deviation);
    if (dataset.classes == 0)
      samples.targets = (samples.targets - scaling->target_mean) / scaling->target_deviation;
  }
  return samples;
}

// Copies rows of `from` in the order of `rows` into the front of `into`, both contiguous.
void gather(const torch::Tensor& from, const std::int64_t* rows, std::int64_t count,
            const torch::Tensor& into) {
  const std::size_t row = from.nbytes() / static_cast<std::size_t>(from.size(0));
  const auto* source = static_cast<const char*>(from.data_ptr());
  auto* target = static_cast<char*>(into.data_ptr());
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(target + i * row, source + rows[i] * row, row);
}

// A contiguous tensor's numbers where they lie.
template <class Number>
std::span<const Number> values(const torch::Tensor& tensor) {
  return {tensor.data_ptr<Number>(), static_cast<std::size_t>(tensor.numel())};
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class NetworkLearner : public Learner {
 public:
  NetworkLearner(const Setup& setup, const data::Dataset& dataset, Gang* gang)
      : setup_(setup), dataset_(dataset), gang_(gang), batch_(whole(setup.hyper, "batch_size")) {
    torch::manual_seed(static_cast<std::uint64_t>(setup.seed));
    net_ = make_net(setup, dataset);
    optimizer_.emplace(optimizer_options(setup.hyper), net_->size());
    if (dataset.kind == data::Kind::table)
      scaling_ = scaling_of(dataset.train, dataset.shape[0], dataset.classes == 0);
    const Scaling* scaling = scaling_ ? &*scaling_ : nullptr;
    train_ = samples_of(dataset.train, dataset, scaling);
    test_ = samples_of(dataset.test, dataset, scaling);
    batch_ = std::min(batch_, train_.count);
    auto sizes = train_.inputs.sizes().vec();
    sizes[0] = batch_;
    inputs_ = torch::empty(sizes, train_.inputs.options());
    targets_ = torch::empty({batch_}, train_.targets.options());
    order_.resize(static_cast<std::size_t>(train_.count));
  }

  void set_threads(int threads) override { use_threads(threads); }

  double train(std::int64_t epoch) override {
    return guarded([&] {
      waited_ = 0;
      shuffle(epoch);
      net_->training = true;
      double total = 0, seen = 0;
      for (std::int64_t begin = 0; begin < train_.count; begin += batch_) {
        if (batch_dropped(setup_.drop, epoch, begin / batch_)) continue;
        const std::int64_t count = std::min(batch_, train_.count - begin);
        const double loss =
            gang_ ? step_together(order_.data() + begin, count) : step(order_.data() + begin, count);
        if (!std::isfinite(loss))
          throw UserError(
              fmt::format("the loss became {} in epoch {}, batch {}: the training diverged; try a "
                          "learning_rate below {}",
                          loss, epoch, begin / batch_ + 1, real(setup_.hyper, "learning_rate")));
        total += loss * static_cast<double>(count);
        seen += static_cast<double>(count);
      }
      return total / seen;
    });
  }

  Metrics test() override {
    return guarded([&] {
      const torch::NoGradGuard no_gradients;
      net_->training = false;
      double loss = 0;
      ClassScores classes(dataset_.classes);
      NumberScores numbers(scaling_ ? scaling_->target_deviation : 1);
      for (std::int64_t begin = 0; begin < test_.count; begin += kTestBatch) {
        const std::int64_t count = std::min(kTestBatch, test_.count - begin);
        const torch::Tensor out = net_->forward(test_.inputs.narrow(0, begin, count));
        const torch::Tensor targets = test_.targets.narrow(0, begin, count);
        loss += loss_of(out, targets).item<double>() * static_cast<double>(count);
        if (dataset_.classes > 0)
          classes.add(values<std::int64_t>(out.argmax(1)), values<std::int64_t>(targets));
        else
          numbers.add(values<float>(out), values<float>(targets));
      }
      Metrics metrics = dataset_.classes > 0 ? classes.metrics() : numbers.metrics();
      metrics["loss"] = loss / static_cast<double>(test_.count);
      return metrics;
    });
  }

  std::optional<double> waited() const override { return waited_; }

  std::vector<double> time_batches(std::int64_t batches) override {
    return guarded([&] {
      std::vector<double> seconds;
      const std::int64_t whole = train_.count / batch_;
      net_->training = true;
      for (std::int64_t i = 0; i < batches; ++i) {
        if (i % whole == 0) shuffle(1 + i / whole);
        const auto begin = std::chrono::steady_clock::now();
        step(order_.data() + i % whole * batch_, batch_);
        seconds.push_back(seconds_since(begin));
      }
      return seconds;
    });
  }

  std::string state() const override {
    std::string bytes;
    put(bytes, net_->weights());
    put(bytes, std::span<const float>(optimizer_->first));
    put(bytes, std::span<const float>(optimizer_->second));
    put(bytes, std::span<const std::int64_t>(&optimizer_->steps, 1));
    const torch::Tensor random = at::detail::getDefaultCPUGenerator().get_state();
    put(bytes, std::span<const std::uint8_t>(random.data_ptr<std::uint8_t>(), random.nbytes()));
    return bytes;
  }

  void restore(std::string_view state) override {
    take(state, net_->weights());
    take(state, std::span<float>(optimizer_->first));
    take(state, std::span<float>(optimizer_->second));
    take(state, std::span<std::int64_t>(&optimizer_->steps, 1));
    guarded([&] {
      auto generator = at::detail::getDefaultCPUGenerator();
      torch::Tensor random = generator.get_state();
      take(state, std::span<std::uint8_t>(random.data_ptr<std::uint8_t>(), random.nbytes()));
      generator.set_state(random);
    });
    if (!state.empty()) throw SystemError("the learner's state has bytes after its end");
  }

  Exported exported() const override {
    return guarded([&] {
      std::ostringstream script;
      net_->script(scaling_).save(script);
      const auto weights = std::as_bytes(net_->weights());
      const std::uint64_t digest = hash_name({reinterpret_cast<const char*>(weights.data()), weights.size()});
      return Exported{{{"model.pt", script.str()}}, scaling_, "torchscript", digest};
    });
  }

 private:
  // A function of (seed, epoch) alone, so that a resumed epoch sees the samples in the same order.
  void shuffle(std::int64_t epoch) {
    const auto begin = std::chrono::steady_clock::now();
    std::iota(order_.begin(), order_.end(), std::int64_t{0});
    Random random(static_cast<std::uint64_t>(setup_.seed), static_cast<std::uint64_t>(epoch));
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
    waited_ += seconds_since(begin);
  }

  torch::Tensor loss_of(const torch::Tensor& out, const torch::Tensor& targets) const {
    return dataset_.classes > 0 ? torch::cross_entropy_loss(out, targets) : torch::mse_loss(out, targets);
  }

  torch::Tensor loss_on(const std::int64_t* rows, std::int64_t count) {
    const auto begin = std::chrono::steady_clock::now();
    gather(train_.inputs, rows, count, inputs_);
    gather(train_.targets, rows, count, targets_);
    waited_ += seconds_since(begin);
    const bool full = count == batch_;
    const torch::Tensor out = net_->forward(full ? inputs_ : inputs_.narrow(0, 0, count));
    return loss_of(out, full ? targets_ : targets_.narrow(0, 0, count));
  }

  double step(const std::int64_t* rows, std::int64_t count) {
    const torch::Tensor loss = loss_on(rows, count);
    loss.backward();
    optimizer_->step(net_->weights(), net_->gradients());
    return loss.item<double>();
  }

  // The mean over a batch is the sum of its parts' means, each weighed by its share of the samples; so is the
  // gradient. A part may be empty where the last batch is small.
  double step_together(const std::int64_t* rows, std::int64_t count) {
    const auto part = gang_->part_of(count);
    double own = 0;
    if (part.end > part.first) {
      const double share = static_cast<double>(part.end - part.first) / static_cast<double>(count);
      const torch::Tensor loss = loss_on(rows + part.first, part.end - part.first) * share;
      loss.backward();
      own = loss.item<double>();
    }
    gang_->add_up(net_->gradients());
    optimizer_->step(net_->weights(), net_->gradients());
    return gang_->add_up(own);
  }

  Setup setup_;
  const data::Dataset& dataset_;
  Gang* gang_;  // null: alone
  std::int64_t batch_;
  std::unique_ptr<Net> net_;
  std::optional<Optimizer> optimizer_;
  std::optional<Scaling> scaling_;
  Samples train_, test_;
  torch::Tensor inputs_, targets_;  // one batch, filled anew for each step
  std::vector<std::int64_t> order_;
  double waited_ = 0;  // for data, in the last epoch
};

}  // namespace

std::unique_ptr<Learner> make_network_learner(const Setup& setup, const data::Dataset& dataset, Gang* gang) {
  return guarded(
      [&]() -> std::unique_ptr<Learner> { return std::make_unique<NetworkLearner>(setup, dataset, gang); });
}

}  // namespace tandem::trainer
