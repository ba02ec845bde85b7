//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A program that knows zyx by find_package alone: learns y = 2 x0 - x1 + 1 on machine code and keeps it in a file.
//===----------------------------------------------------------------------===//

#include <zyx/zyx.h>

#include <cstdio>

using namespace zyx;

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "tensors FILE\n");
    return 2;
  }
  nn::InitRng rng(1);
  nn::Linear model(2, 1, rng);
  const Tensor x = Tensor::from(std::vector<float>{0, 0, 0, 1, 1, 0, 1, 1}, {4, 2});
  const Tensor y = Tensor::from(std::vector<float>{1, 0, 3, 2}, {4, 1});
  optim::Optimizer optimizer(model.parameters(), optim::sgd({.learningRate = 0.5, .momentum = 0.5}));
  for (int step = 0; step < 100; ++step)
    optimizer.minimize(((model(x) - y) * (model(x) - y)).mean());
  model.save(argv[1]);

  nn::Linear loaded(2, 1, rng);
  loaded.load(argv[1]);
  const std::vector<float> values = loaded(x).toVector<float>();
  std::printf("%.2f %.2f %.2f %.2f\n", values[0], values[1], values[2], values[3]);
  return 0;
}
