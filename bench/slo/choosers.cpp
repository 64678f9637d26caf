#include "bench/slo/choosers.h"

#include <fmt/format.h>

#include "advise/advisor.h"
#include "bench/slo/cells.h"
#include "stats/regression/regression.h"

namespace tandem::bench {
namespace {

int batch_of(const advise::Setting& setting) {
  return static_cast<int>(*as_number(setting.hyper.at("batch_size")));
}

class Advisor final : public Chooser {
 public:
  explicit Advisor(double probability) : probability_(probability) {}
  std::string name() const override { return fmt::format("advise, {:.0f} %", 100 * probability_); }
  void learn(const std::vector<advise::PastRun>& runs) override {
    models_ = advise::Models::fit(runs, runs.front().program, runs.front().machine);
  }
  Choice choose(const SloJob& job, const std::vector<int>& batches) override {
    advise::Question question;
    question.slo = {job.slo};
    question.probability = probability_;
    question.others = job.jobs - 1;
    for (const int batch : batches) question.candidates.push_back(setting_of({job.cpus, batch, job.jobs}));
    const auto advice = advise::advise(models_, question);
    return {batch_of(advice.choice.setting), advice.choice.seconds.value()};
  }

 private:
  double probability_;
  advise::Models models_;
};

class AtRandom final : public Chooser {
 public:
  explicit AtRandom(std::uint64_t seed) : random_(seed, hash_name("random choice")) {}
  std::string name() const override { return "random"; }
  void learn(const std::vector<advise::PastRun>&) override {}
  Choice choose(const SloJob&, const std::vector<int>& batches) override {
    return {batches[random_.below(batches.size())], 0};
  }

 private:
  Random random_;
};

class ByPoint final : public Chooser {
 public:
  ByPoint(std::string name, std::string regression, bool knows_jobs)
      : name_(std::move(name)), regression_(std::move(regression)), knows_jobs_(knows_jobs) {}
  std::string name() const override { return name_; }

  void learn(const std::vector<advise::PastRun>& runs) override {
    std::vector<double> rows, seconds, accuracy_rows, accuracies;
    for (const auto& run : runs) {
      const auto row = row_of(run.setting.system.cores, batch_of(run.setting), run.load.front().jobs);
      rows.insert(rows.end(), row.begin(), row.end());
      seconds.push_back(run.seconds.value);
      if (run.metrics.empty()) continue;
      accuracy_rows.insert(accuracy_rows.end(), row.begin(), row.end());
      accuracies.push_back(run.metrics.back().values.at("accuracy"));
    }
    const std::vector<std::string> columns = knows_jobs_ ? std::vector<std::string>{"cores", "batch", "jobs"}
                                                         : std::vector<std::string>{"cores", "batch"};
    seconds_ = stats::make_regression(regression_, columns);
    seconds_->fit(rows, seconds);
    accuracy_ = stats::make_regression(regression_, columns);
    accuracy_->fit(accuracy_rows, accuracies);
  }

  Choice choose(const SloJob& job, const std::vector<int>& batches) override {
    Choice within, quickest;
    double best = -1;
    for (const int batch : batches) {
      const auto row = row_of(job.cpus, batch, job.jobs);
      const double seconds = seconds_->predict(row), accuracy = accuracy_->predict(row);
      if (quickest.batch == 0 || seconds < quickest.seconds) quickest = {batch, seconds};
      if (seconds <= job.slo && accuracy > best) best = accuracy, within = {batch, seconds};
    }
    return within.batch != 0 ? within : quickest;
  }

 private:
  std::vector<double> row_of(double cpus, double batch, double jobs) const {
    return knows_jobs_ ? std::vector<double>{cpus, batch, jobs} : std::vector<double>{cpus, batch};
  }

  std::string name_, regression_;
  bool knows_jobs_;
  std::unique_ptr<stats::Regression> seconds_, accuracy_;
};

}  // namespace

std::unique_ptr<Chooser> make_advisor(double probability) {
  return std::make_unique<Advisor>(probability);
}

std::unique_ptr<Chooser> make_random(std::uint64_t seed) {
  return std::make_unique<AtRandom>(seed);
}

std::unique_ptr<Chooser> make_by_point(std::string name, std::string regression, bool knows_jobs) {
  return std::make_unique<ByPoint>(std::move(name), std::move(regression), knows_jobs);
}

}  // namespace tandem::bench
