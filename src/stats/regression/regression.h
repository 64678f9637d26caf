// Regressions behind one interface: rows of numbers in, one number out.
//
//     auto model = make_regression("forest:trees=200", {"batch", "cores", "jobs"});
//     model->fit(rows, seconds);
//     const double soon = model->predict(row);
//     const auto same = read_regression(model->written());
//
// Columns have names: "batch", "cores" (of one replica), "jobs" (concurrent ones, this one included),
// "replicas", "nodes", "records", "epochs", "speed" and whatever else there is. A model of the domain knows
// what some of them mean; the others take them as numbers. Each kind of model has a file of its own, and one
// line in the table of regression.cpp.
//
// What `written` says is all a model has learnt: one that was read predicts the same, digit for digit.
// Deterministic; pure; a model has one owner.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace tandem::stats {

// What is predicted, and whether what was measured kept a model from saying more, or less.
struct Bounded {
  double value = 0;
  bool raised = false, lowered = false;
  bool held() const { return raised || lowered; }
};

class Regression {
 public:
  virtual ~Regression() = default;

  // Row after row; learns anew. UserError where rows, targets and columns do not fit, or are not finite, or
  // cannot be learnt from (it says why).
  virtual void fit(std::span<const double> rows, std::span<const double> targets) = 0;

  virtual double predict(std::span<const double> row) const = 0;  // after `fit` or `read`
  // The same, and whether it was held to what was measured; models without bounds never say so.
  virtual Bounded bounded(std::span<const double> row) const;
  // Many rows at once, for models that are quicker so.
  virtual std::vector<double> predict_rows(std::span<const double> rows, std::size_t columns) const;

  // An object with "regression" (its name), "columns" and what was learnt; `read` takes such a one back.
  virtual nlohmann::json written() const = 0;
  virtual void read(const nlohmann::json&) = 0;

  // An option of this kind of model, before `fit`. UserError: no such option, or a value that cannot be.
  virtual void set(const std::string& option, double value);
};

struct RegressionOption {
  std::string name, meaning;
};

struct RegressionEntry {
  std::string name, description;
  std::unique_ptr<Regression> (*make)(const std::vector<std::string>& columns);
  std::vector<RegressionOption> options{};
};
const std::vector<RegressionEntry>& regressions();

// "forest", or with options "forest:trees=200:depth=6". UserError: no such model or option.
std::unique_ptr<Regression> make_regression(const std::string& name, const std::vector<std::string>& columns);
// From `written`. UserError where it is not that.
std::unique_ptr<Regression> read_regression(const nlohmann::json& written);

// For those who write models.
// UserError unless there is at least one row, rows are as wide as there are columns, and all is finite.
void check_training(std::span<const double> rows, std::span<const double> targets,
                    const std::vector<std::string>& columns);
// The number of an option that must be whole and between `low` and `high`, both included; UserError if not.
int whole_option(const std::string& option, double value, int low, int high);
[[noreturn]] void refuse_option(const std::string& option, const std::vector<RegressionOption>& known);

}  // namespace tandem::stats
