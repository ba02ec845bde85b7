//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/NN/Recurrent.h"

#include <cmath>

using namespace zyx;
using namespace zyx::nn;

Recurrent::Recurrent(int64_t pieces, int64_t in, int64_t hidden, DrawsRef draws, const Place &where) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  auto begin = [&](const char *name, Shape shape) {
    return add(name, draws->uniformLater(std::move(shape), -bound, bound, where), where);
  };
  inputWeight = begin("weight_ih", {pieces * hidden, in});
  hiddenWeight = begin("weight_hh", {pieces * hidden, hidden});
  inputBias = begin("bias_ih", {pieces * hidden});
  hiddenBias = begin("bias_hh", {pieces * hidden});
}

Tensor Recurrent::inputs(const Tensor &x, const Place &where) const {
  if (x.rank() != 3 || x.shape()[2] != inputWeight->shape()[1] || x.shape()[0] == 0)
    throw Error(Status::invalidArgument("a tensor of shape " + toString(x.shape()) + " is not [steps, batch, " +
                                        std::to_string(inputWeight->shape()[1]) + "], of at least one step"),
                where);
  return matmul(x, inputWeight->transpose()) + *inputBias;
}
Tensor Recurrent::fed(const Tensor &h) const { return matmul(h, hiddenWeight->transpose()) + *hiddenBias; }
Tensor Recurrent::zeros(const Tensor &x) const {
  const ContextScope scope(x.context());
  return Tensor::zeros({x.shape()[1], hiddenWeight->shape()[1]}, x.dtype());
}

/// Of [batch, pieces hidden].
static Tensor piece(const Tensor &all, int64_t i, int64_t hidden) {
  return all.slice({{}, {i * hidden, (i + 1) * hidden}});
}

Tensor Rnn::operator()(const Tensor &x, Place where) const {
  const Tensor given = inputs(x, where);
  Tensor h = zeros(x);
  std::vector<Tensor> steps;
  for (int64_t step = 0; step < x.shape()[0]; ++step) {
    h = (given.select(0, step) + fed(h)).tanh();
    steps.push_back(h.unsqueeze(0));
  }
  return concat(steps, 0, where);
}

Tensor Gru::operator()(const Tensor &x, Place where) const {
  return callFor("Gru", where, [&] { return run(x, where); });
}
Tensor Lstm::operator()(const Tensor &x, Place where) const {
  return callFor("Lstm", where, [&] { return run(x, where); });
}

Tensor Gru::run(const Tensor &x, const Place &where) const {
  const Tensor given = inputs(x, where);
  Tensor h = zeros(x);
  const int64_t hidden = h.shape()[1];
  std::vector<Tensor> steps;
  for (int64_t step = 0; step < x.shape()[0]; ++step) {
    const Tensor i = given.select(0, step), f = fed(h);
    const Tensor r = (piece(i, 0, hidden) + piece(f, 0, hidden)).sigmoid();
    const Tensor z = (piece(i, 1, hidden) + piece(f, 1, hidden)).sigmoid();
    const Tensor n = (piece(i, 2, hidden) + r * piece(f, 2, hidden)).tanh();
    h = (1 - z) * n + z * h;
    steps.push_back(h.unsqueeze(0));
  }
  return concat(steps, 0, where);
}

Tensor Lstm::run(const Tensor &x, const Place &where) const {
  const Tensor given = inputs(x, where);
  Tensor h = zeros(x), c = h;
  const int64_t hidden = h.shape()[1];
  std::vector<Tensor> steps;
  for (int64_t step = 0; step < x.shape()[0]; ++step) {
    const Tensor sums = given.select(0, step) + fed(h);
    auto gate = [&](int64_t i) { return piece(sums, i, hidden); };
    c = gate(1).sigmoid() * c + gate(0).sigmoid() * gate(2).tanh();
    h = gate(3).sigmoid() * c.tanh();
    steps.push_back(h.unsqueeze(0));
  }
  return concat(steps, 0, where);
}
