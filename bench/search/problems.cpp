#include "bench/search/problems.h"

#include <fmt/format.h>

#include <cmath>

namespace tandem::bench {
namespace {

using Vector = std::vector<double>;

double square(double x) {
  return x * x;
}

// Ranges are not centred on the optimum: a sampler whose prior sits in the middle gets no present.
double sphere(const Vector& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return sum;
}

double rosenbrock(const Vector& x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i)
    sum += 100 * square(x[i + 1] - x[i] * x[i]) + square(1 - x[i]);
  return sum;
}

double branin(const Vector& x) {
  const double b = 5.1 / (4 * M_PI * M_PI), c = 5 / M_PI;
  return square(x[1] - b * x[0] * x[0] + c * x[0] - 6) + 10 * (1 - 1 / (8 * M_PI)) * std::cos(x[0]) + 10;
}

double hartmann6(const Vector& x) {
  static const double alpha[4] = {1.0, 1.2, 3.0, 3.2};
  static const double a[4][6] = {{10, 3, 17, 3.5, 1.7, 8},
                                 {0.05, 10, 17, 0.1, 8, 14},
                                 {3, 3.5, 1.7, 10, 17, 8},
                                 {17, 8, 0.05, 10, 0.1, 14}};
  static const double p[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                                 {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                                 {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                                 {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    double inner = 0;
    for (std::size_t j = 0; j < 6; ++j) inner += a[i][j] * square(x[j] - p[i][j]);
    sum -= alpha[i] * std::exp(-inner);
  }
  return sum;
}

double ackley(const Vector& x) {
  const double n = static_cast<double>(x.size());
  double squares = 0, waves = 0;
  for (const double v : x) {
    squares += v * v;
    waves += std::cos(2 * M_PI * v);
  }
  return -20 * std::exp(-0.2 * std::sqrt(squares / n)) - std::exp(waves / n) + 20 + M_E;
}

double styblinski_tang(const Vector& x) {
  double sum = 0;
  for (const double v : x) sum += (square(square(v)) - 16 * v * v + 5 * v) / 2;
  return sum;
}

double levy(const Vector& x) {
  const auto w = [&](std::size_t i) { return 1 + (x[i] - 1) / 4; };
  const std::size_t last = x.size() - 1;
  double sum = square(std::sin(M_PI * w(0)));
  for (std::size_t i = 0; i < last; ++i)
    sum += square(w(i) - 1) * (1 + 10 * square(std::sin(M_PI * w(i) + 1)));
  return sum + square(w(last) - 1) * (1 + square(std::sin(2 * M_PI * w(last))));
}

Problem function(const std::string& name, int dimensions, double low, double high,
                 double (*f)(const Vector&)) {
  Problem out{name, 100, {}, nullptr};
  for (int i = 0; i < dimensions; ++i)
    out.space.parameters.push_back({fmt::format("x{:02}", i), real(low, high), std::nullopt});
  out.loss = [f](const Values& point) {
    Vector x;
    for (const auto& [parameter, value] : point) x.push_back(*as_number(value));
    return f(x);
  };
  return out;
}

Problem branin_problem() {
  Problem out = function("branin", 2, -5, 10, branin);
  out.space.parameters[1].domain = real(0, 15);
  return out;
}

double number(const Values& point, const std::string& name) {
  return *as_number(point.at(name));
}
std::string word(const Values& point, const std::string& name) {
  return std::get<std::string>(point.at(name));
}

// Like a small network's error: a valley in rate and batch size together, a few whole numbers and words.
Problem mixed_problem() {
  Problem out{"mixed", 100, {}, nullptr};
  out.space.parameters = {{"rate", log_real(1e-5, 1), {}},
                          {"batch", log_whole(8, 1024), {}},
                          {"layers", whole(1, 8), {}},
                          {"activation", words({"relu", "tanh", "gelu", "sigmoid"}), {}},
                          {"schedule", words({"none", "step", "cosine"}), {}},
                          {"dropout", real(0, 0.8), {}}};
  out.loss = [](const Values& p) {
    const double rate = std::log10(number(p, "rate")), batch = std::log2(number(p, "batch"));
    const std::string activation = word(p, "activation"), schedule = word(p, "schedule");
    double loss = 0.5 * square(rate + 4.5 - 0.3 * batch) + 0.02 * square(batch - 6);
    loss += 0.05 * square(number(p, "layers") - 5) + 0.8 * square(number(p, "dropout") - 0.25);
    loss += activation == "relu" ? 0.1 : activation == "gelu" ? 0 : activation == "tanh" ? 0.3 : 0.9;
    return loss + (schedule == "cosine" ? 0 : schedule == "step" ? 0.08 : 0.25);
  };
  return out;
}

// The optimizer decides which other parameters there are.
Problem conditional_problem() {
  Problem out{"conditional", 100, {}, nullptr};
  const auto when = [](const std::string& optimizer) { return spec::Condition{"optimizer", {optimizer}}; };
  out.space.parameters = {{"optimizer", words({"sgd", "adam", "rmsprop"}), {}},
                          {"momentum", real(0, 0.99), when("sgd")},
                          {"sgd_rate", log_real(1e-4, 10), when("sgd")},
                          {"adam_rate", log_real(1e-6, 1), when("adam")},
                          {"beta", real(0.5, 0.999), when("adam")},
                          {"rms_rate", log_real(1e-6, 1), when("rmsprop")},
                          {"width", log_whole(4, 512), {}},
                          {"decay", log_real(1e-8, 1e-1), {}}};
  out.loss = [](const Values& p) {
    double loss =
        0.1 * square(std::log2(number(p, "width")) - 7) + 0.04 * square(std::log10(number(p, "decay")) + 4);
    const std::string optimizer = word(p, "optimizer");
    if (optimizer == "sgd") {
      const double effective = number(p, "sgd_rate") / (1 - number(p, "momentum"));
      return loss + 0.4 * square(std::log10(effective)) + square(number(p, "momentum") - 0.8);
    }
    if (optimizer == "adam")
      return loss + 0.15 + 0.5 * square(std::log10(number(p, "adam_rate")) + 3) +
             square(number(p, "beta") - 0.9);
    return loss + 0.3 + 0.5 * square(std::log10(number(p, "rms_rate")) + 3.5);
  };
  return out;
}

}  // namespace

spec::Domain real(double low, double high) {
  return {spec::Domain::Kind::real, {}, low, high};
}
spec::Domain log_real(double low, double high) {
  return {spec::Domain::Kind::log_real, {}, low, high};
}
spec::Domain whole(double low, double high) {
  return {spec::Domain::Kind::whole, {}, low, high};
}
spec::Domain log_whole(double low, double high) {
  return {spec::Domain::Kind::log_whole, {}, low, high};
}
spec::Domain words(const std::vector<std::string>& list) {
  spec::Domain out{spec::Domain::Kind::choice, {}, 0, 1};
  for (const auto& each : list) out.choices.emplace_back(each);
  return out;
}

std::vector<Problem> problems(const std::string& data, std::vector<std::string>& skipped) {
  std::vector<Problem> out{function("sphere", 5, -4, 8, sphere),
                           function("rosenbrock", 4, -5, 10, rosenbrock),
                           branin_problem(),
                           function("hartmann6", 6, 0, 1, hartmann6),
                           function("ackley", 5, -15, 30, ackley),
                           function("styblinski-tang", 5, -5, 5, styblinski_tang),
                           function("levy", 5, -10, 10, levy),
                           mixed_problem(),
                           conditional_problem()};
  for (auto& table : tables(data, skipped)) out.push_back(std::move(table));
  return out;
}

}  // namespace tandem::bench
