#include "stats/regression/queueing_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/error.h"
#include "stats/regression/linear_regression.h"

namespace tandem::stats {
namespace {

// What a row says, of the columns that there are.
struct Job {
  double batch = 1, processes = 1, steps = 1;
  std::optional<double> nodes{};
};

class Queueing final : public Regression {
 public:
  explicit Queueing(std::vector<std::string> columns)
      : columns_(std::move(columns)), queue_(make_linear({"log batch", "log processes", "product"})) {
    if (std::find(columns_.begin(), columns_.end(), "batch") == columns_.end())
      throw UserError("the queueing model needs the column 'batch': name it, or choose another regression");
  }

  void fit(std::span<const double> rows, std::span<const double> targets) override {
    check_training(rows, targets, columns_);
    std::vector<Job> jobs;
    std::map<double, double> shortest;  // step, by batch
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] <= 0)
        throw UserError(
            fmt::format("the queueing model is of times, and the target of row {} is {}", i + 1, targets[i]));
      jobs.push_back(job_of(rows.subspan(i * columns_.size(), columns_.size())));
      const double step = targets[i] / jobs.back().steps;
      const auto [at, fresh] = shortest.try_emplace(jobs.back().batch, step);
      if (!fresh) at->second = std::min(at->second, step);
    }
    batches_.clear(), service_.clear();
    for (const auto& [batch, step] : shortest) {
      batches_.push_back(batch);
      service_.push_back(cpu_ * step);
    }
    std::vector<double> features, log_queue;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const auto row = features_of(jobs[i]);
      features.insert(features.end(), row.begin(), row.end());
      const double service = service_of(jobs[i].batch), at_disk = targets[i] / jobs[i].steps - service;
      log_queue.push_back(std::log(at_disk * arrivals(jobs[i], service)));
    }
    queue_->fit(features, log_queue);
  }

  double predict(std::span<const double> row) const override {
    const Job job = job_of(row);
    const double service = service_of(job.batch), queue = std::exp(queue_->predict(features_of(job)));
    return job.steps * (service + queue / arrivals(job, service));
  }

  nlohmann::json written() const override {
    return {{"regression", "queueing"},  {"columns", columns_}, {"cpu", cpu_},
            {"workers", workers_},       {"batches", batches_}, {"service", service_},
            {"queue", queue_->written()}};
  }

  void read(const nlohmann::json& from) override {
    from.at("cpu").get_to(cpu_);
    from.at("workers").get_to(workers_);
    from.at("batches").get_to(batches_);
    from.at("service").get_to(service_);
    queue_->read(from.at("queue"));
    const auto positive = [](double value) { return value > 0; };
    if (batches_.empty() || batches_.size() != service_.size() ||
        !std::is_sorted(batches_.begin(), batches_.end()) ||
        !std::all_of(batches_.begin(), batches_.end(), positive) ||
        !std::all_of(service_.begin(), service_.end(), positive))
      throw UserError("a stored queueing model is damaged: train it anew");
  }

  void set(const std::string& option, double value) override {
    if (option == "workers" && value > 0)
      workers_ = value;
    else if (option == "cpu" && value > 0 && value < 1)
      cpu_ = value;
    else if (option == "workers" || option == "cpu")
      throw UserError(fmt::format("{} = {} cannot be: workers are above 0, cpu is a share between 0 and 1",
                                  option, value));
    else
      refuse_option(option, queueing_options());
  }

 private:
  Job job_of(std::span<const double> row) const {
    Job out;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& name = columns_[i];
      const bool meant = name == "batch" || name == "cores" || name == "jobs" || name == "replicas" ||
                         name == "records" || name == "epochs" || name == "nodes";
      if (!meant) continue;
      if (!(row[i] > 0))
        throw UserError(fmt::format("{} = {} cannot be: the queueing model needs it above 0", name, row[i]));
      if (name == "batch")
        out.batch = row[i];
      else if (name == "nodes")
        out.nodes = row[i];
      else if (name == "records" || name == "epochs")
        out.steps *= row[i];
      else
        out.processes *= row[i];
    }
    out.steps /= out.batch;
    return out;
  }

  static std::vector<double> features_of(const Job& job) {
    const double batch = std::log(job.batch), processes = std::log(job.processes);
    return {batch, processes, batch * processes};
  }

  double arrivals(const Job& job, double service) const {
    return std::max(1.0, job.processes / job.nodes.value_or(workers_)) / service;
  }

  double service_of(double batch) const {
    if (batches_.size() == 1) return service_[0];
    const auto above = std::lower_bound(batches_.begin() + 1, batches_.end() - 1, batch);
    const auto right = static_cast<std::size_t>(above - batches_.begin());
    double slope =
        std::log(service_[right] / service_[right - 1]) / std::log(batches_[right] / batches_[right - 1]);
    if (batch < batches_.front() || batch > batches_.back()) slope = std::clamp(slope, 0.0, 1.0);
    const std::size_t end = batch > batches_.back() ? right : right - 1;
    return service_[end] * std::pow(batch / batches_[end], slope);
  }

  std::vector<std::string> columns_;
  double cpu_ = 0.8, workers_ = 1;
  std::vector<double> batches_, service_;  // service: of a step, by batch
  std::unique_ptr<Regression> queue_;      // log L
};

}  // namespace

const std::vector<RegressionOption>& queueing_options() {
  static const std::vector<RegressionOption> options = {
      {"workers", "machines that share the processes, where there is no column 'nodes' (1)"},
      {"cpu", "computing's share of the shortest step (0.8)"},
  };
  return options;
}

std::unique_ptr<Regression> make_queueing(const std::vector<std::string>& columns) {
  return std::make_unique<Queueing>(columns);
}

}  // namespace tandem::stats
