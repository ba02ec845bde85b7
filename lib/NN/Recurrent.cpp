//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/NN/Recurrent.h"

#include "zyx/Tensor/Indexing.h"
#include "zyx/Tensor/Loop.h"

#include <cmath>

using namespace zyx;
using namespace zyx::nn;

Recurrent::Recurrent(int64_t pieces, int64_t in, int64_t hidden, InitRngRef rng, const Place &where) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  auto begin = [&](const char *name, Shape shape) {
    return add(name, rng->uniformLater(std::move(shape), -bound, bound, where), where);
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

/// Of [batch, pieces hidden].
static Tensor piece(const Tensor &all, int64_t i, int64_t hidden) {
  return all.slice({{}, {i * hidden, (i + 1) * hidden}});
}

Tensor Recurrent::run(const Tensor &x, size_t numStates, const Step &step, const Place &where) const {
  const Tensor given = inputs(x, where), weight = *hiddenWeight, bias = *hiddenBias;
  const ContextScope scope(x.context());
  const int64_t steps = x.shape()[0], batch = x.shape()[1], hidden = weight.shape()[1];
  // What is carried, and behind it the results of all steps.
  std::vector<Tensor> initial(numStates, Tensor::zeros({batch, hidden}, given.dtype()));
  initial.push_back(Tensor::zeros({steps, batch, hidden}, given.dtype()));
  return loop(
             steps, initial,
             [&](const Tensor &trip, std::span<const Tensor> now) {
               const Tensor fed = matmul(now[0], weight.transpose()) + bias;
               std::vector<Tensor> next = step(take(given, trip, 0, where), fed, now.first(numStates));
               next.push_back(scatter(now.back(), trip, next[0], 0, ScatterMode::Set, where));
               return next;
             },
             where)
      .back();
}

Tensor Rnn::operator()(const Tensor &x, Place where) const {
  return callFor("Rnn", where, [&] {
    return run(
        x, 1, [](const Tensor &i, const Tensor &f, std::span<const Tensor>) { return std::vector{(i + f).tanh()}; },
        where);
  });
}

Tensor Gru::operator()(const Tensor &x, Place where) const {
  return callFor("Gru", where, [&] {
    return run(
        x, 1,
        [](const Tensor &i, const Tensor &f, std::span<const Tensor> now) {
          const Tensor h = now[0];
          const int64_t hidden = h.shape()[1];
          const Tensor r = (piece(i, 0, hidden) + piece(f, 0, hidden)).sigmoid();
          const Tensor z = (piece(i, 1, hidden) + piece(f, 1, hidden)).sigmoid();
          const Tensor n = (piece(i, 2, hidden) + r * piece(f, 2, hidden)).tanh();
          return std::vector{(1 - z) * n + z * h};
        },
        where);
  });
}

Tensor Lstm::operator()(const Tensor &x, Place where) const {
  return callFor("Lstm", where, [&] {
    return run(
        x, 2,
        [](const Tensor &i, const Tensor &f, std::span<const Tensor> now) {
          const Tensor sums = i + f;
          auto gate = [&](int64_t number) { return piece(sums, number, now[0].shape()[1]); };
          const Tensor c = gate(1).sigmoid() * now[1] + gate(0).sigmoid() * gate(2).tanh();
          return std::vector{gate(3).sigmoid() * c.tanh(), c};
        },
        where);
  });
}
