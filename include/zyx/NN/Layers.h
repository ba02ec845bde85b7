//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_NN_LAYERS_H
#define ZYX_NN_LAYERS_H

#include "zyx/NN/Module.h"
#include "zyx/Tensor/Random.h"

namespace zyx::nn {

/// A random number generator of the host for the initial values of parameters. The i-th number of a seed is a fixed
/// function of both (SplitMix64), so that a model that is made twice has the same initial values. Layers draw theirs
/// when a parameter is first read: a parameter that is loaded before draws none. zyx::Generator seeds random ops of a
/// device.
class InitRng {
public:
  explicit InitRng(uint64_t seed) : counter(seed) {}
  /// Multiples of 2^-24 of the range, from low up to but without high; f32.
  Tensor uniform(Shape shape, double low, double high, Place where = Place::current());
  Tensor normal(Shape shape, double mean = 0, double deviation = 1, Place where = Place::current());
  /// The same numbers as first values of a parameter, drawn when that is first read.
  Initial uniformLater(Shape shape, double low, double high, Place where = Place::current());
  Initial normalLater(Shape shape, double mean = 0, double deviation = 1, Place where = Place::current());

private:
  /// In [0, 1).
  double next();
  /// What a function makes of the numbers from here on; the next one begins `perElement` numbers for each element
  /// later.
  template <typename F> Initial later(Shape shape, uint64_t perElement, F &&number, const Place &where);
  uint64_t counter;
};

/// A reference to an InitRng that goes on, or to a temporary one: Linear(2, 3, nn::InitRng(1)).
class InitRngRef {
public:
  InitRngRef(InitRng &rng) : rng(&rng) {}
  InitRngRef(InitRng &&rng) : rng(&rng) {}
  InitRng *operator->() const { return rng; }

private:
  InitRng *rng;
};

/// x weight^T + bias: [..., in] to [..., out]. weight [out, in] and bias [out] begin uniform in
/// +-1 / sqrt(in), which is Kaiming's bound for a = sqrt(5); 0 where there is nothing in.
class Linear : public Module {
public:
  Linear(int64_t in, int64_t out, InitRngRef rng, bool hasBias = true, Place where = Place::current());
  Tensor operator()(const Tensor &x, Place where = Place::current()) const;
  Parameter weight, bias;
};

/// The row of each position: integers of any shape to [..., width]; zeros where there is no such row. weight
/// [rows, width] begins normal.
class Embedding : public Module {
public:
  Embedding(int64_t rows, int64_t width, InitRngRef rng, Place where = Place::current());
  Tensor operator()(const Tensor &positions, Place where = Place::current()) const;
  Parameter weight;
};

/// In training, dropout() with a new seed at each call, also of a Jit or a TrainStep; else nothing.
/// Copies draw from one Generator, named "seeds".
class Dropout : public Module {
public:
  Dropout(double probability, uint64_t seed, Place where = Place::current());
  Tensor operator()(const Tensor &x, Place where = Place::current()) const;

private:
  double probability;
  std::shared_ptr<Generator> seeds;
};

/// Linear to `hidden`, GELU, Linear back. Children in, out.
class Mlp : public Module {
public:
  Mlp(int64_t width, int64_t hidden, InitRngRef rng, Place where = Place::current());
  Tensor operator()(const Tensor &x, Place where = Place::current()) const;
  Linear in, out;
};

} // namespace zyx::nn

#endif // ZYX_NN_LAYERS_H
