#include "graph/zoo.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "graph/layers.h"
#include "graph/zoo_models.h"

namespace tandem::graph {
namespace {

constexpr const char* kTorchvision = "torchvision's documentation of its weights (num_params, GFLOPS)";

std::vector<ZooEntry> table() {
  return {
      {"lenet5",
       "LeNet-5: digits, 28x28 grey, 10 classes; average pooling",
       {61'706, 0, std::nullopt, "LeCun et al. 1998 with all maps connected, as in Dive into Deep Learning"},
       models::lenet5},
      {"alexnet",
       "AlexNet, one column: ImageNet, 224x224, 1000 classes",
       {61'100'840, 0, 0.71e9, kTorchvision},
       models::alexnet},
      {"vgg16",
       "VGG-16: ImageNet, 224x224, 1000 classes; 13 convolutions, 3 dense layers",
       {138'357'544, 0, 15.47e9, kTorchvision},
       [](Layers& net) {
         models::vgg(net, {2, 2, 3, 3, 3});
       }},
      {"vgg19",
       "VGG-19: ImageNet, 224x224, 1000 classes; 16 convolutions, 3 dense layers",
       {143'667'240, 0, 19.63e9, kTorchvision},
       [](Layers& net) {
         models::vgg(net, {2, 2, 4, 4, 4});
       }},
      {"inception1",
       "GoogLeNet (Inception v1) with batch normalisation: ImageNet, 224x224, 1000 classes",
       {6'624'904, 0, 1.50e9, kTorchvision},
       models::inception1},
      {"inception3",
       "Inception v3: ImageNet, 299x299, 1000 classes",
       {23'834'568, 0, 5.71e9, "torchvision's inception_v3 with aux_logits=False"},
       models::inception3},
      {"mobilenet",
       "MobileNet v1 of full width: ImageNet, 224x224, 1000 classes; depthwise convolutions",
       {4'231'976, 0, 569e6, "Keras's MobileNet (trainable); multiply-adds: Howard et al. 2017, table 4"},
       models::mobilenet},
      {"resnet32",
       "ResNet-32: CIFAR-10, 32x32, 10 classes; identity shortcuts",
       {0.46e6, 0.005e6, std::nullopt, "He et al. 2015, table 6"},
       [](Layers& net) { models::resnet_cifar(net, 5); }},
      {"resnet56",
       "ResNet-56: CIFAR-10, 32x32, 10 classes; identity shortcuts",
       {0.85e6, 0.005e6, 125.49e6, "He et al. 2015, table 6; multiply-adds: Lin et al. 2020 (HRank)"},
       [](Layers& net) { models::resnet_cifar(net, 9); }},
      {"resnet50",
       "ResNet-50: ImageNet, 224x224, 1000 classes; bottleneck blocks, stride in the 3x3",
       {25'557'032, 0, 4.09e9, kTorchvision},
       [](Layers& net) {
         models::resnet(net, {3, 4, 6, 3});
       }},
      {"resnet101",
       "ResNet-101: ImageNet, 224x224, 1000 classes; bottleneck blocks, stride in the 3x3",
       {44'549'160, 0, 7.80e9, kTorchvision},
       [](Layers& net) {
         models::resnet(net, {3, 4, 23, 3});
       }},
      {"resnet152",
       "ResNet-152: ImageNet, 224x224, 1000 classes; bottleneck blocks, stride in the 3x3",
       {60'192'808, 0, 11.51e9, kTorchvision},
       [](Layers& net) {
         models::resnet(net, {3, 8, 36, 3});
       }},
      {"lstm",
       "word model, two LSTM layers of 650: vocabulary 10000, 35 steps (Zaremba et al. 2014, medium)",
       {20e6, 0.5e6, std::nullopt, "Merity et al. 2016, table of Penn Treebank results"},
       models::lstm},
      {"transformer",
       "BERT-base with a head for answers: 12 layers of 768, vocabulary 30522, 384 steps",
       {108'893'186, 0, std::nullopt, "Hugging Face's BertForQuestionAnswering, bert-base-uncased"},
       models::transformer},
  };
}

bool counts(Kind kind) {
  return kind == Kind::convolution || kind == Kind::dense || kind == Kind::recurrent ||
         kind == Kind::attention;
}

}  // namespace

const std::vector<ZooEntry>& zoo() {
  static const std::vector<ZooEntry> all = table();
  return all;
}

Model make(const std::string& name) {
  std::vector<std::string> known;
  for (const ZooEntry& entry : zoo()) {
    known.push_back(entry.name);
    if (entry.name != name) continue;
    Layers net(name);
    entry.build(net);
    return net.finish();
  }
  throw UserError(fmt::format("there is no model '{}'{}; the models are {}", printable(name, 80),
                              did_you_mean(name, known), join(known)));
}

double multiply_adds(const Model& model) {
  double flops = 0;
  for (const Operation& operation : model.operations)
    if (counts(operation.kind)) flops += operation.forward_flops;
  return flops / 2;
}

}  // namespace tandem::graph
