//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_NN_RECURRENT_H
#define ZYX_NN_RECURRENT_H

#include "zyx/NN/Layers.h"

#include <functional>

namespace zyx::nn {

/// Steps [steps, batch, in] to [steps, batch, hidden], from zeros. Formulas are in pieces of i = weight_ih x + bias_ih
/// and h' = weight_hh h + bias_hh, which have `hidden` elements each. Parameters begin uniform in
/// +-1 / sqrt(hidden). The program is a loop, of the same size for any number of steps; what x gives to them is one
/// product before it.
class Recurrent : public Module {
public:
  Parameter inputWeight, hiddenWeight, inputBias, hiddenBias;

protected:
  Recurrent(int64_t pieces, int64_t in, int64_t hidden, InitRngRef rng, const Place &where);
  /// i for all steps.
  Tensor inputs(const Tensor &x, const Place &where) const;
  /// What a step makes, from its i and h', of what is carried: values of [batch, hidden], of which the first is h.
  using Step = std::function<std::vector<Tensor>(const Tensor &i, const Tensor &f, std::span<const Tensor> now)>;
  /// h of all steps, where so many values are carried.
  Tensor run(const Tensor &x, size_t numStates, const Step &step, const Place &where) const;
};

/// h = tanh(i + h').
class Rnn : public Recurrent {
public:
  Rnn(int64_t in, int64_t hidden, InitRngRef rng, Place where = Place::current())
      : Recurrent(1, in, hidden, rng, where) {}
  Tensor operator()(const Tensor &x, Place where = Place::current()) const;
};

/// r = sigmoid(i0 + h'0), z = sigmoid(i1 + h'1), n = tanh(i2 + r h'2); h = (1 - z) n + z h.
class Gru : public Recurrent {
public:
  Gru(int64_t in, int64_t hidden, InitRngRef rng, Place where = Place::current())
      : Recurrent(3, in, hidden, rng, where) {}
  Tensor operator()(const Tensor &x, Place where = Place::current()) const;
};

/// Gates sigmoid(i0 + h'0), sigmoid(i1 + h'1), tanh(i2 + h'2), sigmoid(i3 + h'3) are in, forget, cell, out;
/// c = forget c + in cell, h = out tanh(c).
class Lstm : public Recurrent {
public:
  Lstm(int64_t in, int64_t hidden, InitRngRef rng, Place where = Place::current())
      : Recurrent(4, in, hidden, rng, where) {}
  Tensor operator()(const Tensor &x, Place where = Place::current()) const;
};

} // namespace zyx::nn

#endif // ZYX_NN_RECURRENT_H
