// The builders behind the table of zoo.h, one function a family; only zoo.cpp calls them. Pure.
#pragma once

#include <vector>

#include "graph/layers.h"

namespace tandem::graph::models {

inline constexpr int kImageNetClasses = 1000;

// A convolution without bias and its batch normalisation, whose shift does the bias's work.
inline Layers& conv_norm(Layers& net, int maps, Convolution how) {
  how.bias = false;
  return net.conv(maps, how).batch_norm();
}

// zoo_plain.cpp: one layer after another
void lenet5(Layers&);
void alexnet(Layers&);
void vgg(Layers&, const std::vector<int>& convolutions);  // in each of the five blocks
void mobilenet(Layers&);

// zoo_inception.cpp: blocks of parallel branches
void inception1(Layers&);
void inception3(Layers&);

// zoo_residual.cpp: blocks that add to their input
void resnet_cifar(Layers&, int blocks);                // in each of the three stages; 6 x blocks + 2 layers
void resnet(Layers&, const std::vector<int>& blocks);  // in each of the four stages

// zoo_sequence.cpp: text
void lstm(Layers&);
void transformer(Layers&);

}  // namespace tandem::graph::models
