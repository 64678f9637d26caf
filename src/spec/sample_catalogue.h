// A small catalogue for the tests and the fuzz target of this folder.
#pragma once

#include "base/catalogue.h"

namespace tandem::spec {

inline Catalogue sample_catalogue() {
  using Kind = HyperRule::Kind;
  const HyperRule batch{"batch_size", "samples a step", Kind::whole, std::int64_t{32}, 1, 65536, {}};
  const HyperRule rate{"learning_rate", "step size", Kind::real, 0.01, 1e-6, 10, {}};
  const HyperRule dropout{"dropout", "share of units left out", Kind::real, std::int64_t{0}, 0, 0.9, {}};
  const HyperRule optimizer{"optimizer", "how steps are made", Kind::word, std::string("sgd"), 0,
                            0,           {"sgd", "adam"}};
  const HyperRule nesterov{"nesterov", "look ahead", Kind::flag, false, 0, 0, {}};
  const HyperRule epochs{"epochs", "passes", Kind::whole, std::int64_t{50}, 1, 500, {}};
  return {{{"lenet5", "a small convolutional network", "image", {batch, rate, dropout, optimizer, nesterov}},
           {"lstm", "a recurrent network", "text", {batch, rate}},
           {"jacobi", "a regression", "table", {batch, rate, epochs}}},
          {{"digits", "drawn digits", "image"},
           {"mnist", "written digits", "image"},
           {"debian", "package descriptions", "text"},
           {"kernels", "running times", "table"}},
          {{"random", "anywhere"}, {"hyperband", "many short trials, a few long ones"}},
          {{"lenet5", "a small convolutional network"},
           {"alexnet", "dense layers with most parameters"},
           {"vgg19", "deep and heavy"},
           {"inception3", "towers"},
           {"resnet50", "shortcuts"},
           {"resnet152", "many shortcuts"},
           {"mobilenet", "depthwise convolutions"}},
          {{"default", "one device"},
           {"parameter-server", "variables on servers"},
           {"replicated", "variables on every device"},
           {"all-reduce", "gradients go round a ring"},
           {"hierarchical", "rings in nodes, then between them"},
           {"pipeline", "layers in stages"},
           {"model", "layers on devices"},
           {"distributed-replicated", "variables on servers, one copy a node"}}};
}

}  // namespace tandem::spec
