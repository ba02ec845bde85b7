//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The program of docs/nn.md, which holds the lines between the rulers as they are.
//===----------------------------------------------------------------------===//
#include <zyx/zyx.h>

using namespace zyx;

struct Classifier : nn::Module {
  Classifier(int64_t pixels, int64_t classes, nn::InitRng rng)
      : in(add("in", nn::Linear(pixels, 32, rng))), out(add("out", nn::Linear(32, classes, rng))) {}
  Tensor operator()(const Tensor &x) const { return out(in(x).relu()); }
  nn::Linear in, out;
};

double train(Classifier &model, const Tensor &images, const Tensor &labels, int steps) {
  optim::Optimizer optimizer(model.parameters(), optim::adamW());
  Tensor loss;
  for (int step = 0; step < steps; ++step) {
    optimizer.setLearningRate(optim::cosineDecay(0.03, step, steps));
    loss = crossEntropy(model(images), labels);
    optimizer.minimize(loss);
  }
  return loss.item<float>();
}
//===----------------------------------------------------------------------===//

double trainExample(const Tensor &images, const Tensor &labels, int steps, float &accuracy, const Tensor &testImages,
                    const Tensor &testLabels) {
  Classifier model(images.size(1), 10, nn::InitRng(7));
  const double loss = train(model, images, labels, steps);
  accuracy = (model(testImages).argmax(1) == testLabels).cast(DType::F32).mean().item<float>();
  return loss;
}
