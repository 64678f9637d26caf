#include "bench/infra/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "graph/layers.h"
#include "graph/zoo.h"
#include "sim/step/step_cost.h"
#include "sim/workload/run_workload.h"

namespace tandem::bench {
namespace {

constexpr std::int64_t kMnist = 60'000, kCifar = 50'000, kImageNet = 1'281'167;
constexpr double kMnistBytes = 785, kCifarBytes = 3073, kImageNetBytes = 110e3;

// The network of Keras's example for MNIST (mnist_cnn.py); the paper says no more than "Keras".
graph::Model keras_example() {
  graph::Layers net("keras-mnist");
  net.input({1, 28, 28});
  net.conv(32, {.padding = graph::kValid}).relu().conv(64, {.padding = graph::kValid}).relu().max_pool(2, 2);
  net.dropout().flatten().dense(128).relu().dropout().dense(10).loss();
  return net.finish();
}

spec::Workload workload_of(const Job& job) {
  spec::Workload out;
  out.name = job.name;
  out.batch = job.batch;
  out.samples = job.samples;
  out.epochs = 1;
  out.sample_bytes = job.sample_bytes;
  out.strategy = "parameter-server";
  out.workers = job.workers;
  return out;
}

}  // namespace

std::string Job::job_class() const {
  return fmt::format("{}, batch {}", model.name, batch);
}

place::Demands Job::demands() const {
  std::vector<std::uint32_t> all(model.operations.size());
  std::iota(all.begin(), all.end(), 0u);
  const std::int64_t each = (batch + workers - 1) / workers;
  return {.workers = workers,
          .gpus = 1,
          .gpu_memory = static_cast<Bytes>(sim::memory_needed(model, all, each)),
          .job_class = job_class()};
}

std::vector<Job> studied_jobs() {
  return {{"Keras example, MNIST", keras_example(), kMnist, kMnistBytes},
          {"ResNet32, CIFAR10", graph::make("resnet32"), kCifar, kCifarBytes},
          {"ResNet56, CIFAR10", graph::make("resnet56"), kCifar, kCifarBytes},
          {"MobileNet, ImageNet", graph::make("mobilenet"), kImageNet, kImageNetBytes},
          {"Inception-V1, ImageNet", graph::make("inception1"), kImageNet, kImageNetBytes}};
}

Job resnet32() {
  return studied_jobs()[1];
}

Outcome run(const Job& job, const Conditions& conditions, const Choice& nodes) {
  sim::RunOptions options;
  options.strategy.servers_apart = true;
  for (const std::size_t node : nodes) options.strategy.devices.push_back(gpu_of(node));
  try {
    return {sim::run_workload(cluster_of(conditions), workload_of(job), job.model, options).t_exec};
  } catch (const UserError& error) {
    return {std::nullopt, error.what()};
  }
}

std::vector<Choice> all_choices(int workers) {
  std::vector<Choice> out;
  for (unsigned set = 0; set < 1u << kWorkerNodes; ++set) {
    Choice choice;
    for (std::size_t node = 0; node < kWorkerNodes; ++node)
      if (set >> node & 1u) choice.push_back(node);
    if (choice.size() == static_cast<std::size_t>(workers)) out.push_back(choice);
  }
  return out;
}

Many run_all(const Job& job, const Conditions& conditions, const std::vector<Choice>& choices) {
  Many out;
  double sum = 0;
  for (const Choice& choice : choices) {
    const Outcome outcome = run(job, conditions, choice);
    ++out.runs;
    if (outcome.seconds) {
      sum += *outcome.seconds;
      out.best = out.best > 0 ? std::min(out.best, *outcome.seconds) : *outcome.seconds;
      continue;
    }
    ++out.failed;
    out.why = outcome.why;
  }
  if (out.failed < out.runs) out.mean = sum / (out.runs - out.failed);
  return out;
}

Choice chosen(const place::Pick& pick) {
  Choice out;
  for (const std::string& host : pick.workers)
    for (std::size_t node = 0; node < kWorkerNodes; ++node)
      if (host_of(node) == host) out.push_back(node);
  return out;
}

void learn(place::JobClasses& classes, const Job& job, const std::vector<Conditions>& past,
           std::uint64_t seed) {
  const auto choices = all_choices(job.workers);
  Random random(seed, hash_name("history"));
  for (std::size_t i = 0; i < past.size(); ++i) {
    const Choice& choice = choices[random.below(choices.size())];
    const Outcome outcome = run(job, past[i], choice);
    if (!outcome.seconds) continue;  // a job that died says nothing of its pace
    const auto seen = watch(past[i], seed + i);
    place::Shares worst;
    for (const std::size_t node : choice) {
      const auto& last = seen.catalogue.nodes().at(host_of(node)).seen.back();
      for (std::size_t r = 0; r < place::kResources; ++r)
        worst.of[r] = std::max(worst.of[r], last.in_use.of[r]);
    }
    classes.ran(job.job_class(), worst, *outcome.seconds / static_cast<double>(job.samples));
  }
}

}  // namespace tandem::bench
