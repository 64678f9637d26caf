#include <fmt/format.h>

#include <numeric>

#include "base/error.h"
#include "trainer/hyper.h"
#include "trainer/net.h"
#include "trainer/relu_pool.h"

namespace tandem::trainer {
namespace {

using torch::Tensor;

std::int64_t outputs(const data::Dataset& dataset) {
  return std::max<std::int64_t>(1, dataset.classes);
}

struct Dense {
  Tensor weight, bias;
  Tensor operator()(const Tensor& x) const { return torch::linear(x, weight, bias); }
};

std::string dense_line(const std::string& name, bool relu) {
  const std::string linear = fmt::format("torch.linear(x, self.{0}_weight, self.{0}_bias)", name);
  return relu ? "  x = torch.relu(" + linear + ")\n" : "  x = " + linear + "\n";
}

class LayeredNet : public Net {
 protected:
  Dense dense(const std::string& name, std::int64_t from, std::int64_t to) {
    Tensor weight = parameter(name + "_weight", {to, from}, from);
    return {weight, parameter(name + "_bias", {to}, from)};
  }
};

class LeNet5 : public LayeredNet {
 public:
  LeNet5(const Setup& setup, const data::Dataset& dataset) : dropout_(real(setup.hyper, "dropout")) {
    const auto side = [](std::int64_t pixels) { return (pixels / 2 - 4) / 2; };
    const std::int64_t channels = dataset.shape[0], height = side(dataset.shape[1]),
                       width = side(dataset.shape[2]);
    if (height < 1 || width < 1)
      throw UserError(fmt::format("lenet5 needs images of at least 12x12 pixels, those of {} have {}x{}",
                                  dataset.name, dataset.shape[1], dataset.shape[2]));
    conv1_ = {parameter("conv1_weight", {6, channels, 5, 5}, channels * 25),
              parameter("conv1_bias", {6}, channels * 25)};
    conv2_ = {parameter("conv2_weight", {16, 6, 5, 5}, 150), parameter("conv2_bias", {16}, 150)};
    fc1_ = dense("fc1", 16 * height * width, 120);
    fc2_ = dense("fc2", 120, 84);
    out_ = dense("out", 84, outputs(dataset));
    pack();
  }

  Tensor forward(const Tensor& images) const override {
    Tensor x = relu_pool(torch::conv2d(images, conv1_.weight, conv1_.bias, 1, 2));
    x = relu_pool(torch::conv2d(x, conv2_.weight, conv2_.bias));
    x = torch::dropout(torch::relu(fc1_(x.flatten(1))), dropout_, training);
    x = torch::dropout(torch::relu(fc2_(x)), dropout_, training);
    return out_(x);
  }

  std::string body() const override {
    return "  x = torch.max_pool2d(torch.relu(torch.conv2d(x, self.conv1_weight, self.conv1_bias, [1, 1], "
           "[2, 2])), "
           "[2, 2])\n"
           "  x = torch.max_pool2d(torch.relu(torch.conv2d(x, self.conv2_weight, self.conv2_bias)), [2, 2])\n"
           "  x = torch.flatten(x, 1)\n" +
           dense_line("fc1", true) + dense_line("fc2", true) + dense_line("out", false);
  }

 private:
  double dropout_;
  Dense conv1_, conv2_, fc1_, fc2_, out_;
};

// Dense layers with ReLU between them: mlp and the small regression networks.
class DenseNet : public LayeredNet {
 public:
  DenseNet(const data::Dataset& dataset, const std::vector<std::int64_t>& hidden, double dropout)
      : dropout_(dropout), scalar_(dataset.classes == 0) {
    std::int64_t from =
        std::accumulate(dataset.shape.begin(), dataset.shape.end(), std::int64_t{1}, std::multiplies<>());
    for (std::size_t i = 0; i < hidden.size(); ++i) {
      layers_.push_back(dense(fmt::format("fc{}", i + 1), from, hidden[i]));
      from = hidden[i];
    }
    out_ = dense("out", from, outputs(dataset));
    pack();
  }

  Tensor forward(const Tensor& samples) const override {
    Tensor x = samples.flatten(1);
    for (const Dense& layer : layers_) x = torch::dropout(torch::relu(layer(x)), dropout_, training);
    x = out_(x);
    return scalar_ ? x.squeeze(1) : x;
  }

  std::string body() const override {
    std::string lines = "  x = torch.flatten(x, 1)\n";
    for (std::size_t i = 0; i < layers_.size(); ++i) lines += dense_line(fmt::format("fc{}", i + 1), true);
    return lines + dense_line("out", false) + (scalar_ ? "  x = torch.squeeze(x, 1)\n" : "");
  }

 private:
  double dropout_;
  bool scalar_;
  std::vector<Dense> layers_;
  Dense out_;
};

class TextNet : public LayeredNet {
 protected:
  TextNet(const Setup& setup, const data::Dataset& dataset)
      : dropout_(real(setup.hyper, "dropout")),
        width_(whole(setup.hyper, "embedding_size")),
        hidden_(whole(setup.hyper, "hidden_size")),
        embedding_(
            parameter("embedding", {static_cast<std::int64_t>(dataset.words.size()), width_}, width_)) {}

  double dropout_;
  std::int64_t width_, hidden_;
  Tensor embedding_;
};

class TextCnn : public TextNet {
 public:
  TextCnn(const Setup& setup, const data::Dataset& dataset) : TextNet(setup, dataset) {
    if (dataset.shape[0] < kWidths[2])
      throw UserError(fmt::format("textcnn needs texts of at least {} words, those of {} have {}", kWidths[2],
                                  dataset.name, dataset.shape[0]));
    for (const std::int64_t width : kWidths) {
      const std::string name = fmt::format("conv{}", width);
      Tensor weight = parameter(name + "_weight", {hidden_, width_, width}, width_ * width);
      convolutions_.push_back({weight, parameter(name + "_bias", {hidden_}, width_ * width)});
    }
    out_ = dense("out", 3 * hidden_, outputs(dataset));
    pack();
  }

  Tensor forward(const Tensor& tokens) const override {
    const Tensor x = torch::embedding(embedding_, tokens).transpose(1, 2).contiguous();
    std::vector<Tensor> found;
    for (const Dense& convolution : convolutions_)
      found.push_back(
          torch::relu(std::get<0>(torch::conv1d(x, convolution.weight, convolution.bias).max(2))));
    return out_(torch::dropout(torch::cat(found, 1), dropout_, training));
  }

  std::string body() const override {
    std::string lines = "  e = torch.transpose(torch.embedding(self.embedding, x), 1, 2)\n";
    for (const std::int64_t width : kWidths)
      lines += fmt::format(
          "  c{0} = torch.relu(torch.amax(torch.conv1d(e, self.conv{0}_weight, self.conv{0}_bias), [2]))\n",
          width);
    return lines + "  x = torch.cat([c3, c4, c5], 1)\n" + dense_line("out", false);
  }

 private:
  static constexpr std::int64_t kWidths[] = {3, 4, 5};
  std::vector<Dense> convolutions_;
  Dense out_;
};

// LSTM or GRU; the mean of the states over the words that are not padding decides.
class RecurrentNet : public TextNet {
 public:
  RecurrentNet(const Setup& setup, const data::Dataset& dataset, bool lstm)
      : TextNet(setup, dataset), lstm_(lstm) {
    const std::int64_t gates = (lstm ? 4 : 3) * hidden_;
    recurrent_ = {parameter("input_weight", {gates, width_}, hidden_),
                  parameter("state_weight", {gates, hidden_}, hidden_),
                  parameter("input_bias", {gates}, hidden_), parameter("state_bias", {gates}, hidden_)};
    out_ = dense("out", hidden_, outputs(dataset));
    pack();
  }

  Tensor forward(const Tensor& tokens) const override {
    const Tensor words = torch::dropout(torch::embedding(embedding_, tokens), dropout_, training);
    const Tensor begin = torch::zeros({1, tokens.size(0), hidden_});
    const Tensor states =
        lstm_
            ? std::get<0>(torch::lstm(words, {begin, begin}, recurrent_, true, 1, 0.0, training, false, true))
            : std::get<0>(torch::gru(words, begin, recurrent_, true, 1, 0.0, training, false, true));
    const Tensor present = tokens.clamp(0, 1).unsqueeze(2);
    const Tensor mean = (states * present).sum(1) / present.sum(1).clamp_min(1);
    return out_(torch::dropout(mean, dropout_, training));
  }

  std::string body() const override {
    const std::string arguments =
        "[self.input_weight, self.state_weight, self.input_bias, self.state_bias], "
        "True, 1, 0.0, False, False, True)\n";
    return fmt::format("  e = torch.embedding(self.embedding, x)\n  b = torch.zeros([1, x.size(0), {}])\n",
                       hidden_) +
           (lstm_ ? "  s, h, c = torch.lstm(e, [b, b], " : "  s, h = torch.gru(e, b, ") + arguments +
           "  m = torch.unsqueeze(torch.clamp(x, 0, 1), 2)\n"
           "  x = torch.sum(s * m, [1]) / torch.clamp_min(torch.sum(m, [1]), 1)\n" +
           dense_line("out", false);
  }

 private:
  bool lstm_;
  std::vector<Tensor> recurrent_;
  Dense out_;
};

}  // namespace

std::unique_ptr<Net> make_net(const Setup& setup, const data::Dataset& dataset) {
  if (setup.model == "lenet5") return std::make_unique<LeNet5>(setup, dataset);
  if (setup.model == "textcnn") return std::make_unique<TextCnn>(setup, dataset);
  if (setup.model == "lstm" || setup.model == "gru")
    return std::make_unique<RecurrentNet>(setup, dataset, setup.model == "lstm");
  const double dropout = real(setup.hyper, "dropout");
  const std::int64_t hidden = whole(setup.hyper, "hidden_size");
  std::vector<std::int64_t> layers;
  if (setup.model == "mlp") layers = {hidden, hidden};
  if (setup.model == "jacobinet") layers = {hidden};
  if (setup.model == "kmeansnet") layers = {hidden, std::max<std::int64_t>(1, hidden / 2)};
  if (setup.model == "bfsnet") layers = {hidden, hidden, hidden};
  assert(!layers.empty());
  return std::make_unique<DenseNet>(dataset, layers, dropout);
}

}  // namespace tandem::trainer
